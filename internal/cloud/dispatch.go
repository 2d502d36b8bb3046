package cloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
)

// dispatchPath holds the routes that fire by hand what a clock would.
const dispatchPath = "/dev/"

// runSchedule is the function that takes firings.
const runSchedule = "run-schedule"

// devRunSchedule fires a schedule once, through the function that production fires, and answers what it came to.
func (c *Cloud) devRunSchedule(w http.ResponseWriter, r *http.Request) {
	at := time.Now().Truncate(time.Millisecond)
	if at.Equal(at.Truncate(time.Minute)) { // a firing of its own, not that of the clock
		at = at.Add(time.Millisecond)
	}
	var ran contract.ScheduleRan
	detail := contract.RunSchedule{ScheduleID: r.PathValue("id"), At: contract.At(at), Manual: true}
	switch err := c.fire(r, runSchedule, contract.RunScheduleType, detail, &ran); {
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case ran.Code == "not_found":
		writeJSON(w, http.StatusNotFound, contract.ErrorBody{Message: ran.Error, Code: ran.Code})
	case ran.Code != "":
		writeJSON(w, http.StatusBadRequest, contract.ErrorBody{Message: ran.Error, Code: ran.Code})
	default:
		writeJSON(w, http.StatusOK, ran)
	}
}

// fire gives a function an event as the bus would, and waits for its answer.
func (c *Cloud) fire(r *http.Request, function, detailType string, detail, answer any) error {
	body, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	event, err := json.Marshal(contract.RawEvent{ID: uuid.NewString(), Source: contract.Source, DetailType: detailType, Time: time.Now().UTC(), Detail: body})
	if err != nil {
		return err
	}
	result, err := c.functions.Invoke(r.Context(), function, "dispatch by hand", event)
	if err != nil {
		return err
	}
	return unpack(result, answer)
}

// unpack reads what a function answered.
func unpack(result invoke.Result, answer any) error {
	if result.FunctionError != "" {
		var failure struct{ ErrorMessage string }
		_ = json.Unmarshal(result.Payload, &failure) // a process that ended says nothing
		return fmt.Errorf("the function failed (%s): %s", result.FunctionError, failure.ErrorMessage)
	}
	return json.Unmarshal(result.Payload, answer)
}
