package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/task"
)

func TestWithhold(t *testing.T) {
	request := task.Request{TaskID: "t", Principal: task.User("u"), Request: "a secret", Tools: []string{}, Depth: 2}
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	before := task.Task{TaskID: "t", Status: task.Running, Request: request.Request, Detail: string(raw)}
	after := before.Withhold("-")
	request.Request = "-"
	var left task.Request
	if err := json.Unmarshal([]byte(after.Detail), &left); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(request, left); diff != "" || after.Request != "-" || after.TaskID != "t" || after.Status != task.Running {
		t.Errorf("%+v (-want +got):\n%s", after, diff)
	}
	for _, detail := range []string{"", "not JSON: a secret"} {
		before.Detail = detail
		if got := before.Withhold("-"); strings.Contains(got.Detail, "secret") || got.Request != "-" {
			t.Errorf("of a task with the detail %q is left %+v", detail, got)
		}
	}
}
