package channels_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agent/channels"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

var secret = []byte("a secret of some length")

func read(context.Context) ([]byte, error) { return secret, nil }

// TestChannelsAreSound in each way that a deployment may have them.
func TestChannelsAreSound(t *testing.T) {
	for name, c := range map[string]channels.Config{"nothing": {}, "secret": {Secret: read}, "both": {Secret: read, URL: "https://example.com"}, "URL alone": {URL: "https://example.com"}} {
		set, err := channels.Set(c)
		hooks, ok := set.Get("hooks")
		if err != nil || !ok || (hooks.Verify != nil) != (c.Secret != nil) || (hooks.Events.Handler("turn.completed") != nil) != (c.Secret != nil && c.URL != "") {
			t.Errorf("%s: %v, %+v", name, err, hooks)
		}
	}
}

// TestHooks: a webhook becomes a message, and its sender is told of the delivery and of the answer.
func TestHooks(t *testing.T) {
	var told []string
	sender := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e contract.AgentSessionEvent
		if err != nil || json.Unmarshal(body, &e) != nil {
			t.Errorf("told %q, %v", body, err)
		}
		told = append(told, e.Type+" of "+e.ContinuationToken+" "+string(e.Data))
	}))
	defer sender.Close()
	s := stage.New(&fake.Model{Answer: func(model.Request) fake.Turn { return fake.Say("It works.") }})
	set, err := channels.Set(channels.Config{Secret: read, URL: sender.URL})
	if err != nil {
		t.Fatal(err)
	}
	s.Heard = flow.TellChannel{Edges: s.Edges, Channels: set, Later: s.Later}.Do
	body := []byte(`{"id":"comment-1","key":"pr:1","text":"does it work?","files":{"diff.txt":"+1"}}`)
	signature, err := channel.Sign(secret, body, s.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	in := flow.WebhookIn{Channel: "hooks", Request: channel.Request{Headers: map[string]string{"steadfast-signature": signature}, Body: body}}
	out, err := flow.TakeWebhook{Edges: s.Edges, Channels: set}.Do(t.Context(), in)
	if err != nil || len(out.Deliveries) != 1 || out.Deliveries[0].DeliveryID != "comment-1" {
		t.Fatalf("taken as %+v, %v", out, err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	if len(told) != 2 || !strings.HasPrefix(told[0], `message.received of pr:1 {"text":"does it work?","deliveryIds":["comment-1"],"files":["diff.txt"]}`) ||
		!strings.HasPrefix(told[1], `turn.completed of pr:1 {"result":"It works."`) {
		t.Errorf("told %q", told)
	}
}

// TestWhatIsRefusedSendsNothing: a webhook of which a part is wrong is wrong.
func TestWhatIsRefusedSendsNothing(t *testing.T) {
	set, err := channels.Set(channels.Config{Secret: read})
	if err != nil {
		t.Fatal(err)
	}
	hooks, _ := set.Get("hooks")
	for _, body := range []string{`{"id":"c","key":"k","text":"x","remind":"soon"}`, `{"id":"c","key":"k","text":"x","remind":"400d"}`, `[]`, "{\"text\":\"\xff\"}"} {
		sends := 0
		ctx := channel.NewContext(channel.Context{Context: t.Context()}, func(contract.Message) (contract.Delivery, error) {
			sends++
			return contract.Delivery{}, nil
		})
		if err := hooks.Route(ctx, channel.Request{Body: []byte(body)}); !fault.Is(err, fault.Invalid) || sends != 0 {
			t.Errorf("%s: %v, and %d messages are sent", body, err, sends)
		}
	}
}
