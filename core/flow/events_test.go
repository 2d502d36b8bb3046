package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

var mine = flow.SessionOf{SessionID: id, Caller: stage.User}

// configured gives a session that has only a configuration, as the TypeScript package makes one.
func configured(t *testing.T, s *stage.Stage, sessionID, user string) {
	t.Helper()
	c := session.Config{SessionID: sessionID, UserID: user}
	must(t, s.Edges.Table.Commit(t.Context(), store.NewConfig(c, s.Clock.Now())))
}

func TestReadEventsPageByPage(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for range 3 {
			_, err := s.Send(ctx, id, "hello")
			must(t, err, s.Drain(ctx))
		}
		all, err := s.Events(ctx, id)
		must(t, err)
		var got []contract.SessionEvent
		pages := 0
		for from, more := int64(0), true; more; pages++ {
			page, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, flow.ReadEventsIn{SessionOf: mine, From: from, Limit: 4})
			must(t, err)
			for line := range bytes.Lines(page.Lines) {
				var e contract.SessionEvent
				must(t, json.Unmarshal(line, &e))
				got = append(got, e)
			}
			from, more = page.Next, page.More
		}
		if diff := cmp.Diff(all, got); diff != "" || pages != (len(all)+3)/4 {
			t.Errorf("%d pages (-log +pages):\n%s", pages, diff)
		}
		rest, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, flow.ReadEventsIn{SessionOf: mine, From: int64(len(all)) - 2})
		if err != nil || bytes.Count(rest.Lines, []byte("\n")) != 2 || rest.More || rest.Next != int64(len(all)) {
			t.Errorf("the last two = %s, next %d, %v", rest.Lines, rest.Next, err)
		}
		end, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, flow.ReadEventsIn{SessionOf: mine, From: 1000})
		if err != nil || len(end.Lines) != 0 || end.More || end.Next != 1000 {
			t.Errorf("beyond the end = %+v, %v", end, err)
		}
	})
}

// TestReadEventsEndsBeforeSixMegabytes: Lambda's answer holds the lines as a text inside of JSON.
func TestReadEventsEndsBeforeSixMegabytes(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		quotes := strings.Repeat(`"\`+"\n", contract.MaxMessageBytes/3)
		for range 12 {
			_, err := s.Send(ctx, id, quotes)
			must(t, err, s.Drain(ctx))
		}
		seen := int64(0)
		for more := true; more; {
			page, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, flow.ReadEventsIn{SessionOf: mine, From: seen})
			must(t, err)
			answer, err := json.Marshal(string(page.Lines))
			must(t, err)
			if len(answer) > 6_000_000 || page.Next <= seen {
				t.Fatalf("a page of %d bytes from %d to %d", len(answer), seen, page.Next)
			}
			if seen == 0 && !page.More {
				t.Fatalf("all fits into one page of %d bytes: the test is too small", len(answer))
			}
			seen, more = page.Next, page.More
		}
		if all, err := s.Events(ctx, id); err != nil || seen != int64(len(all)) {
			t.Errorf("%d events seen of %d, %v", seen, len(all), err)
		}
	})
}

func TestReadEventsRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		configured(t, s, "empty", stage.User.ID)
		configured(t, s, "other's", other.ID)
		tests := []struct {
			name string
			in   flow.ReadEventsIn
			want fault.Code
		}{
			{"another's", flow.ReadEventsIn{SessionOf: flow.SessionOf{SessionID: id, Caller: other}}, fault.Denied},
			{"another's that only has a configuration", flow.ReadEventsIn{SessionOf: flow.SessionOf{SessionID: "other's", Caller: stage.User}}, fault.Denied},
			{"nobody's", flow.ReadEventsIn{SessionOf: flow.SessionOf{SessionID: "nobody's", Caller: stage.User}}, fault.NotFound},
			{"no id", flow.ReadEventsIn{SessionOf: flow.SessionOf{Caller: stage.User}}, fault.Invalid},
			{"from -1", flow.ReadEventsIn{SessionOf: mine, From: -1}, fault.Invalid},
			{"limit -1", flow.ReadEventsIn{SessionOf: mine, Limit: -1}, fault.Invalid},
			{"limit too high", flow.ReadEventsIn{SessionOf: mine, Limit: flow.MaxEvents + 1}, fault.Invalid},
			{"one that only has a configuration", flow.ReadEventsIn{SessionOf: flow.SessionOf{SessionID: "empty", Caller: stage.User}}, ""},
		}
		for _, tt := range tests {
			out, err := flow.ReadEvents{Edges: s.Edges}.Do(ctx, tt.in)
			if fault.CodeOf(err) != tt.want || len(out.Lines) != 0 {
				t.Errorf("%s: %s, %v, want %q", tt.name, out.Lines, err, tt.want)
			}
			if tt.in.Limit == 0 {
				if err := (flow.FollowEvents{Edges: s.Edges}).Check(ctx, flow.FollowEventsIn{SessionOf: tt.in.SessionOf, From: tt.in.From}); fault.CodeOf(err) != tt.want {
					t.Errorf("%s: Check = %v, want %q", tt.name, err, tt.want)
				}
			}
		}
	})
}

// TestFollowEventsHasNeitherGapNorRepeat while turns run, are stopped and begin.
func TestFollowEventsHasNeitherGapNorRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(model.Request) fake.Turn {
			return fake.Say(strings.Fields(strings.Repeat("word ", 30))...).Pausing(100 * time.Millisecond)
		}
		s, ctx := stage.New(&fake.Model{Answer: slow}), t.Context()
		_, err := s.Send(ctx, id, "first")
		must(t, err)
		follow := flow.FollowEvents{Edges: s.Edges}
		var all []contract.SessionEvent
		beats := 0
		done := make(chan error, 1)
		go func() {
			done <- follow.Do(ctx, flow.FollowEventsIn{SessionOf: mine, From: 1, For: 40 * time.Second}, func(e *contract.SessionEvent) error {
				if e == nil {
					beats++
					return nil
				}
				at, err := e.At.Time()
				if late := s.Clock.Now().Sub(at); err != nil || late > 3*time.Second {
					t.Errorf("%s of %v is shown %v late", e.Type, e.At, late)
				}
				all = append(all, *e)
				return nil
			})
		}()
		must(t, s.Drain(ctx))
		_, err = s.Send(ctx, id, "second")
		must(t, err, s.Drain(ctx))
		begun := time.Now()
		must(t, <-done)
		want, err := s.Events(ctx, id)
		must(t, err)
		if diff := cmp.Diff(want[1:], all); diff != "" {
			t.Errorf("followed (-log +shown):\n%s", diff)
		}
		if silence := time.Since(begun); beats != int(silence/(flow.Heartbeat+flow.FollowSlow)) && beats != int(silence/flow.Heartbeat) {
			t.Errorf("%d signs of life in %v of silence", beats, silence)
		}
	})
}

func TestFollowEventsUntilIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := stage.New(&fake.Model{}), t.Context()
		_, err := s.Send(ctx, id, "first")
		must(t, err)
		var types []string
		done := make(chan error, 1)
		go func() {
			done <- flow.FollowEvents{Edges: s.Edges}.Do(ctx, flow.FollowEventsIn{SessionOf: mine, UntilIdle: true}, func(e *contract.SessionEvent) error {
				if e != nil {
					types = append(types, e.Type)
				}
				return nil
			})
		}()
		time.Sleep(5 * time.Second)
		select {
		case err := <-done:
			t.Fatalf("it ended before the message was answered: %v", err)
		default:
		}
		must(t, s.Drain(ctx), <-done)
		if !slices.Contains(types, "turn.completed") || types[len(types)-1] != "session.waiting" {
			t.Errorf("shown = %q", types)
		}
	})
}

func TestFollowEventsEnds(t *testing.T) {
	tests := []struct {
		name string
		then func(ctx context.Context, s *stage.Stage, cancel func()) error
		show error
		want fault.Code
	}{
		{"with its context", func(_ context.Context, _ *stage.Stage, cancel func()) error { cancel(); return nil }, nil, ""},
		{"with the session", func(ctx context.Context, s *stage.Stage, _ func()) error { return remove(ctx, s, stage.User) }, nil, fault.NotFound},
		{"when nobody takes it", func(context.Context, *stage.Stage, func()) error { return nil }, errors.New("gone"), fault.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				_, err := s.Send(ctx, id, "hello")
				must(t, err, s.Drain(ctx))
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				done := make(chan error, 1)
				go func() {
					done <- flow.FollowEvents{Edges: s.Edges}.Do(ctx, flow.FollowEventsIn{SessionOf: mine}, func(*contract.SessionEvent) error { return tt.show })
				}()
				time.Sleep(time.Second)
				must(t, tt.then(t.Context(), s, cancel))
				begun := time.Now()
				if err := <-done; fault.CodeOf(err) != tt.want {
					t.Errorf("Do = %v, want %q", err, tt.want)
				}
				if took := time.Since(begun); took > flow.FollowCheck+flow.FollowSlow {
					t.Errorf("it took %v to notice", took)
				}
			})
		})
	}
}

// TestATaskSessionEndsItsStream: nothing can follow.
func TestATaskSessionEndsItsStream(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := bind(ctx, s, request("t1", ""))
		must(t, err, s.Drain(ctx))
		last := ""
		in := flow.FollowEventsIn{SessionOf: flow.SessionOf{SessionID: "task-t1", Caller: stage.User}}
		must(t, flow.FollowEvents{Edges: s.Edges}.Do(ctx, in, func(e *contract.SessionEvent) error { last = e.Type; return nil }))
		if last != "session.completed" {
			t.Errorf("the last event is %s", last)
		}
	})
}

// TestATokenOfASessionThatOnlyHasAConfiguration: it is stale, and then the right one can be read.
func TestATokenOfASessionThatOnlyHasAConfiguration(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		configured(t, s, id, stage.User.ID)
		with := func(token string) func(*flow.AdmitIn) { return func(in *flow.AdmitIn) { in.Token = &token } }
		if _, err := s.Send(ctx, id, "hello", with("none")); fault.ReasonOf(err) != "stale_token" {
			t.Errorf("with no token yet: %v", err)
		}
		view, err := read(ctx, s)
		must(t, err)
		_, err = s.Send(ctx, id, "hello", with(view.ContinuationToken))
		must(t, err, s.Drain(ctx), s.Check(id))
		if out, err := (flow.Stop{Edges: s.Edges}).Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User}); err != nil || out.Stopping {
			t.Errorf("Stop of a quiet session = %+v, %v", out, err)
		}
		if _, err := s.Send(ctx, id, "hello", with("")); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "continuationToken") {
			t.Errorf("with an empty token: %v", err)
		}
	})
}
