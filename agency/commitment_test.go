package agency_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
)

// eventOf reads an event as the files give it.
func eventOf(t *testing.T, data json.RawMessage) agency.CommitmentEvent {
	t.Helper()
	e := read[struct {
		Type, TaskID, ExternalRef, Reason string
		Status                            agency.CommitmentStatus
		Mode                              agency.RedispatchMode
		Facts                             json.RawMessage
		Reconsider                        bool
	}](t, data)
	var facts any
	if e.Facts != nil {
		facts = e.Facts
	}
	switch e.Type {
	case "start":
		return agency.Start{TaskID: e.TaskID}
	case "waiting":
		return agency.Waiting{TaskID: e.TaskID, ExternalRef: e.ExternalRef, Reason: e.Reason, Facts: facts}
	case "closed":
		return agency.Closed{TaskID: e.TaskID, Status: e.Status, Reason: e.Reason, Facts: facts, Reconsider: e.Reconsider}
	case "settle":
		return agency.Settle{Status: e.Status, Reason: e.Reason}
	case "redispatch":
		return agency.Redispatch{TaskID: e.TaskID, Mode: e.Mode}
	}
	t.Fatalf("no event %s", data)
	return nil
}

// commitmentLimitsOf reads limits over the defaults.
func commitmentLimitsOf(t *testing.T, data json.RawMessage) agency.CommitmentLimits {
	t.Helper()
	d := agency.DefaultCommitmentLimits
	l := struct {
		Active, PerCounterpart, History, ChildTasks, MaxReconsiderations int
		StaleQueueMs, ReconsiderCooldownMs                               int64
	}{d.Active, d.PerCounterpart, d.History, d.ChildTasks, d.MaxReconsiderations, d.StaleQueue.Milliseconds(), d.ReconsiderCooldown.Milliseconds()}
	if data != nil {
		if err := json.Unmarshal(data, &l); err != nil {
			t.Fatal(err)
		}
	}
	return agency.CommitmentLimits{
		Active: l.Active, PerCounterpart: l.PerCounterpart, History: l.History, ChildTasks: l.ChildTasks, MaxReconsiderations: l.MaxReconsiderations,
		StaleQueue: time.Duration(l.StaleQueueMs) * time.Millisecond, ReconsiderCooldown: time.Duration(l.ReconsiderCooldownMs) * time.Millisecond,
	}
}

type commitmentOp struct {
	Op, ID         string
	At             time.Time
	Event          json.RawMessage
	MaterialChange any
	Draft          struct {
		Kind, TaskID, Counterpart, AgendaID string
		At, ExpiresAt                       time.Time
		Source                              agency.Said
		Intent                              json.RawMessage
	}
}

// materialChange gives the rule by which facts count as changed: "all", "none" or a list of ids.
func materialChange(v any) func(agency.Commitment[agency.Raw]) bool {
	return func(c agency.Commitment[agency.Raw]) bool {
		list, _ := v.([]any)
		return v == "all" || slices.Contains(list, any(c.ID))
	}
}

func ids(of []agency.Commitment[agency.Raw]) []string {
	all := []string{}
	for _, c := range of {
		all = append(all, c.ID)
	}
	return all
}

func (op commitmentOp) do(t *testing.T, book *agency.CommitmentBook[agency.Raw], l agency.CommitmentLimits) object {
	t.Helper()
	b := stored(t, *book)
	switch op.Op {
	case "open":
		d := op.Draft
		next, outcome, id := agency.Open(b, agency.CommitmentDraft[agency.Raw]{
			Kind: d.Kind, At: d.At, TaskID: d.TaskID, Counterpart: d.Counterpart, Source: d.Source, Intent: d.Intent, ExpiresAt: d.ExpiresAt, AgendaID: d.AgendaID,
		}, l)
		*book = next
		return object{"outcome": outcome, "commitment": orNull(id), "unchanged": outcome != agency.OpenCreated, "book": next}
	case "advance":
		next, applied := agency.AdvanceCommitment(b, op.ID, eventOf(t, op.Event), op.At, l)
		*book = next
		id := ""
		if _, found := b.Find(op.ID); found {
			id = op.ID
		}
		return object{"applied": applied, "commitment": orNull(id), "unchanged": !applied, "book": next}
	case "expire":
		next, expired := agency.ExpireCommitments(b, op.At, l)
		*book = next
		return object{"expired": append([]string{}, expired...), "unchanged": len(expired) == 0, "book": next}
	}
	d := agency.DueCommitments(b, op.At, materialChange(op.MaterialChange), l)
	return object{"resume": ids(d.Resume), "reconsider": ids(d.Reconsider)}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func TestConformanceCommitments(t *testing.T) {
	conform(t, "commitments.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Limits json.RawMessage
			Ops    []commitmentOp
		}](t, input)
		var book agency.CommitmentBook[agency.Raw]
		results := []object{}
		for _, op := range in.Ops {
			results = append(results, op.do(t, &book, commitmentLimitsOf(t, in.Limits)))
		}
		return object{"results": results}
	})
}

func ExampleOpenCommitment() {
	type intent struct{ Test string }
	now := time.Date(2026, 10, 7, 12, 0, 0, 0, time.UTC)
	draft := agency.CommitmentDraft[intent]{
		Kind: "investigate", At: now, TaskID: "look-1", Counterpart: "ann", Source: agency.Said{Channel: "pr-7", Ref: "c1", Visibility: "shared"},
		Intent: intent{"TestFlaky"}, ExpiresAt: now.Add(48 * time.Hour),
	}
	book, outcome := agency.OpenCommitment(agency.CommitmentBook[intent]{}, draft, agency.CommitmentLimits{})
	fmt.Println(outcome)
	_, again := agency.OpenCommitment(book, draft, agency.CommitmentLimits{})
	fmt.Println(again)
	book, applied := agency.AdvanceCommitment(book, "investigate:c1", agency.Start{TaskID: "look-1"}, now, agency.CommitmentLimits{})
	fmt.Println(applied, book.Commitments[0].Status)
	// Output:
	// created
	// existing
	// true evaluating
}
