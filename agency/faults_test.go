package agency_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// The faults of the TypeScript package that must not come back, by their number.

// isolated gives a test a world in a bubble, where waiting costs no time.
func isolated(t *testing.T, change func(*definition), test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(change)) })
}

// settle plays rounds until nothing is left to do.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 200 {
		before := w.Effects()
		if err := w.round(t.Context()); err == nil && w.Effects() == before {
			return
		}
	}
	t.Fatal("finds no end")
}

// sound fails the test unless everything is at rest.
func (w *world) sound(t *testing.T) {
	t.Helper()
	if err := w.check(); err != nil {
		t.Error(err)
	}
}

// request is a task for an agent.
func request(id, agentID, kind string) task.Request {
	return task.Request{
		TaskID: id, Principal: task.System("reviewer/" + agentID), Request: "Do it.",
		Trigger: &task.Trigger{Kind: kind, AgentID: agentID, EventID: "evt-" + id, DetailType: "Test"},
	}
}

func (w *world) status(t *testing.T, id string) task.Task {
	t.Helper()
	got, err := w.table.TaskOrNone(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func nothing(*ctxOf) error { return nil }

// 1: what follows the claim is guarded: deliveries at once, a scope that throws, a hand-back that fails, a claim whose answer is lost.
func TestFault01NothingStaysRunning(t *testing.T) {
	t.Run("fifty deliveries for one agent at once", func(t *testing.T) {
		isolated(t, nil, func(t *testing.T, w *world) {
			w.review = nothing
			var all sync.WaitGroup
			for n := range 50 {
				all.Go(func() {
					if _, err := w.agent.Deliver(t.Context(), request(fmt.Sprint("t", n), "ann", "review"), ""); err != nil && !agency.IsRetryable(err) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			w.settle(t)
			w.sound(t)
			for n := range 50 {
				if got := w.status(t, fmt.Sprint("t", n)); got.Status != task.Completed {
					t.Errorf("task %d is %s: %s", n, got.Status, got.Error)
				}
				if ran := w.ended[fmt.Sprint("t", n)]; ran != 1 {
					t.Errorf("task %d ran %d times", n, ran)
				}
			}
		})
	})
	throws := true
	scope := func(d *definition) {
		throws = true
		d.Scope = func(context.Context, string) (string, error) {
			if throws {
				throws = false
				return "", fault.New(fault.Unavailable, "scope")
			}
			return "", nil
		}
	}
	tests := []struct {
		name   string
		change func(*definition)
		plan   []fake.Disturbance
	}{
		{"the scope throws", scope, nil},
		{"so does the hand-back", scope, []fake.Disturbance{{Name: "dynamo.UpdateItem", Mode: fake.Fail}}},
		{"the answer to the claim is lost", nil, []fake.Disturbance{{Name: "dynamo.PutItem", Mode: fake.LoseAnswer}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, tt.change, func(t *testing.T, w *world) {
				w.review = nothing
				for _, d := range tt.plan {
					w.Disturb(d)
				}
				if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err == nil {
					t.Fatal("Deliver = nil, want an error")
				}
				w.settle(t)
				w.sound(t)
				if got := w.status(t, "t1"); got.Status != task.Completed || w.ended["t1"] != 1 {
					t.Errorf("%s after %d runs, want COMPLETED after 1", got.Status, w.ended["t1"])
				}
			})
		})
	}
}

// 2: an outage of the bus loses no completion and fills no document.
func TestFault02AnOutageOwesOnTheTasks(t *testing.T) {
	isolated(t, func(d *definition) { d.TaskCap = agency.NoTaskCap }, func(t *testing.T, w *world) {
		w.review = nothing
		over := w.clock.Now().Add(time.Hour)
		w.bus.FailEntry = func(fake.Event) string {
			if w.clock.Now().Before(over) {
				return "InternalFailure"
			}
			return ""
		}
		const n = 1000 // the package remembers 100
		for i := range n {
			if _, err := w.agent.Deliver(t.Context(), request(fmt.Sprint("t", i), "ann", "review"), ""); err == nil {
				t.Fatal("the bus is down, yet Deliver succeeded")
			}
		}
		for _, row := range w.dynamo.Items("AGENT#") {
			if size := len(fmt.Sprint(row)); size > 20_000 {
				t.Errorf("a document of about %d bytes", size)
			}
		}
		w.settle(t)
		w.sound(t)
		if told := len(w.bus.Of(contract.AgentTaskCompleted)); told < n || w.clock.Now().Before(over) {
			t.Errorf("%d of %d completions told by %s", told, n, w.clock.Now())
		}
	})
}

// 3: the delivery that failed does not run again; its owed failure is told; a capped task is final.
func TestFault03AFailureIsFinalForItsDelivery(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		runs := 0
		w.review = func(*ctxOf) error { runs++; return errors.New("bad input") }
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail})
		r := request("t1", "ann", "review")
		if _, err := w.agent.Deliver(t.Context(), r, ""); err == nil {
			t.Fatal("the failure could not be told, yet Deliver succeeded")
		}
		for range 3 {
			got, err := w.agent.Deliver(t.Context(), r, "")
			if err != nil || got.Status != task.Failed || got.Error != "bad input" {
				t.Fatalf("Deliver again = %+v, %v", got, err)
			}
		}
		if told := len(w.bus.Of(contract.AgentTaskCompleted)); runs != 1 || told != 1 {
			t.Errorf("%d runs, told %d times, want once each", runs, told)
		}
		r.DeliveryID = "on purpose"
		if _, err := w.agent.Deliver(t.Context(), r, ""); err != nil || runs != 2 {
			t.Errorf("another delivery: %d runs, %v, want a second run", runs, err)
		}
	})
	t.Run("capped", func(t *testing.T) {
		isolated(t, func(d *definition) { d.TaskCap = 1 }, func(t *testing.T, w *world) {
			w.review = nothing
			for _, id := range []string{"t1", "t2"} {
				if _, err := w.agent.Deliver(t.Context(), request(id, "ann", "review"), ""); err != nil {
					t.Fatal(err)
				}
			}
			w.clock.Advance(25 * time.Hour) // the window is over, the row still there
			got, err := w.agent.Deliver(t.Context(), request("t2", "ann", "review"), "")
			if err != nil || !strings.HasPrefix(got.Error, "Task cap reached") || w.ended["t2"] != 0 || len(w.bus.Of(contract.AgentTaskCompleted)) != 2 {
				t.Errorf("Deliver = %+v, %v after %d runs, want the cap's failure, told once", got, err, w.ended["t2"])
			}
		})
	})
}

// 4: a promise and its task are one write; when the bus fails the sweep sends.
func TestFault04APromiseIsNeverWithoutItsTask(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail})
		if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || got.Status != task.Completed {
			t.Fatalf("Deliver = %+v, %v", got, err)
		}
		w.settle(t)
		w.sound(t)
		if b := w.book("ann"); len(b) != 1 || b[0].Status != agency.CommitmentFulfilled {
			t.Errorf("book %+v, want the promise kept", b)
		}
	})
}

// 5: types and rules whose ids would collide are refused, or namespaced.
func TestFault05TaskIDsDoNotCollide(t *testing.T) {
	named := func(name string, ids agency.TaskIDs) *agency.Agent {
		w := newWorld(func(d *definition) { d.Name, d.TaskIDs = name, ids })
		return w.agent
	}
	err := agency.HostTogether(named("reviewer", agency.ReferenceIDs), named("tester", agency.ReferenceIDs))
	if err == nil || !strings.Contains(fmt.Sprint(err), "reviewer") || !strings.Contains(fmt.Sprint(err), "tester") {
		t.Errorf("HostTogether = %v, want both named", err)
	}
	if err := agency.HostTogether(named("reviewer", agency.NamespacedIDs), named("tester", agency.NamespacedIDs), named("third", "")); err != nil {
		t.Errorf("HostTogether of namespaced types = %v", err)
	}
	isolated(t, nil, func(t *testing.T, w *world) {
		d := w.definition(nil)
		d.Rules = append(d.Rules, d.Rules[0])
		if _, err := agency.Define(d); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "share task ids") {
			t.Errorf("Define with one rule twice = %v", err)
		}
	})
	ids := map[string]bool{}
	for _, name := range []string{"reviewer", "tester"} {
		isolated(t, func(d *definition) { d.Name, d.TaskIDs = name, agency.NamespacedIDs }, func(t *testing.T, w *world) {
			decisions, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Deadline Near"})
			if err != nil || len(decisions) != 1 || ids[decisions[0].TaskID] {
				t.Errorf("Route = %v, %v, want an id of its own", decisions, err)
			}
			ids[decisions[0].TaskID] = true
		})
	}
}

// 6: a promise that is to be kept later is not lost meanwhile.
func TestFault06ADelayedPromiseIsNotResumedEarly(t *testing.T) {
	now := fake.Start()
	draft := agency.CommitmentDraft[intent]{Kind: "investigate", At: now, TaskID: "look", TaskDueAt: now.Add(6 * time.Hour), Counterpart: "zoe", ExpiresAt: now.Add(48 * time.Hour)}
	book, _ := agency.OpenCommitment(agency.CommitmentBook[intent]{}, draft, agency.CommitmentLimits{})
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{2 * time.Hour, 0}, {7*time.Hour - time.Millisecond, 0}, {7 * time.Hour, 1}} {
		if due := agency.DueCommitments(stored(t, book), now.Add(tt.after), nil, agency.CommitmentLimits{}); due.Len() != tt.want {
			t.Errorf("after %s: %d due, want %d", tt.after, due.Len(), tt.want)
		}
	}
}

// 7: a look that began and failed is closed, and queued again if its task is.
func TestFault07AFailedLookBlocksNobody(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		after agency.CommitmentStatus
		end   agency.CommitmentStatus
	}{
		{"for good", errors.New("no such test"), agency.CommitmentFailed, agency.CommitmentFailed},
		{"to be tried again", fault.New(fault.Unavailable, "slow down"), agency.CommitmentQueued, agency.CommitmentFulfilled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, nil, func(t *testing.T, w *world) {
				failed := false
				var seen agency.CommitmentStatus
				w.verdict = func(c *ctxOf, com agency.Commitment[intent]) error {
					if failed {
						seen = com.Status
					}
					if _, err := c.AdvanceCommitment(com.ID, agency.Start{}); err != nil {
						return err
					}
					if !failed {
						failed = true
						return tt.err
					}
					_, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled})
					return err
				}
				if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
					t.Fatal(err)
				}
				w.settle(t)
				w.sound(t)
				b := w.book("ann")
				if len(b) != 1 || b[0].Status != tt.end || seen != "" && seen != tt.after {
					t.Fatalf("book %+v, seen %q on the second try", b, seen)
				}
				if tt.end == agency.CommitmentFailed && b[0].Decision.Reason != "task_failed" {
					t.Errorf("decision %+v", b[0].Decision)
				}
			})
		})
	}
}

// 8: a gate is never taken for a task that is not sent.
func TestFault08AGateBelongsToATask(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Mode: fake.Fail, Times: 2})
		decisions, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Pull Request Opened"})
		if err != nil || len(decisions) != 2 || decisions[1].Decision != agency.Requested {
			t.Fatalf("Route = %v, %v", decisions, err)
		}
		w.settle(t) // evt-1 never comes again
		w.sound(t)
		if n := len(w.ended); n != 2 {
			t.Errorf("%d tasks ran, want 2", n)
		}
	})
}

// 9: a redelivery extends no cooldown; what comes in a cooldown may wait for its end, once.
func TestFault09CooldownsEndWhenTheyEnd(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		route := func(id, detailType string) agency.Decision {
			t.Helper()
			d, err := w.agent.Route(t.Context(), contract.RawEvent{ID: id, Source: "app", DetailType: detailType})
			if err != nil {
				t.Fatal(err)
			}
			return d[0]
		}
		route("evt-1", "Pull Request Opened")
		w.clock.Advance(10 * time.Minute)
		if d := route("evt-1", "Pull Request Opened"); d.Decision != agency.AlreadyDispatched {
			t.Errorf("a redelivery: %v", d.Decision)
		}
		first, second := route("evt-2", "Comment Added"), route("evt-3", "Comment Added")
		if first.Decision != agency.Deferred || second.Decision != agency.Deferred || first.TaskID != second.TaskID || first.Delay != 5*time.Minute {
			t.Errorf("in the cooldown: %+v and %+v, want one task in 5m", first, second)
		}
		w.settle(t)
		w.sound(t)
		if w.ended[first.TaskID] != 1 || len(w.ended) != 3 {
			t.Errorf("ran %v, want ann, bob and one deferred", w.ended)
		}
	})
}

// 10: where clocks change at midnight, each day has its own date.
func TestFault10EveryDayHasItsCheckIn(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(func(d *definition) {
		d.CheckIn.Schedule = agency.CheckInSchedule{TimeZone: "America/Santiago", Slots: []agency.CheckInSlot{{Slot: "midnight", Hour: 0, Minute: 30}}}
	})
	var dates []string
	for day := 4; day <= 8; day++ { // clocks jump in the night to 6 September 2026
		e, err := w.agent.CheckInEvent(time.Date(2026, 9, day, 12, 0, 0, 0, zone))
		if err != nil {
			t.Fatal(err)
		}
		dates = append(dates, read[struct{ Date string }](t, e.Detail).Date)
	}
	if want := []string{"2026-09-04", "2026-09-05", "2026-09-06", "2026-09-07", "2026-09-08"}; !slices.Equal(dates, want) {
		t.Errorf("dates %v, want %v", dates, want)
	}
}

// 11: a need still reported is never completed; no epoch keeps the epoch; a fast clock elsewhere makes no observation stale.
func TestFault11ObservationsAreBelieved(t *testing.T) {
	isolated(t, func(d *definition) { d.AgendaLimits = agency.AgendaLimits{Active: 1, History: 12} }, func(t *testing.T, w *world) {
		w.review = nothing
		k := agency.StateKey{AgentID: "ann", Name: "reviewer.agenda"}
		s := agency.TableStore{Table: w.table}
		_, err := agency.UpdateState(t.Context(), s, k, func(a agency.Agenda[need]) (agency.Agenda[need], error) {
			o := agency.Observation[need]{At: contract.At(w.clock.Now().Add(time.Hour)), Epoch: new("5")} // that host's clock is fast
			o.Add("pr:1", "review", need{1})
			o.Add("pr:7", "review", need{7})
			return agency.ReconcileAgenda(a, o, agency.AgendaLimits{}), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
			t.Fatal(err)
		}
		got, err := agency.ReadState[agency.Agenda[need]](t.Context(), s, k)
		if err != nil || len(got.Value.Goals) != 2 || got.Value.Epoch == nil || *got.Value.Epoch != "5" {
			t.Fatalf("agenda %+v, %v, want epoch 5 and two goals", got.Value, err)
		}
		if g := got.Value.Goals; g[0].ID != "pr:7" || g[0].Status != agency.GoalActive || g[1].Status != agency.GoalCompleted {
			t.Errorf("goals %+v, want pr:7 active and pr:1 completed", g)
		}
	})
	t.Run("limit", func(t *testing.T) {
		isolated(t, func(d *definition) {
			d.AgendaLimits = agency.AgendaLimits{Active: 2, History: 12}
			observe := func(c *ctxOf) (o agency.Observation[need], err error) {
				o.Add("pr:1", "review", need{1})
				o.Add("pr:2", "review", need{2})
				return o, nil
			}
			d.Observe = observe
		}, func(t *testing.T, w *world) {
			w.review = nothing
			if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
				t.Fatal(err)
			}
			d := w.definition(func(d *definition) {
				d.AgendaLimits = agency.AgendaLimits{Active: 1, History: 12}
				d.Observe = func(c *ctxOf) (o agency.Observation[need], err error) {
					o.Add("pr:1", "review", need{1})
					o.Add("pr:2", "review", need{2})
					return o, nil
				}
			})
			lower, err := agency.Define(d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := lower.Deliver(t.Context(), request("t2", "ann", "review"), ""); err != nil {
				t.Fatal(err)
			}
			got, err := agency.ReadState[agency.Agenda[need]](t.Context(), agency.TableStore{Table: w.table}, agency.StateKey{AgentID: "ann", Name: "reviewer.agenda"})
			if err != nil || len(got.Value.Goals) != 2 || got.Value.Goals[1].Status != agency.GoalCancelled {
				t.Errorf("goals %+v, %v, want pr:2 cancelled, not completed", got.Value.Goals, err)
			}
		})
	})
}

// 12: limits hold for reconsidering too; an unreadable deadline is invalid.
func TestFault12LimitsHoldEverywhere(t *testing.T) {
	now := fake.Start()
	limits := agency.DefaultCommitmentLimits
	limits.Active = 1
	draft := func(ref string) agency.CommitmentDraft[intent] {
		return agency.CommitmentDraft[intent]{Kind: "investigate", At: now, TaskID: "look-" + ref, Counterpart: ref, Source: agency.Said{Ref: ref}, ExpiresAt: now.Add(96 * time.Hour)}
	}
	book, _ := agency.OpenCommitment(agency.CommitmentBook[intent]{}, draft("a"), limits)
	book, _ = agency.AdvanceCommitment(book, "investigate:a", agency.Closed{TaskID: "look-a", Status: agency.CommitmentDeclined, Reconsider: true}, now, limits)
	book, _ = agency.OpenCommitment(book, draft("b"), limits)
	again := agency.Redispatch{TaskID: "look-a2", Mode: agency.Reconsider}
	if _, applied := agency.AdvanceCommitment(book, "investigate:a", again, now.Add(13*time.Hour), limits); applied {
		t.Error("reconsidered over the limit")
	}
	book, _ = agency.AdvanceCommitment(book, "investigate:b", agency.Closed{TaskID: "look-b", Status: agency.CommitmentFulfilled}, now, limits)
	if _, applied := agency.AdvanceCommitment(book, "investigate:a", again, now.Add(13*time.Hour), limits); !applied {
		t.Error("not reconsidered although there is room")
	}
	unreadable := draft("c")
	unreadable.ExpiresAt = time.Time{}
	if _, outcome := agency.OpenCommitment(book, unreadable, limits); outcome != agency.OpenInvalid {
		t.Errorf("a promise without a deadline: %s", outcome)
	}
}

// 13: a duplicate is answered with the task's id; gates and dispatches outlive the tasks' rows.
func TestFault13DuplicatesAreKnown(t *testing.T) {
	isolated(t, nil, func(t *testing.T, w *world) {
		w.review = nothing
		for range 2 {
			if got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil || got.TaskID != "t1" || got.Status != task.Completed {
				t.Errorf("Deliver = %+v, %v", got, err)
			}
		}
		if got := w.status(t, "t1"); got.TaskID != "t1" {
			t.Errorf("the row names %q", got.TaskID)
		}
		e := contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Pull Request Opened"}
		w.events = append(w.events, e)
		w.settle(t)
		w.clock.Advance(40 * 24 * time.Hour) // rows of tasks are long gone, and 30 days over
		d, err := w.agent.Route(t.Context(), e)
		if err != nil || d[0].Decision != agency.AlreadyDispatched {
			t.Errorf("after 40 days the same event: %v, %v", d, err)
		}
	})
}

// 14: only the type itself sends check-ins; a pause may hold tasks.
func TestFault14NoForgeryAndNoSilentLoss(t *testing.T) {
	isolated(t, func(d *definition) { d.Sources = []string{"app"} }, func(t *testing.T, w *world) {
		e, err := w.agent.CheckInEvent(w.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			source string
			want   int
		}{{"somebody", 0}, {"app", 0}, {w.agent.Source(), 1}} {
			e.ID, e.Source = "ci-"+tt.source, tt.source
			if d, err := w.agent.Route(t.Context(), e); err != nil || len(d) != tt.want {
				t.Errorf("a check-in from %s: %v, %v, want %d decisions", tt.source, d, err, tt.want)
			}
		}
		e.DetailType, e.Source = "Deadline Near", "somebody"
		if d, err := w.agent.Route(t.Context(), e); err != nil || len(d) != 0 {
			t.Errorf("an event of a source that is not listed: %v, %v", d, err)
		}
	})
	t.Run("dropped after it was promised", func(t *testing.T) {
		isolated(t, nil, func(t *testing.T, w *world) {
			if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil {
				t.Fatal(err)
			}
			if err := w.table.PauseAgency(t.Context(), "reviewer", true); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(10 * time.Second) // the worker has read of the pause
			w.settle(t)
			w.sound(t)
			if b := w.book("ann"); len(b) != 1 || b[0].Status != agency.CommitmentQueued {
				t.Fatalf("book %+v, want the promise queued", b)
			}
			if err := w.table.PauseAgency(t.Context(), "reviewer", false); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(2 * time.Hour)
			if _, err := w.agent.Deliver(t.Context(), request("ci", "ann", "check_in"), ""); err != nil {
				t.Fatal(err)
			}
			w.settle(t)
			w.sound(t)
			if b := w.book("ann"); b[0].Status != agency.CommitmentFulfilled || len(b[0].ChildTaskIDs) != 2 {
				t.Errorf("book %+v, want the promise resumed and kept", b)
			}
		})
	})
	for _, tt := range []struct {
		onPause agency.OnPause
		runs    int
	}{{agency.DropTasks, 0}, {agency.HoldTasks, 2}} {
		t.Run("paused "+string(tt.onPause), func(t *testing.T) {
			isolated(t, func(d *definition) { d.OnPause = tt.onPause }, func(t *testing.T, w *world) {
				w.review = nothing
				if err := w.table.PauseAgency(t.Context(), "reviewer", true); err != nil {
					t.Fatal(err)
				}
				if err := w.send(t.Context(), "evt-1", "Pull Request Opened"); err != nil {
					t.Fatal(err)
				}
				w.events = nil
				for range 5 {
					if err := w.round(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if len(w.ended) != 0 {
					t.Fatalf("%d ran while paused", len(w.ended))
				}
				if err := w.table.PauseAgency(t.Context(), "reviewer", false); err != nil {
					t.Fatal(err)
				}
				w.clock.Advance(10 * time.Second)
				w.settle(t)
				w.sound(t)
				if len(w.ended) != tt.runs {
					t.Errorf("%d ran after the pause, want %d", len(w.ended), tt.runs)
				}
			})
		})
	}
}
