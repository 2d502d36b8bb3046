package turn_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// follow opens a connection that follows the session, an hour ago.
func follow(t *testing.T, s *stage.Stage, connection string, features ...string) {
	t.Helper()
	c := store.Connection{ID: connection, UserID: stage.User.ID, ConnectedAt: s.Clock.Now().Add(-time.Hour).UnixMilli(), Features: features}
	must(t, s.Edges.Table.PutConnection(t.Context(), c), s.Edges.Table.Subscribe(t.Context(), id, c))
	s.Sockets.Open(connection)
}

func posts(t *testing.T, s *stage.Stage, connection string) []contract.ServerMessage {
	t.Helper()
	var list []contract.ServerMessage
	for _, raw := range s.Sockets.Posts(connection) {
		var m contract.ServerMessage
		must(t, json.Unmarshal([]byte(raw), &m))
		list = append(list, m)
	}
	return list
}

// shape is a message as the TypeScript package would send it: without what was added, its text joined with that before.
type shape struct {
	Type      string                    `json:"type"`
	Event     *contract.StreamEventBody `json:"event,omitempty"`
	SessionID string                    `json:"session_id,omitempty"`
	Error     string                    `json:"error,omitempty"`
	Message   string                    `json:"message,omitempty"`
}

func shapes(messages []contract.ServerMessage) []shape {
	var list []shape
	for _, m := range messages {
		next := shape{m.Type, m.Event, m.SessionID, m.Error, m.Message}
		if n := len(list); n > 0 && isText(next) && isText(list[n-1]) {
			joined := *list[n-1].Event.Data + *m.Event.Data
			list[n-1].Event = &contract.StreamEventBody{Data: &joined}
			continue
		}
		list = append(list, next)
	}
	return list
}

func isText(s shape) bool { return s.Event != nil && s.Event.Data != nil }

// TestSubscribersGetWhatThePackageSends holds the wire to what the TypeScript package sent for the same three turns.
func TestSubscribersGetWhatThePackageSends(t *testing.T) {
	var recorded struct{ Messages []contract.ServerMessage }
	data, err := os.ReadFile("testdata/package_wire.json")
	must(t, err, json.Unmarshal(data, &recorded))
	answer := func(req model.Request) fake.Turn {
		last := req.Messages[len(req.Messages)-1]
		if strings.Contains(last.PlainText(), "tool") && len(last.Results()) == 0 {
			return fake.Calls("", model.ToolUse{ID: "tooluse_bench1", Name: "lookup", Input: json.RawMessage(`{"key":"value"}`)})
		}
		return fake.Say("2see ", "66re ", "caqe ")
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "Hello")
		for _, c := range [][]string{{"old"}, {"new", contract.FeatureReset}} {
			follow(t, s, c[0], c[1:]...)
		}
		for _, text := range []string{"Hello", "And again", "use the tool"} {
			say(t, ctx, s, text)
		}
		for _, connection := range []string{"old", "new"} {
			if diff := cmp.Diff(shapes(recorded.Messages), shapes(posts(t, s, connection))); diff != "" {
				t.Errorf("%s (-package +ours):\n%s", connection, diff)
			}
			for i, m := range posts(t, s, connection) {
				if m.TurnID == "" || m.Fence == 0 || m.Seq == nil {
					t.Errorf("message %d has no turn, fence or number: %+v", i, m)
				}
			}
		}
	})
}

func TestP14OneDeadConnection(t *testing.T) {
	long := func(model.Request) fake.Turn { return fake.Say(strings.Repeat("word ", 200), "end") }
	bubble(t, long, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		follow(t, s, "c1")
		follow(t, s, "c2")
		s.Sockets.Close("c1")
		say(t, ctx, s, "hello")
		if got := spoken(posts(t, s, "c2")); got != strings.Repeat("word ", 200)+"end" {
			t.Errorf("c2 got %q", got)
		}
		left, err := s.Edges.Table.Subscribers(ctx, id)
		must(t, err)
		if len(left) != 1 || left[0].ID != "c2" {
			t.Errorf("followers left: %+v", left)
		}
		if n := s.World.Count("conn.PostToConnection"); n != 1+len(s.Sockets.Posts("c2")) {
			t.Errorf("%d posts for %d that arrived and one that was gone", n, len(s.Sockets.Posts("c2")))
		}
		s.Sockets.Forbidden = true
		say(t, ctx, s, "hello again")
		if left, err = s.Edges.Table.Subscribers(ctx, id); err != nil || len(left) != 1 {
			t.Errorf("a 403 leaves %v, %v", left, err)
		}
		must(t, s.Edges.Table.Disconnect(ctx, "c2"))
		say(t, ctx, s, "and with nobody")
		if n := len(told(t, s, id, "turn.completed")); n != 3 {
			t.Errorf("%d turns completed, want 3", n)
		}
	})
}

// TestP13TheEndIsToldThoughItsAnswerWasLost: the write that ends a turn takes effect, and its owner does not learn so.
func TestP13TheEndIsToldThoughItsAnswerWasLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		stop bool
		more bool // another message waits
		want []string
	}{
		{"completed", false, false, []string{"complete"}},
		{"completed, and another waits", false, true, []string{"complete", "complete"}},
		{"stopped", true, false, []string{"error cancelled"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, unhurried, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				p := &stage.Play{Stage: s}
				must(t, send(p, id, "hello", contract.Preempt)(ctx))
				follow(t, s, "c1", contract.FeatureReset)
				s.During = func() {
					s.During = nil
					if tt.more {
						must(t, send(p, id, "and this", contract.Coalesce)(ctx))
					}
					if tt.stop {
						must(t, stop(p, id, false)(ctx))
					}
					s.World.Disturb(fake.Disturbance{Name: "dynamo.TransactWriteItems", Mode: fake.LoseAnswer})
				}
				must(t, s.Drain(ctx), s.Check(id))
				var ends []string
				for _, m := range posts(t, s, "c1") {
					if m.Type != contract.TypeStreamEvent {
						ends = append(ends, strings.TrimSpace(m.Type+" "+m.Error))
					}
				}
				if diff := cmp.Diff(tt.want, ends); diff != "" || s.World.Disturbed() != 1 {
					t.Errorf("%d answers lost; told (-want +got):\n%s", s.World.Disturbed(), diff)
				}
			})
		})
	}
}

// spoken joins the text of a turn's messages.
func spoken(messages []contract.ServerMessage) string {
	text := ""
	for _, m := range messages {
		if m.Event != nil && m.Event.Data != nil {
			text += *m.Event.Data
		}
	}
	return text
}

func TestP15LargePiecesAreCut(t *testing.T) {
	piece := strings.Repeat("\"quoted\"\n\t\u2028 and 👩‍👩‍👧 ", 5000)
	bubble(t, func(model.Request) fake.Turn { return fake.Say(piece, "end") }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		follow(t, s, "c1", contract.FeatureReset)
		say(t, ctx, s, "hello")
		offset := int64(0)
		for i, m := range posts(t, s, "c1") {
			if raw := s.Sockets.Posts("c1")[i]; len(raw) > socket.MaxFrameBytes || !utf8.ValidString(raw) || *m.Seq != int64(i) {
				t.Errorf("post %d: %d bytes, number %d, valid %t", i, len(raw), *m.Seq, utf8.ValidString(raw))
			}
			if m.Event != nil && m.Event.Data != nil {
				if m.Offset == nil || *m.Offset != offset {
					t.Errorf("post %d: offset %v, want %d", i, m.Offset, offset)
				}
				offset += int64(utf8.RuneCountInString(*m.Event.Data))
			}
		}
		if got := spoken(posts(t, s, "c1")); got != piece+"end" {
			t.Errorf("the text that arrived has %d bytes, %d were said", len(got), len(piece)+3)
		}
	})
}

// shown is what a client shows in the end: a reset drops what follows its offset.
func shown(messages []contract.ServerMessage) string {
	var text []rune
	for _, m := range messages {
		switch {
		case m.Event == nil:
		case m.Event.Reset != nil:
			text = text[:*m.Offset]
		case m.Event.Data != nil:
			text = append(text[:*m.Offset], []rune(*m.Event.Data)...)
		}
	}
	return string(text)
}

func TestFollowersSeeOneAnswerHoweverItCameAbout(t *testing.T) {
	for _, tt := range []struct {
		name    string
		disturb func(s *stage.Stage)
	}{
		{"an attempt that fails", func(s *stage.Stage) { s.World.Disturb(fake.Disturbance{Name: "model.Stream", Mode: fake.LoseAnswer}) }},
		{"a worker that dies in the first answer", func(s *stage.Stage) {
			s.World.Disturb(fake.Disturbance{Name: "model.Stream", Mode: fake.KillAfter})
		}},
		{"a worker that dies in its tools", func(s *stage.Stage) {
			s.World.Disturb(fake.Disturbance{Name: "dynamo.TransactWriteItems", Worker: "delivery-1", Mode: fake.KillAfter})
		}},
		{"a save that fails", func(s *stage.Stage) {
			s.During = func() { s.During = nil; s.World.FailNext("dynamo.TransactWriteItems", fake.ErrLost) }
		}},
		{"a save whose answer is lost", func(s *stage.Stage) {
			s.During = func() {
				s.During = nil
				s.World.Disturb(fake.Disturbance{Name: "dynamo.TransactWriteItems", Mode: fake.LoseAnswer})
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				follow(t, s, "c1", contract.FeatureReset)
				_, err := s.Send(ctx, id, "use the tools", as(contract.Preempt, "dlv_1"))
				must(t, err)
				tt.disturb(s)
				must(t, s.Drain(ctx), s.Rest(ctx, id), s.Check(id))
				all := posts(t, s, "c1")
				if got := shown(all); got != "let me seedone with tools" {
					t.Errorf("shown in the end: %q\n%s", got, strings.Join(s.Sockets.Posts("c1"), "\n"))
				}
				last := all[len(all)-1]
				if last.Type != contract.TypeComplete || last.DeliveryID != "dlv_1" {
					t.Errorf("it ends with %+v", last)
				}
			})
		})
	}
}

func TestFollowersAreToldOfFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer fake.Turn
		during func(p *stage.Play) act
		want   []shape
	}{
		{"the model refuses", fake.Turn{{Err: fault.New(fault.Invalid, "the key is sk-1234")}}, nil,
			[]shape{{Type: "stream_event", Event: &contract.StreamEventBody{InitEventLoop: true}}, {Type: "error", Error: "failed", Message: "the key is sk-1234"}}},
		{"something breaks inside", fake.Turn{{Err: fault.New(fault.Internal, "the key is sk-1234")}}, nil,
			[]shape{{Type: "stream_event", Event: &contract.StreamEventBody{InitEventLoop: true}}, {Type: "error", Error: "failed", Message: "something went wrong"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(model.Request) fake.Turn { return tt.answer }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				follow(t, s, "c1")
				say(t, ctx, s, "hello")
				if diff := cmp.Diff(tt.want, shapes(posts(t, s, "c1"))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFollowersOfAPreemptedTurn(t *testing.T) {
	slow := func(req model.Request) fake.Turn { return helpful(req).Pausing(time.Second) }
	bubble(t, slow, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		follow(t, s, "c1")
		s.During = func() {
			s.During = nil
			_, err := s.Send(ctx, id, "wait", as(contract.Preempt, "dlv_2"))
			must(t, err)
		}
		_, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
		must(t, err, s.Drain(ctx), s.Check(id))
		var ends []string
		for _, m := range posts(t, s, "c1") {
			if m.Type != contract.TypeStreamEvent {
				ends = append(ends, strings.Join([]string{m.Type, m.TurnID, m.DeliveryID, m.Error, m.Message}, "|"))
			}
		}
		want := []string{"error|turn_1|dlv_1|interrupted|turn interrupted", "complete|turn_2|dlv_2||"}
		if diff := cmp.Diff(want, ends); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
