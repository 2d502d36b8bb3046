package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// customPath is where functions that look after a Custom:: resource say how it went.
const customPath = "/custom-resources/"

// startCustoms has the template's Custom:: resources made, as a deployment does at its end. They are not waited for. Where recurring
// schedules do not fire nothing is to be made: all such resources of a template are schedules so far.
func (c *Cloud) startCustoms() error {
	if !c.options.FireSchedules {
		return nil
	}
	for _, r := range c.stack.Customs {
		event, err := json.Marshal(map[string]any{
			"RequestType": "Create", "RequestId": uuid.NewString(), "ResponseURL": c.info.AWS + customPath + r.LogicalID,
			"ResourceType": r.Kind, "LogicalResourceId": r.LogicalID, "ResourceProperties": map[string]string{},
			"StackId": fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/steadfast/local", c.stack.Region, c.stack.Account),
		})
		if err != nil {
			return fmt.Errorf("resource %s: %w", r.LogicalID, err)
		}
		if err := c.functions.Enqueue(context.Background(), r.Function, "resource "+r.LogicalID, event); err != nil {
			return fmt.Errorf("resource %s: %w", r.LogicalID, err)
		}
	}
	return nil
}

// customAnswered takes what a function tells CloudFormation.
func (c *Cloud) customAnswered(w http.ResponseWriter, r *http.Request) {
	var answer struct{ Status, Reason string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&answer); err != nil || r.Method != http.MethodPut {
		refuse(w, http.StatusBadRequest, "a PUT with a Status is due")
		return
	}
	if answer.Status != "SUCCESS" {
		c.log.Error("a custom resource failed", "resource", strings.TrimPrefix(r.URL.Path, customPath), "reason", answer.Reason)
	}
	w.WriteHeader(http.StatusOK)
}
