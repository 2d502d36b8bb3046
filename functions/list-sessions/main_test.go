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
	raw, err := os.ReadFile("../../events/list-sessions.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	want := flow.ListSessionsIn{Caller: task.User("c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"), Limit: 20}
	got, err := decode(r)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decode: %v (-want +got):\n%s", err, diff)
	}
	r.QueryStringParameters = map[string]string{"cursor": "abc"}
	if got, err = decode(r); err != nil || got.Cursor != "abc" || got.Limit != 0 {
		t.Errorf("decode = %+v, %v, want the cursor", got, err)
	}
	r.QueryStringParameters = map[string]string{"limit": "all"}
	if _, err = decode(r); !fault.Is(err, fault.Invalid) {
		t.Errorf("decode = %v, want Invalid", err)
	}
	r.RequestContext.Authorizer = nil
	if _, err = decode(r); !fault.Is(err, fault.Denied) {
		t.Errorf("decode of nobody's = %v, want Denied", err)
	}
}
