package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/turn"
)

// TestSample: the sample event is a request that this function understands.
func TestSample(t *testing.T) {
	raw, err := os.ReadFile("../../events/call-tool.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r.APIGatewayV2HTTPRequest); err != nil {
		t.Fatal(err)
	}
	got, err := decode(r)
	if err != nil {
		t.Fatal(err)
	}
	want := turn.CallIn{
		SessionID: "0f1a9c52-6a5e-4a55-9f0d-6f0e8f7f6f11", Caller: task.User("c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"), Name: "get_current_time",
		Input: json.RawMessage(`{"timezone":"Europe/Berlin"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	r.RequestContext.Authorizer = nil
	if _, err := decode(r); err == nil {
		t.Error("a request of nobody is understood")
	}
}
