package agency_test

import (
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

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
