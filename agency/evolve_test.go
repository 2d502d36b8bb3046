package agency_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/task"
)

// An agent type whose needs and intents have become others goes on living with what it stored before: goals are observed anew, and only
// the task of a promise that cannot be read fails. Nothing that is stored is lost.
func TestTypesChange(t *testing.T) {
	type newNeed struct{ PR string }
	type newIntent struct{ Test time.Time }
	type newCtx = agency.Context[string, newNeed, newIntent]
	isolated(t, nil, func(t *testing.T, w *world) {
		if _, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), ""); err != nil { // a goal pr:7, and a promise, whose task comes later
			t.Fatal(err)
		}
		before := w.book("ann")[0]
		var seen []string
		later, err := agency.Define(agency.Definition[string, newNeed, newIntent]{
			Name: "reviewer", Table: w.table, Bus: bus.Bus{EventBridge: w.bus}, Now: w.clock.Now, NoResponseDelays: true, Profile: w.definition(nil).Profile,
			Tasks: map[string]func(*newCtx) (string, error){
				"review": func(c *newCtx) (string, error) {
					seen = c.AgendaLines(func(g agency.Goal[newNeed]) string { return g.Data.PR })
					due := c.DueCommitments(func(agency.Commitment[newIntent]) bool { return true })
					if old, _ := (agency.CommitmentBook[newIntent]{Commitments: c.Commitments}).Find("investigate:c-ann"); due.Len() != 0 || old.Unreadable() == nil {
						t.Errorf("due %+v of %+v", due, c.Commitments)
					}
					made, err := c.Promise(agency.Promise[newIntent]{Kind: "investigate", Counterpart: "yan", Source: agency.Said{Ref: "new"}, ExpiresAt: c.Now.Add(time.Hour)})
					return string(made), err
				},
				"investigate": agency.WithCommitment(func(*newCtx, agency.Commitment[newIntent]) (string, error) { return "looked", nil }),
			},
			Observe: func(*newCtx) (o agency.Observation[newNeed], err error) {
				o.Add("pr:7", "review", newNeed{"seven"})
				return o, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(2 * time.Hour) // the promise is stale
		for _, want := range []string{"", "[pr:7] seven"} {
			id := "later" + want
			if got, err := later.Deliver(t.Context(), request(id, "ann", "review"), ""); err != nil || got.Status != task.Completed {
				t.Fatalf("%s = %+v, %v", id, got, err)
			}
			if got := strings.Join(seen, ""); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("the agenda's lines are %q, want %q", got, want)
			}
		}
		r := request(agency.TaskID("promise:c-ann", "ann", "investigate"), "ann", "investigate")
		r.Trigger.Payload = json.RawMessage(`{"commitmentId":"investigate:c-ann"}`)
		if got, err := later.Deliver(t.Context(), r, ""); err != nil || got.Status != task.Failed || !strings.HasPrefix(got.Error, "intent of investigate:c-ann: ") {
			t.Errorf("the old promise's task = %+v, %v", got, err)
		}
		book := w.book("ann") // as the old type reads it
		if len(book) != 2 || book[0].Counterpart != "yan" {
			t.Fatalf("the book is %+v", book)
		}
		if diff := cmp.Diff(before.Intent, book[1].Intent); diff != "" || book[1].Status != agency.CommitmentQueued || book[1].Unreadable() != nil {
			t.Errorf("the old promise is %+v (-want +got):\n%s", book[1], diff)
		}
	})
}
