package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

// TestSample: the sample event is a request that this function understands.
func TestSample(t *testing.T) {
	raw, err := os.ReadFile("../../events/cancel-reminder.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r.APIGatewayV2HTTPRequest); err != nil {
		t.Fatal(err)
	}
	want := flow.RemindersOf{SessionID: "0f1a9c52-6a5e-4a55-9f0d-6f0e8f7f6f11", Caller: task.User("c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"), Purpose: "ci"}
	got, err := entry.Reminders(r)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decoded, %v (-want +got):\n%s", err, diff)
	}
	r.RequestContext.Authorizer = nil
	if _, err := entry.Reminders(r); err == nil {
		t.Error("a request of nobody is understood")
	}
}

// TestStatus: one that was named needs no answer, a number of them does.
func TestStatus(t *testing.T) {
	if got := (answer{one: true}).status(); got != 204 {
		t.Errorf("one = %d", got)
	}
	all := answer{CancelledReminders: flow.CancelledReminders{Cancelled: 2}}
	body, err := json.Marshal(all)
	if err != nil || string(body) != `{"cancelled":2}` || all.status() != 200 {
		t.Errorf("all = %d %s, %v", all.status(), body, err)
	}
}
