package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

func TestDecode(t *testing.T) {
	raw, err := os.ReadFile("../../events/connect.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	want := flow.SessionOf{SessionID: "0f1a9c52-6a5e-4a55-9f0d-6f0e8f7f6f11", Caller: task.User("c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10")}
	got, err := decode(r)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decode: %v (-want +got):\n%s", err, diff)
	}
	r.APIGatewayV2HTTPRequest.Body = ""
	if got, err = decode(r); err != nil || got.SessionID != "" {
		t.Errorf("decode without a body = %+v, %v, want no session and no fault", got, err)
	}
	r.RequestContext.Authorizer = nil
	if _, err = decode(r); !fault.Is(err, fault.Denied) {
		t.Errorf("decode of nobody's = %v, want Denied", err)
	}
}
