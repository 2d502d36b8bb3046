package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

var webhook = channel.Channel{ID: "webhook"}

// program is a file called heartbeat and a handler called alerts.
func program(t *testing.T, run func(ctx context.Context, r schedule.Run) error) schedule.Set {
	t.Helper()
	s, err := schedule.NewSet(fstest.MapFS{"heartbeat.md": {Data: []byte("---\ncron: \"*/30 * * * *\"\n---\nBeat.")}},
		schedule.Handler{ID: "alerts", Cron: "@hourly", Run: run})
	must(t, err)
	return s
}

// firing of nine o'clock, as the scheduler tells it.
func firing(id string) contract.RunSchedule {
	return contract.RunSchedule{ScheduleID: id, At: "2026-01-01T09:00:00Z"}
}

// row of that firing.
func row(t *testing.T, s *stage.Stage) schedule.FiringRow {
	t.Helper()
	at, _ := firing("alerts").At.Time()
	f, err := s.Edges.Table.Firing(context.Background(), key.Firing("alerts", at.UnixMilli()))
	if err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	return f
}

func TestFileFires(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Program = program(t, idle)
		first, err := s.RunSchedule().Do(ctx, firing("heartbeat"))
		must(t, err)
		late := firing("heartbeat")
		late.At = "2026-01-01T09:00:41Z" // the same minute
		again, err := s.RunSchedule().Do(ctx, late)
		must(t, err, s.Drain(ctx))
		if diff := cmp.Diff(first, again); diff != "" || len(first.SessionIDs) != 1 {
			t.Fatalf("%v, the same firing again (-first +again):\n%s", first, diff)
		}
		story := s.Story(first.SessionIDs[0])
		for _, line := range []string{"session.started", "message.received Beat.", "turn.completed ok", "session.completed"} {
			if !strings.Contains(story, line) {
				t.Errorf("no %q in:\n%s", line, story)
			}
		}
		must(t, s.Check(first.SessionIDs[0]))
		if st := s.State(first.SessionIDs[0]); st.Principal != schedule.Principal("heartbeat") || st.Channel != "schedule" {
			t.Errorf("state %+v", st)
		}
		if _, err := s.Send(ctx, first.SessionIDs[0], "and?", func(in *flow.AdmitIn) { in.Caller = schedule.Principal("heartbeat") }); fault.ReasonOf(err) != "task_session" {
			t.Errorf("a follow-up = %v, want task_session", err)
		}
	})
}

func idle(context.Context, schedule.Run) error { return nil }

// TestIDOfAFiringIsTaken: somebody else's session has the id; the firing runs all the same.
func TestIDOfAFiringIsTaken(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Program = program(t, idle)
		taken := "schedule-heartbeat-20260101T090000.000"
		_, err := s.Send(ctx, taken, "mine")
		must(t, err)
		ran, err := s.RunSchedule().Do(ctx, firing("heartbeat"))
		must(t, err, s.Drain(ctx))
		if len(ran.SessionIDs) != 1 || ran.SessionIDs[0] == taken || s.State(taken).Principal != stage.User {
			t.Errorf("ran %v", ran)
		}
	})
}

func TestFiringsThatDoNotRun(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Program = program(t, idle)
		off := s.RunSchedule()
		off.Off = true
		none := contract.ScheduleRan{ScheduleID: "heartbeat", SessionIDs: []string{}}
		got, err := off.Do(ctx, firing("heartbeat"))
		must(t, err)
		if diff := cmp.Diff(none, got); diff != "" {
			t.Errorf("where schedules are off (-want +got):\n%s", diff)
		}
		none.ScheduleID = "gone"
		got, err = s.RunSchedule().Do(ctx, firing("gone"))
		must(t, err)
		if diff := cmp.Diff(none, got); diff != "" {
			t.Errorf("one that is gone (-want +got):\n%s", diff)
		}
		if _, err := (flow.DispatchSchedule{RunSchedule: off}).Do(ctx, "gone"); !fault.Is(err, fault.NotFound) {
			t.Errorf("one that is gone, by hand = %v, want NotFound", err)
		}
		if _, err := s.RunSchedule().Do(ctx, contract.RunSchedule{ScheduleID: "heartbeat", At: "nine"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("at no instant = %v, want Invalid", err)
		}
		first, err := flow.DispatchSchedule{RunSchedule: off}.Do(ctx, "heartbeat")
		must(t, err)
		s.Clock.Advance(time.Second)
		second, err := flow.DispatchSchedule{RunSchedule: off}.Do(ctx, "heartbeat")
		must(t, err)
		if len(first.SessionIDs) != 1 || len(second.SessionIDs) != 1 || first.SessionIDs[0] == second.SessionIDs[0] {
			t.Errorf("twice by hand: %v, %v, want a session for each", first, second)
		}
	})
}

// TestHandler: it acts as itself, hands work into a channel and calls tools, once for each firing.
func TestHandler(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		runs := 0
		s.Program = program(t, func(ctx context.Context, r schedule.Run) error {
			runs++
			answer, err := r.CallTool(ctx, "look_up", map[string]string{"text": "a"})
			if err != nil || len(answer) == 0 {
				t.Errorf("CallTool = %s, %v", answer, err)
			}
			if _, err := r.CallTool(ctx, "none", nil); !fault.Is(err, fault.NotFound) {
				t.Errorf("a tool that is not there = %v", err)
			}
			if _, err := r.CallTool(ctx, "units.convert", nil); !fault.Is(err, fault.NotFound) {
				t.Errorf("a server where there is none = %v", err)
			}
			if r.AppAuth != schedule.Principal("alerts") || r.ScheduleID != "alerts" || r.At.Hour() != 9 {
				t.Errorf("run %+v", r)
			}
			for _, m := range []contract.Message{{Text: "one", ContinuationToken: "k"}, {Text: "two", ContinuationToken: "k"}, {Text: "alone"}} {
				if _, err := r.Receive(ctx, webhook, m); err != nil {
					return err
				}
			}
			return nil
		})
		ran, err := s.RunSchedule().Do(ctx, firing("alerts"))
		must(t, err, s.Drain(ctx))
		again, err := s.RunSchedule().Do(ctx, firing("alerts"))
		must(t, err)
		if diff := cmp.Diff(ran, again); diff != "" || runs != 1 || len(ran.SessionIDs) != 2 {
			t.Fatalf("%d runs, %v, again (-first +again):\n%s", runs, ran, diff)
		}
		story := s.Story(ran.SessionIDs[0])
		if !strings.Contains(story, "one") || !strings.Contains(story, "two") || !strings.Contains(s.Story(ran.SessionIDs[1]), "alone") {
			t.Errorf("stories:\n%s\n%s", story, s.Story(ran.SessionIDs[1]))
		}
		must(t, s.Check(ran.SessionIDs...))
		if st := s.State(ran.SessionIDs[0]); st.Channel != "webhook" || st.Principal != schedule.Principal("alerts") {
			t.Errorf("state %+v", st)
		}
	})
}

func TestHandlersThatFail(t *testing.T) {
	for want, run := range map[string]func(context.Context, schedule.Run) error{
		"boom":        func(context.Context, schedule.Run) error { return errors.New("boom") },
		"panic: ouch": func(context.Context, schedule.Run) error { panic("ouch") },
	} {
		bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			s.Program = program(t, run)
			for range 2 {
				got, err := s.RunSchedule().Do(ctx, firing("alerts"))
				if must(t, err); got.Error != want {
					t.Errorf("Do = %+v, want the error %q", got, want)
				}
			}
			if f := row(t, s); f.Status != schedule.FiringDone || f.Error != want || f.DueSK != "" {
				t.Errorf("row %+v", f)
			}
		})
	}
}

// TestHandlerThatTakesTooLong is told so before its lease ends.
func TestHandlerThatTakesTooLong(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Program = program(t, func(ctx context.Context, _ schedule.Run) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		got, err := s.RunSchedule().Do(ctx, firing("alerts"))
		if must(t, err); got.Error == "" || row(t, s).Status != schedule.FiringDone {
			t.Errorf("Do = %+v, row %+v", got, row(t, s))
		}
	})
}

func TestReceive(t *testing.T) {
	ada, ben := schedule.Principal("ada"), schedule.Principal("ben")
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		receive := func(caller contract.Principal, m contract.Message) (contract.Delivery, error) {
			return flow.Receive{Edges: s.Edges}.Do(ctx, flow.ReceiveIn{Channel: "gh", Caller: caller, Message: m})
		}
		first, err := receive(ada, contract.Message{Text: "one", ContinuationToken: "pr:1", DeliveryID: "d-1"})
		must(t, err)
		again, err := receive(ada, contract.Message{Text: "one", ContinuationToken: "pr:1", DeliveryID: "d-1"})
		must(t, err)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the same delivery (-first +again):\n%s", diff)
		}
		must(t, s.Drain(ctx))
		next, err := receive(ada, contract.Message{Text: "two", ContinuationToken: "pr:1"})
		must(t, err, s.Drain(ctx))
		if next.SessionID != first.SessionID {
			t.Errorf("the same key leads to %s, then %s", first.SessionID, next.SessionID)
		}
		byID, err := receive(ada, contract.Message{Text: "three", SessionID: first.SessionID})
		must(t, err, s.Drain(ctx))
		if byID.SessionID != first.SessionID || !strings.Contains(s.Story(first.SessionID), "three") {
			t.Errorf("by its id: %v", byID)
		}
		if _, err := receive(ben, contract.Message{Text: "x", ContinuationToken: "pr:1"}); !fault.Is(err, fault.Denied) {
			t.Errorf("somebody else = %v, want Denied", err)
		}
		alone, err := receive(ada, contract.Message{Text: "x", DeliveryID: "d-2"})
		must(t, err)
		if same, err := receive(ada, contract.Message{Text: "x", DeliveryID: "d-2"}); err != nil || same.SessionID != alone.SessionID {
			t.Errorf("one of its own, again: %v, %v, want %v", same, err, alone)
		}
		_, err = s.Send(ctx, "channel-gh-"+key.Hash("d-3"), "mine")
		must(t, err)
		if own, err := receive(ada, contract.Message{Text: "x", DeliveryID: "d-3"}); err != nil || s.State(own.SessionID).Principal != ada {
			t.Errorf("one of its own, whose id somebody has: %v, %v", own, err)
		}
		_, err = flow.DeleteSession{Edges: s.Edges}.Do(ctx, flow.SessionOf{SessionID: first.SessionID, Caller: ada})
		must(t, err)
		anew, err := receive(ada, contract.Message{Text: "anew", ContinuationToken: "pr:1"})
		if must(t, err, s.Drain(ctx)); anew.SessionID == first.SessionID {
			t.Error("the key of a deleted conversation leads to it")
		}
		for name, m := range map[string]contract.Message{
			"empty": {Text: " "}, "both": {Text: "x", SessionID: "s", ContinuationToken: "k"}, "admission": {Text: "x", Admission: "maybe"},
			"key": {Text: "x", ContinuationToken: "\x00"},
		} {
			if _, err := receive(ada, m); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s = %v, want Invalid", name, err)
			}
		}
		if _, err := (flow.Receive{Edges: s.Edges}).Do(ctx, flow.ReceiveIn{Channel: "a#b", Caller: ada, Message: contract.Message{Text: "x"}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a channel with a # = %v, want Invalid", err)
		}
	})
}

// counted is a program whose handler writes to a channel, and how often it ran.
func counted(t *testing.T, p *stage.Play) *int {
	runs := new(int)
	p.Program = program(t, func(ctx context.Context, r schedule.Run) error {
		if fake.Killed(ctx) {
			return ctx.Err()
		}
		*runs++
		_, err := r.Receive(ctx, webhook, contract.Message{Text: "look", ContinuationToken: "k"})
		return err
	})
	return runs
}

// once reports a firing of the handler that ran twice, or that did not run although nobody died in it, or that is not at rest.
func once(t *testing.T, p *stage.Play, runs *int, killed bool) error {
	f := row(t, p.Stage)
	switch {
	case *runs > 1:
		return fmt.Errorf("it ran %d times", *runs)
	case f.Status == schedule.FiringDone && *runs != 1, f.Status != schedule.FiringDone && f.Status != schedule.FiringLost:
		return fmt.Errorf("it ran %d times and is %q", *runs, f.Status)
	case f.DueSK != "" || f.Owner != "":
		return fmt.Errorf("it is not at rest: %+v", f)
	case f.Status == schedule.FiringLost && !killed && !died(p.World):
		return errors.New("it is lost, and nobody died after it had started")
	}
	return p.Check(f.Sessions...)
}

// died reports whether a worker's call had an error: only then may a firing be lost.
func died(w *fake.World) bool {
	for _, c := range w.Calls() {
		if c.Err != nil {
			return true
		}
	}
	return false
}

// TestP21ExploreFirings: wherever its worker or an answer is lost, delivered once or twice, a file's firing is one session that ends, and a
// handler's runs once, or is told to be lost.
func TestP21ExploreFirings(t *testing.T) {
	fire := func(s *stage.Stage, id string) func(context.Context) error {
		return func(ctx context.Context) error {
			return s.Edges.Bus.Publish(ctx, bus.Event{DetailType: contract.RunScheduleType, Detail: firing(id)})
		}
	}
	for _, copies := range []int{0, 1} {
		fake.Explore(t, fake.Flow{Name: fmt.Sprintf("file, %d copies", copies), Pairs: 40, Seed: 3, New: func() *fake.Run {
			p := &stage.Play{Stage: stage.New(&fake.Model{Answer: helpful})}
			p.Program = program(t, idle)
			p.Bus.Duplicate = func(fake.Event) int { return copies }
			p.Acts = []func(context.Context) error{fire(p.Stage, "heartbeat")}
			const session = "schedule-heartbeat-20260101T090000.000"
			return p.Run(func() string { return undisturbed(p).Story(session) + fmt.Sprint(sessionsOf(p.Stage)) }, func() error { return p.Check(session) })
		}})
		fake.Explore(t, fake.Flow{Name: fmt.Sprintf("handler, %d copies", copies), Pairs: 40, Seed: 3, New: func() *fake.Run {
			p := &stage.Play{Stage: stage.New(&fake.Model{})}
			runs := counted(t, p)
			p.Bus.Duplicate = func(fake.Event) int { return copies }
			p.Acts = []func(context.Context) error{fire(p.Stage, "alerts")}
			return p.Run(nil, func() error { return once(t, undisturbed(p), runs, false) })
		}})
	}
}

// undisturbed lets the test itself read in peace what the world has come to.
func undisturbed(p *stage.Play) *stage.Play {
	p.Dynamo.World = nil
	return p
}

// sessionsOf are the partitions of sessions.
func sessionsOf(s *stage.Stage) (ids []string) {
	for _, row := range s.Dynamo.Items("SESSION#") {
		if pk := strings.Trim(attr.Text(row[key.PK]), `"`); len(ids) == 0 || ids[len(ids)-1] != pk {
			ids = append(ids, pk)
		}
	}
	return ids
}

// TestExploreHostsThatMeet: two and three hosts get the same firing at the same time; one may die, or be slow.
func TestExploreHostsThatMeet(t *testing.T) {
	for _, c := range []struct {
		id      string
		workers int
		kill    bool
		slow    time.Duration
	}{{"heartbeat", 2, true, 0}, {"heartbeat", 3, false, 0}, {"alerts", 2, true, 0}, {"alerts", 2, false, 40 * time.Second}, {"alerts", 3, true, 0}} {
		name := fmt.Sprintf("%s on %d hosts, killed %t, slow %s", c.id, c.workers, c.kill, c.slow)
		t.Run(name, func(t *testing.T) {
			fake.ExploreSteps(t, fake.Steps{Name: name, Kill: c.kill, Slow: c.slow, Cap: 300, Random: 100, Seed: 5, New: func() *fake.Meeting {
				p := &stage.Play{Stage: stage.New(&fake.Model{})}
				runs := counted(t, p)
				m := &fake.Meeting{World: p.World, Recover: p.Stage.Recover, Check: func() error {
					if c.id == "alerts" {
						return once(t, p, runs, c.kill)
					}
					ids := sessionsOf(p.Stage)
					if len(ids) != 1 {
						return fmt.Errorf("sessions %v", ids)
					}
					return p.Check(strings.TrimPrefix(ids[0], "SESSION#"))
				}}
				for range c.workers {
					m.Workers = append(m.Workers, func(ctx context.Context) error {
						_, err := p.RunSchedule().Do(ctx, firing(c.id))
						return err
					})
				}
				return m
			}})
		})
	}
}
