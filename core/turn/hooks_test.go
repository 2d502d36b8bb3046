package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

var hookSecret = []byte("a secret of some length")

// service is another system: it sends webhooks, and is told what became of them.
type service struct {
	p     *stage.Play
	down  time.Time         // until when it does not answer
	told  map[string]string // by event
	tries int
}

// RoundTrip is what the service does with a webhook that it is told.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.tries++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := channel.Verify(hookSecret, body, r.Header.Get(channel.SignatureHeader), s.p.Clock.Now()); err != nil {
		return nil, err
	}
	answer := &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}
	if s.p.Clock.Now().Before(s.down) {
		answer.StatusCode = 503
		return answer, nil
	}
	s.told[r.Header.Get(channel.EventHeader)] = string(body)
	return answer, nil
}

// serve puts the channel hooks on a stage: signed webhooks in by key, and out for each delivery and each answer.
func serve(p *stage.Play) (*service, flow.TakeWebhook) {
	s := &service{p: p, told: map[string]string{}}
	secret := func(context.Context) ([]byte, error) { return hookSecret, nil }
	out := channel.Webhook{URL: "https://example.com/hook", Channel: "hooks", Secret: secret, Client: &http.Client{Transport: s}, Now: p.Clock.Now}
	set, err := channel.NewSet(channel.Channel{
		ID: "hooks", StopWords: []string{"stop"}, Verify: channel.Signed(secret, task.System("hooks")),
		Route: func(ctx channel.Context, r channel.Request) error {
			m, err := channel.Decode[contract.SendMessage](r)
			if err != nil {
				return err
			}
			_, err = ctx.Send(contract.Message{ContinuationToken: m.ContinuationToken, Text: m.Message, DeliveryID: m.DeliveryID, Files: m.Files})
			return err
		},
		Events: channel.EventHandlers{
			MessageReceived: func(ctx channel.Context, e contract.SessionEvent, _ contract.MessageReceived) error {
				return out.Post(ctx, e)
			},
			NudgeDelivered: func(ctx channel.Context, e contract.SessionEvent, _ contract.NudgeDelivered) error {
				return out.Post(ctx, e)
			},
			TurnCompleted: func(ctx channel.Context, e contract.SessionEvent, _ contract.TurnCompleted) error {
				return out.Post(ctx, e)
			},
		},
	})
	if err != nil {
		panic(err)
	}
	p.Heard = flow.TellChannel{Edges: p.Edges, Channels: set, Later: p.Later}.Do
	return s, flow.TakeWebhook{Edges: p.Edges, Channels: set}
}

// webhook is a signed one.
func webhook(p *stage.Play, body string) flow.WebhookIn {
	signature, err := channel.Sign(hookSecret, []byte(body), p.Clock.Now())
	if err != nil {
		panic(err)
	}
	return flow.WebhookIn{Channel: "hooks", Request: channel.Request{Headers: map[string]string{"steadfast-signature": signature}, Body: []byte(body)}}
}

func said(text, delivery string) string {
	return fmt.Sprintf(`{"continuationToken":"pr:1","message":%q,"deliveryId":%q}`, text, delivery)
}

// seen counts in how many events of each kind a delivery was told.
func (s *service) seen(delivery string) (received, nudged int) {
	for _, body := range s.told {
		var e contract.AgentSessionEvent
		if json.Unmarshal([]byte(body), &e) != nil {
			continue
		}
		var m contract.MessageReceived
		var n contract.NudgeDelivered
		switch e.Type {
		case "message.received":
			_ = json.Unmarshal(e.Data, &m)
			for _, id := range m.DeliveryIDs {
				if id == delivery {
					received++
				}
			}
		case "nudge.delivered":
			if _ = json.Unmarshal(e.Data, &n); n.DeliveryID == delivery {
				nudged++
			}
		}
	}
	return received, nudged
}

// TestExploreWebhooks kills, cuts and repeats at every call: a webhook that is delivered twice is one message, and a service that does
// not answer for an hour is told everything in the end.
func TestExploreWebhooks(t *testing.T) {
	for name, outage := range map[string]time.Duration{"a webhook twice": 0, "a webhook twice, and the service is down for an hour": time.Hour} {
		fake.Explore(t, fake.Flow{Name: name, Pairs: 20, Rounds: 80, New: func() *fake.Run {
			p := play(helpful)
			s, take := serve(p)
			s.down = p.Clock.Now().Add(outage)
			in := func(ctx context.Context) error {
				_, err := take.Do(ctx, webhook(p, said("use the tools", "d-1")))
				return err
			}
			p.Acts = []act{in, in}
			run := p.Run(nil, func() error {
				received, nudged := s.seen("d-1")
				if received+nudged != 1 || len(s.told) != 2 {
					return fmt.Errorf("received %d, nudged %d, told %d events", received, nudged, len(s.told))
				}
				if outage > 0 && s.tries < 10 {
					return fmt.Errorf("told %d times only: the service was not down", s.tries)
				}
				return nil
			})
			run.Recover = func(ctx context.Context) error { // what is put off is not over
				if err := p.Recover(ctx); err != nil || p.Alarm.Due().IsZero() {
					return err
				}
				return errors.New("an alarm waits")
			}
			return run
		}})
	}
}

// TestDeliveriesAreFollowed: whatever is sent when, each delivery is told in exactly one nudge.delivered or in exactly one
// message.received, never in both, never in none.
func TestDeliveriesAreFollowed(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.IntRange(1, 4).Draw(rt, "before")
		midst := rapid.SliceOfN(rapid.Bool(), 0, 4).Draw(rt, "midst: twice")
		tools := rapid.Bool().Draw(rt, "tools")
		outage := rapid.IntRange(0, 90).Draw(rt, "minutes of outage")
		n++
		var problem string
		synctest.Test(t, func(t *testing.T) {
			p := play(helpful)
			s, take := serve(p)
			s.down = p.Clock.Now().Add(time.Duration(outage) * time.Minute)
			text := "hello"
			if tools {
				text = "use the tools"
			}
			var ids []string
			in := func(twice bool) act {
				id := fmt.Sprint("d-", len(ids))
				ids = append(ids, id)
				return func(ctx context.Context) error {
					_, err := take.Do(ctx, webhook(p, said(text, id)))
					if err == nil && twice {
						_, err = take.Do(ctx, webhook(p, said(text, id)))
					}
					return err
				}
			}
			for range before {
				p.Acts = append(p.Acts, in(false))
			}
			for _, twice := range midst {
				p.Mid = append(p.Mid, in(twice))
			}
			err := p.Do(t.Context())
			for round := 0; err == nil && round < 40; round++ {
				err = p.Recover(t.Context())
			}
			if err != nil {
				problem = err.Error()
			}
			for _, id := range ids {
				if received, nudged := s.seen(id); received+nudged != 1 {
					problem += fmt.Sprintf("\n%s: in %d message.received, in %d nudge.delivered", id, received, nudged)
				}
			}
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
	t.Logf("%d runs", n)
}

// TestNothingIsStoredOfAWebhookThatIsRefused: each wrong one is one clear error.
func TestNothingIsStoredOfAWebhookThatIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *stage.Play, in *flow.WebhookIn)
		code   fault.Code
		want   string
	}{
		{"wrong signature", func(_ *stage.Play, in *flow.WebhookIn) { in.Body = []byte(said("other", "d-1")) }, fault.Denied, "Steadfast-Signature: no signature fits the body"},
		{"no signature", func(_ *stage.Play, in *flow.WebhookIn) { in.Headers = nil }, fault.Denied, "Steadfast-Signature: want t=<Unix seconds>,v1=<hex>"},
		{"old timestamp", func(p *stage.Play, _ *flow.WebhookIn) { p.Clock.Advance(6 * time.Minute) }, fault.Denied, "Steadfast-Signature: its time is more than 5m0s from now"},
		{"huge body", func(p *stage.Play, in *flow.WebhookIn) { *in = webhook(p, strings.Repeat("x", channel.MaxBody+1)) }, fault.Invalid, "body: 262145 bytes, the limit is 262144"},
		{"no JSON", func(p *stage.Play, in *flow.WebhookIn) { *in = webhook(p, "hello") }, fault.Invalid, "body: is not the JSON that the channel takes"},
		{"a path that leads out", func(p *stage.Play, in *flow.WebhookIn) {
			*in = webhook(p, `{"continuationToken":"k","message":"m","files":{"../x":"y"}}`)
		}, fault.Invalid, `files: path "../x": want a relative path like notes/today.md, without .. and \`},
		{"no text", func(p *stage.Play, in *flow.WebhookIn) { *in = webhook(p, `{"continuationToken":"k"}`) }, fault.Invalid, "request: must not be empty"},
		{"another channel", func(_ *stage.Play, in *flow.WebhookIn) { in.Channel = "none" }, fault.NotFound, "no such channel"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(helpful)
				_, take := serve(p)
				in := webhook(p, said("hello", "d-1"))
				tt.change(p, &in)
				if _, err := take.Do(t.Context(), in); !fault.Is(err, tt.code) || fault.Public(err) != tt.want {
					t.Errorf("Do = %v, want %s %q", err, tt.code, tt.want)
				}
				if rows := p.Dynamo.Items(""); len(rows) != 0 {
					t.Errorf("%d rows were stored", len(rows))
				}
			})
		})
	}
}

// TestAStopWordStops: the running turn ends, what waits goes, and the word itself is no message.
func TestAStopWordStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(helpful)
		s, take := serve(p)
		in := func(body string) act {
			return func(ctx context.Context) error {
				_, err := take.Do(ctx, webhook(p, body))
				return err
			}
		}
		p.Acts = []act{in(said("stop", "d-0")), in(said("use the tools", "d-1"))} // the first finds nothing to stop
		p.Mid = []act{in(said("and this", "d-2")), in(said(" STOP ", "d-3"))}
		if err := p.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		there, err := p.Edges.Table.Continuation(t.Context(), "hooks", "pr:1")
		if err != nil {
			t.Fatal(err)
		}
		if story := p.Story(there.SessionID); !strings.Contains(story, "cancelled") || strings.Contains(strings.ToLower(story), `"stop"`) {
			t.Errorf("the conversation:\n%s", story)
		}
		if received, nudged := s.seen("d-3"); received+nudged != 0 {
			t.Error("the stop word was told as a message")
		}
	})
}
