package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// screen is what a client shows that follows the rules of the wire: a piece of text stands where its offset says, a reset cuts, and
// after a turn's end nothing of that turn counts.
type screen struct {
	texts map[string]string
	ended map[string]string // turn -> how
	last  contract.ServerMessage
	holes []string
}

func watch(posts []string) screen {
	s := screen{texts: map[string]string{}, ended: map[string]string{}}
	for _, raw := range posts {
		var m contract.ServerMessage
		if err := json.Unmarshal([]byte(raw), &m); err != nil {
			panic(err)
		}
		if m.Type == contract.TypeSubscribed {
			s.last = m
		}
		if m.TurnID != "" && s.ended[m.TurnID] == "" {
			s.take(m)
		}
	}
	return s
}

func (s *screen) take(m contract.ServerMessage) {
	text := []rune(s.texts[m.TurnID])
	switch {
	case m.Type == contract.TypeComplete:
		s.ended[m.TurnID] = "complete"
	case m.Type == contract.TypeError && (m.Error == "delivery_failed" || m.Error == "fell_behind"): // it asks again
	case m.Type == contract.TypeError:
		s.ended[m.TurnID] = m.Error
	case m.Event.Reset != nil && *m.Offset < int64(len(text)):
		s.texts[m.TurnID] = string(text[:*m.Offset])
	case m.Event.Data != nil:
		if *m.Offset > int64(len(text)) {
			s.holes = append(s.holes, fmt.Sprintf("%s: %d after %d", m.TurnID, *m.Offset, len(text)))
			return
		}
		have, piece := int64(len(text))-*m.Offset, []rune(*m.Event.Data)
		if have < int64(len(piece)) {
			s.texts[m.TurnID] = string(text) + string(piece[have:])
		}
	}
}

// socket opens a connection of user-1.
func open(t *testing.T, s *stage.Stage, connection string, features ...string) flow.Socket {
	t.Helper()
	at := s.Clock.Now().Add(-time.Hour)
	must(t, s.Edges.Table.PutConnection(t.Context(), store.Connection{
		ID: connection, UserID: stage.User.ID, ConnectedAt: at.UnixMilli(), Features: features,
	}))
	s.Sockets.Open(connection)
	return flow.Socket{ConnectionID: connection, ConnectedAt: at}
}

func subscribe(ctx context.Context, s *stage.Stage, from flow.Socket, index *int64) error {
	return flow.Subscribe{Chat: flow.Chat{Edges: s.Edges}, Tell: s.Engine.Sockets.Tell}.Do(ctx, from, flow.SubscribeIn{
		SessionOf: flow.SessionOf{SessionID: id, Caller: stage.User}, From: index,
	})
}

// stored is what the log says of each turn: the text of its replies, and how it ended.
func stored(t *testing.T, s *stage.Stage) (texts, ended map[string]string) {
	t.Helper()
	texts, ended, err := told(s)
	must(t, err)
	return texts, ended
}

func TestSubscribeTellsTurnsThatEnded(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for _, text := range []string{"one", "two", "three"} {
			_, err := s.Send(ctx, id, text)
			must(t, err, s.Drain(ctx))
		}
		events, err := s.Events(ctx, id)
		must(t, err)
		second := int64(0)
		for _, e := range events {
			if e.TurnID == "turn_2" && e.Type == "step.started" {
				second = e.Index
			}
		}
		end := int64(len(events))
		tests := []struct {
			name  string
			from  *int64
			turns []string
		}{
			{"all", new(int64(0)), []string{"turn_1", "turn_2", "turn_3"}},
			{"from the middle of a turn on", &second, []string{"turn_2", "turn_3"}},
			{"nothing is missing", &end, nil},
			{"more seen than there is", new(end + 5), []string{"turn_3"}},
			{"nothing asked for", nil, nil},
		}
		for _, tt := range tests {
			must(t, subscribe(ctx, s, open(t, s, tt.name), tt.from))
			got := watch(s.Sockets.Posts(tt.name))
			want := map[string]string{}
			for _, turn := range tt.turns {
				want[turn] = "ok"
			}
			if diff := cmp.Diff(want, got.texts); diff != "" {
				t.Errorf("%s: texts (-want +got):\n%s", tt.name, diff)
			}
			if len(got.ended) != len(tt.turns) || *got.last.Index != end || got.last.Status != "waiting" || got.last.More {
				t.Errorf("%s: ended %v, then %+v", tt.name, got.ended, got.last)
			}
		}
	})
}

func TestSubscribeRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		from := open(t, s, "c")
		before := s.Dynamo.Dump()
		f := flow.Subscribe{Chat: flow.Chat{Edges: s.Edges}, Tell: s.Engine.Sockets.Tell}
		if err := f.Do(ctx, from, flow.SubscribeIn{SessionOf: flow.SessionOf{SessionID: id, Caller: other}}); !fault.Is(err, fault.Denied) {
			t.Errorf("by another: %v", err)
		}
		if err := subscribe(ctx, s, from, new(int64(-1))); !fault.Is(err, fault.Invalid) {
			t.Errorf("from -1: %v", err)
		}
		if diff := cmp.Diff(before, s.Dynamo.Dump()); diff != "" || len(s.Sockets.Posts("c")) > 0 {
			t.Errorf("what was refused posts %q and changes rows:\n%s", s.Sockets.Posts("c"), diff)
		}
		must(t, remove(ctx, s, stage.User))
		if err := subscribe(ctx, s, from, new(int64(0))); !fault.Is(err, fault.NotFound) {
			t.Errorf("of a deleted session: %v", err)
		}
	})
}

func TestSubscribeToWhatIsNotThereYet(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		must(t, subscribe(ctx, s, open(t, s, "c"), new(int64(0))))
		if got := watch(s.Sockets.Posts("c")).last; got.Status != "waiting" || *got.Index != 0 {
			t.Errorf("subscribed = %+v", got)
		}
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		if got := watch(s.Sockets.Posts("c")); got.texts["turn_1"] != "ok" || got.ended["turn_1"] != "complete" {
			t.Errorf("the first turn = %v, %v", got.texts, got.ended)
		}
	})
}

// eventful answers slowly, in two steps, and breaks off once in each.
func eventful(calls int) func(model.Request) fake.Turn {
	n := 0
	overloaded := fault.New(fault.Unavailable, "overloaded")
	input, err := json.Marshal(stage.Note{Text: "a"})
	if err != nil {
		panic(err)
	}
	return func(req model.Request) fake.Turn {
		n++
		last := req.Messages[len(req.Messages)-1]
		turn := fake.Say("dö", "ne ", "with ", "it")
		if len(last.Results()) == 0 {
			turn = fake.Calls("let me see", model.ToolUse{ID: fmt.Sprintf("call_%d", calls+n), Name: "look_up", Input: input})
		}
		if n%2 == 1 {
			turn = fake.Say("this is ", "wrong ", "already").Failing(2, overloaded)
		}
		return turn.Pausing(150 * time.Millisecond)
	}
}

// TestP13SubscribersAtAnyMoment: whenever a socket comes, and however often it asks, it shows what is stored. So does a client that
// lost its socket for a while, wherever the text was that it had.
func TestP13SubscribersAtAnyMoment(t *testing.T) {
	for at := time.Duration(0); at < 6*time.Second; at += 70 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s, ctx := stage.New(&fake.Model{Answer: eventful(0)}), t.Context()
			_, err := s.Send(ctx, id, "first")
			must(t, err)
			early, late := open(t, s, "early", contract.FeatureReset), open(t, s, "late", contract.FeatureReset)
			back := open(t, s, "back", contract.FeatureReset)
			must(t, subscribe(ctx, s, early, new(int64(0))))
			done := make(chan error, 1)
			go func() { done <- s.Drain(ctx) }()
			time.Sleep(at / 2)
			before := s.Sockets.Posts("early")
			time.Sleep(at / 2)
			must(t, subscribe(ctx, s, late, new(int64(0))), subscribe(ctx, s, early, new(int64(0))), subscribe(ctx, s, back, new(int64(0))))
			must(t, <-done, s.Check(id))
			_, err = s.Send(ctx, id, "second")
			must(t, err, s.Drain(ctx))
			synctest.Wait()
			texts, ended := stored(t, s)
			if texts["turn_1"] != "let me seedöne with it" {
				t.Fatalf("stored %q", texts)
			}
			for _, c := range []string{"early", "late", "back"} {
				posts := s.Sockets.Posts(c)
				if c == "back" {
					posts = append(before, posts...)
				}
				got := watch(posts)
				if diff := cmp.Diff(texts, got.texts); diff != "" || len(got.holes) > 0 {
					t.Errorf("at %v %s shows (-stored +shown), holes %v:\n%s\n%s", at, c, got.holes, diff, strings.Join(posts, "\n"))
				}
				if diff := cmp.Diff(ended, got.ended); diff != "" {
					t.Errorf("at %v %s is told of the ends (-stored +told):\n%s", at, c, diff)
				}
			}
		})
	}
}

// TestP13NoWaitForTheEnd: who comes in mid-answer sees what there is within two seconds, and the rest as it comes.
func TestP13NoWaitForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		words := strings.Fields(strings.Repeat("word ", 100))
		s, ctx := stage.New(&fake.Model{Answer: func(model.Request) fake.Turn { return fake.Say(words...).Pausing(100 * time.Millisecond) }}), t.Context()
		_, err := s.Send(ctx, id, "first")
		must(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Drain(ctx) }()
		time.Sleep(2 * time.Second)
		must(t, subscribe(ctx, s, open(t, s, "c"), new(int64(0))))
		told := watch(s.Sockets.Posts("c")).last
		if told.Status != "running" || *told.Index != 1 {
			t.Errorf("subscribed = %+v, want a running session, told up to the open turn", told)
		}
		for _, words := range []int{30, 50, 70} {
			time.Sleep(2 * time.Second)
			if got := len(watch(s.Sockets.Posts("c")).texts["turn_1"]); got < words*len("word") {
				t.Errorf("%d characters are shown, want at least %d words", got, words)
			}
		}
		must(t, <-done)
	})
}

// TestP13AfterTheOwnerDied: who subscribes to a turn that nobody works on gets it from the next owner, whole.
func TestP13AfterTheOwnerDied(t *testing.T) {
	for at := 200 * time.Millisecond; at < 4*time.Second; at += 190 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s, ctx := stage.New(&fake.Model{Answer: eventful(0)}), t.Context()
			_, err := s.Send(ctx, id, "first")
			must(t, err)
			early := open(t, s, "early", contract.FeatureReset)
			must(t, subscribe(ctx, s, early, new(int64(0))))
			first := fake.WithWorker(ctx, "first")
			done := make(chan error, 1)
			go func() { done <- s.Drain(first) }()
			time.Sleep(at)
			fake.Kill(first)
			<-done
			before, after := open(t, s, "before", contract.FeatureReset), open(t, s, "after", contract.FeatureReset)
			must(t, subscribe(ctx, s, before, new(int64(0))))
			s.Clock.Advance(session.Lease + 2*session.Margin)
			must(t, subscribe(ctx, s, after, new(int64(0))), s.Rest(ctx, id))
			synctest.Wait()
			texts, ended := stored(t, s)
			for _, c := range []string{"early", "before", "after"} {
				got := watch(s.Sockets.Posts(c))
				if diff := cmp.Diff(texts, got.texts); diff != "" || len(got.holes) > 0 {
					t.Errorf("killed at %v %s shows (-stored +shown), holes %v:\n%s\n%s", at, c, got.holes, diff, strings.Join(s.Sockets.Posts(c), "\n"))
				}
				if diff := cmp.Diff(ended, got.ended); diff != "" {
					t.Errorf("killed at %v %s is told of the ends (-stored +told):\n%s", at, c, diff)
				}
			}
		})
	}
}

// TestReplayThatTakesTooLong says where to go on.
func TestReplayThatTakesTooLong(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for range 5 {
			_, err := s.Send(ctx, id, "hello")
			must(t, err, s.Drain(ctx))
		}
		s.Sockets.Delay = func(string) time.Duration { return time.Second }
		from, next, rounds := open(t, s, "c", contract.FeatureReset), int64(0), 0
		for more := true; more; rounds++ {
			short, cancel := context.WithTimeout(ctx, 10*time.Second)
			must(t, subscribe(short, s, from, &next))
			cancel()
			last := watch(s.Sockets.Posts("c")).last
			next, more = *last.Index, last.More
		}
		if got := watch(s.Sockets.Posts("c")); len(got.ended) != 5 || rounds < 2 || rounds > 4 {
			t.Errorf("%d turns are told in %d rounds", len(got.ended), rounds)
		}
	})
}

// TestSubscribingTwiceIsOneRow and leaves the session as it was.
func TestSubscribingTwiceIsOneRow(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		from := open(t, s, "c")
		must(t, subscribe(ctx, s, from, nil), subscribe(ctx, s, from, nil), s.Check(id))
		list, err := s.Edges.Table.Subscribers(ctx, id)
		if err != nil || len(list) != 1 || list[0].Asked == 0 {
			t.Errorf("subscribers = %+v, %v", list, err)
		}
		if c, err := s.Edges.Table.Connection(ctx, "c"); err != nil || len(c.Sessions) != 1 {
			t.Errorf("the connection follows %v, %v", c.Sessions, err)
		}
		if rows := s.Dynamo.Items(key.SubPrefix); len(rows) != 0 {
			t.Errorf("rows out of place: %v", rows)
		}
	})
}

// TestP10CancelledMessagesAreToldOf, live and to who comes later.
func TestP10CancelledMessagesAreToldOf(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		live := open(t, s, "live", contract.FeatureReset)
		must(t, subscribe(ctx, s, live, nil))
		for _, d := range []string{"d1", "d2"} {
			_, err := s.Send(ctx, id, "hello", func(in *flow.AdmitIn) { in.DeliveryID, in.Admission = d, contract.Coalesce })
			must(t, err)
		}
		_, err := flow.Stop{Edges: s.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User, Clear: true})
		must(t, err, s.Drain(ctx), s.Check(id))
		must(t, subscribe(ctx, s, open(t, s, "late", contract.FeatureReset), new(int64(0))))
		for _, c := range []string{"live", "late"} {
			got := map[string]string{}
			for _, raw := range s.Sockets.Posts(c) {
				var m contract.ServerMessage
				must(t, json.Unmarshal([]byte(raw), &m))
				if m.Type == contract.TypeError {
					got[m.DeliveryID] = m.Error
				}
			}
			if diff := cmp.Diff(map[string]string{"d1": "cancelled", "d2": "cancelled"}, got); diff != "" {
				t.Errorf("%s is told (-want +got):\n%s", c, diff)
			}
		}
	})
}
