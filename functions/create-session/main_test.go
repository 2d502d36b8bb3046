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
	raw, err := os.ReadFile("../../events/create-session.json")
	if err != nil {
		t.Fatal(err)
	}
	var r entry.Request
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	temperature := 0.2
	want := flow.CreateSessionIn{CreatedBy: "WtQ0Zi1aIAMEPtQ=", Config: flow.Config(contract.CreateSession{
		UserID: "c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10", Title: "Trip to Lisbon", SystemPrompt: "You help with travel plans.",
		Temperature: &temperature, MaxTokens: 2048, Tools: []string{"get_current_time"},
	})}
	got, err := decode(r)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decode: %v (-want +got):\n%s", err, diff)
	}
	r.APIGatewayV2HTTPRequest.Body = `{"userId":"eve","sessionId":"chosen"}`
	if got, err = decode(r); err != nil || got.Config.UserID != want.Config.UserID || got.Config.SessionID != "" {
		t.Errorf("decode = %+v, %v: the owner is the caller and the id is made here, whatever the body says", got.Config, err)
	}
	r.RequestContext.Authorizer = nil
	if _, err = decode(r); !fault.Is(err, fault.Denied) {
		t.Errorf("decode of nobody's = %v, want Denied", err)
	}
}
