package channel_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func TestEventHandlers(t *testing.T) {
	got := ""
	h := channel.EventHandlers{
		NudgeDelivered: func(_ channel.Context, _ contract.SessionEvent, d contract.NudgeDelivered) error {
			got = "nudge " + d.DeliveryID
			return nil
		},
		Any: func(_ channel.Context, e contract.SessionEvent) error {
			got = "any " + e.Type
			return nil
		},
	}
	tests := []struct{ eventType, data, want string }{
		{"nudge.delivered", `{"deliveryId":"d-1"}`, "nudge d-1"},
		{"turn.completed", `{}`, "any turn.completed"},
		{"of.another.version", `{}`, "any of.another.version"},
	}
	for _, tt := range tests {
		e := contract.SessionEvent{Type: tt.eventType, Data: json.RawMessage(tt.data)}
		if err := h.Handler(tt.eventType)(channel.Context{}, e); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.eventType, got, err, tt.want)
		}
	}
	broken := contract.SessionEvent{Type: "nudge.delivered", Data: json.RawMessage(`[]`)}
	if err := h.Handler(broken.Type)(channel.Context{}, broken); !fault.Is(err, fault.Invalid) {
		t.Errorf("an event that is none = %v", err)
	}
	if (channel.EventHandlers{}).Handler("turn.completed") != nil {
		t.Error("a handler where there is none")
	}
}

// TestEveryEventTypeHasAHandler, but pieces of text, which channels are not told.
func TestEveryEventTypeHasAHandler(t *testing.T) {
	if h := (channel.EventHandlers{SkillsReported: func(channel.Context, contract.SessionEvent, contract.SkillsReported) error { return nil }}); h.Handler("skills.reported") == nil {
		t.Error("skills.reported finds no handler")
	}
	if h := (channel.EventHandlers{ApprovalRequested: func(channel.Context, contract.SessionEvent, contract.ApprovalRequested) error { return nil }}); h.Handler("action.approval_requested") == nil {
		t.Error("action.approval_requested finds no handler")
	}
}

func TestSet(t *testing.T) {
	verify := func(context.Context, channel.Request) (contract.Principal, error) { return contract.Principal{}, nil }
	route := func(channel.Context, channel.Request) error { return nil }
	for name, tt := range map[string]struct {
		channels []channel.Channel
		sound    bool
	}{
		"none":            {nil, true},
		"whole":           {[]channel.Channel{{ID: "a", Verify: verify, Route: route, StopWords: []string{"stop"}}, {ID: "b"}}, true},
		"twice":           {[]channel.Channel{{ID: "a"}, {ID: "a"}}, false},
		"an odd id":       {[]channel.Channel{{ID: "A b"}}, false},
		"not verified":    {[]channel.Channel{{ID: "a", Route: route}}, false},
		"not routed":      {[]channel.Channel{{ID: "a", Verify: verify}}, false},
		"empty stop word": {[]channel.Channel{{ID: "a", StopWords: []string{" "}}}, false},
	} {
		set, err := channel.NewSet(tt.channels...)
		if (err == nil) != tt.sound || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := set.Get("a"); ok != (tt.sound && len(tt.channels) > 0) {
			t.Errorf("%s: a is there: %t", name, ok)
		}
	}
	if c := (channel.Channel{StopWords: []string{"Stop"}}); !c.Stops(" stop\n") || c.Stops("stop it") || c.Stops("") {
		t.Error("a stop word is the whole message, whatever its case")
	}
}

// TestWebhook: what is posted is signed over the very bytes, names the event, and follows no redirect.
func TestWebhook(t *testing.T) {
	secret, now := []byte("a secret of some length"), time.Unix(1_700_000_000, 0)
	status := 204
	var body []byte
	var header http.Header
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		header = r.Header
		if status == 302 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	defer service.Close()
	w := channel.Webhook{URL: service.URL, Allow: channel.Own(service.URL), Channel: "hooks", Now: func() time.Time { return now }, Secret: func(context.Context) ([]byte, error) { return secret, nil }}
	e := contract.SessionEvent{Type: "nudge.delivered", Index: 7, SessionID: "s-1", Data: json.RawMessage(`{"deliveryId":"d-1"}`)}
	ctx := channel.Context{Context: t.Context(), ContinuationToken: "pr:1"}
	for answered, want := range map[int]fault.Code{200: "", 204: "", 302: fault.Unavailable, 400: fault.Unavailable, 410: fault.Invalid, 503: fault.Unavailable} {
		status = answered
		if err := w.Post(ctx, e); fault.CodeOf(err) != want {
			t.Errorf("answered %d: %v, want %q", answered, err, want)
		}
	}
	if err := channel.Verify(secret, body, header.Get(channel.SignatureHeader), now); err != nil || header.Get(channel.EventHeader) != "s-1/7" {
		t.Errorf("signature %v, event %q", err, header.Get(channel.EventHeader))
	}
	want := `{"type":"nudge.delivered","index":7,"sessionId":"s-1","at":"","data":{"deliveryId":"d-1"},"channel":"hooks","continuationToken":"pr:1"}`
	if string(body) != want {
		t.Errorf("posted %s\nwant   %s", body, want)
	}
	service.Close()
	if err := w.Post(ctx, e); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nobody listens: %v", err)
	}
}
