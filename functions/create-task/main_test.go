package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func TestDecode(t *testing.T) {
	raw, err := os.ReadFile("../../events/create-task.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	want := flow.CreateTaskIn{Caller: "c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10", Request: "Summarize the new comments.", Wait: true}
	got, err := decode(r)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decode: %v (-want +got):\n%s", err, diff)
	}
	r.APIGatewayV2HTTPRequest.Body = `{"request":"x","wait":"yes"}`
	if _, err = decode(r); !fault.Is(err, fault.Invalid) || err.Error() != "wait: must be a boolean, is a string" {
		t.Errorf("decode = %v, want Invalid that names wait", err)
	}
	r.RequestContext.Authorizer = nil
	if _, err = decode(r); !fault.Is(err, fault.Denied) {
		t.Errorf("decode of nobody's = %v, want Denied", err)
	}
}

func TestStatus(t *testing.T) {
	for of, want := range map[string]int{"PENDING": 202, "RUNNING": 202, "COMPLETED": 200, "FAILED": 200} {
		if got := status(contract.TaskResult{Status: of}); got != want {
			t.Errorf("status(%s) = %d, want %d", of, got, want)
		}
	}
}
