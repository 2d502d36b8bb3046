package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

// TestSample: the sample event is a request that this function understands.
func TestSample(t *testing.T) {
	raw, err := os.ReadFile("../../events/resolve-approval.json")
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
	want := flow.DecideIn{
		SessionID: "0f1a9c52-6a5e-4a55-9f0d-6f0e8f7f6f11", ActionID: "1.2-call_1", Caller: task.User("c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"),
		Verdict: contract.Deny, Reason: "Not before Monday.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	r.RequestContext.Authorizer = nil
	if _, err := decode(r); err == nil {
		t.Error("a request of nobody is understood")
	}
}
