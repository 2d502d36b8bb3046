package agency_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// send has an app's event delivered now, and again in every round.
func (w *world) send(ctx context.Context, id, detailType string) error {
	w.events = append(w.events, contract.RawEvent{ID: id, Source: "app", DetailType: detailType})
	return w.deliver(ctx)
}

// deliver routes every event there is and empties the bus.
func (w *world) deliver(ctx context.Context) error {
	failed := w.goOn(ctx)
	for _, e := range w.events {
		if e.Time.After(w.clock.Now()) {
			continue
		}
		if _, err := w.agent.Route(ctx, e); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	var left []task.Request
	for _, r := range w.pending {
		if _, err := w.agent.Deliver(ctx, r, ""); err != nil {
			left = append(left, r)
			failed = errors.Join(failed, err)
		}
	}
	w.pending = left
	_, err := w.bus.Drain(ctx, w.handle)
	return errors.Join(failed, err)
}

// goOn ends a pause when its time is over.
func (w *world) goOn(ctx context.Context) error {
	paused, err := w.table.AgencyPaused(ctx, "reviewer")
	if err != nil || !paused || w.goesOn.IsZero() || w.goesOn.After(w.clock.Now()) {
		return err
	}
	return w.table.PauseAgency(ctx, "reviewer", false)
}

// handle is what the rules of the template do.
func (w *world) handle(ctx context.Context, e fake.Event) error {
	raw := contract.RawEvent{ID: e.ID, Source: e.Source, DetailType: e.DetailType, Detail: e.Detail}
	switch {
	case e.DetailType == contract.RunAgentTask && e.Source == w.agent.Source():
		_, err := w.agent.HandleTask(ctx, raw)
		return err
	case e.DetailType == agency.CheckInDetailType:
		_, err := w.agent.Route(ctx, raw)
		return err
	case e.DetailType == agency.ScheduleEvent:
		var s scheduled
		if err := json.Unmarshal(e.Detail, &s); err != nil {
			return err
		}
		if _, there := w.later[s.Name]; !there {
			w.later[s.Name] = s
		}
	}
	return nil
}

// round is what follows after a crash: events come again, time passes, what is scheduled fires, the sweep runs.
func (w *world) round(ctx context.Context) error {
	if err := w.deliver(ctx); err != nil {
		w.clock.Advance(5 * time.Minute) // an outage passes, too
		return err
	}
	w.clock.Advance(max(time.Minute, w.untilDue()))
	for _, name := range slices.Sorted(maps.Keys(w.later)) {
		s := w.later[name]
		if at, _ := s.At.Time(); at.After(w.clock.Now()) {
			continue
		}
		b := bus.Bus{EventBridge: w.bus, Source: s.Event.Source}
		if err := b.Publish(ctx, bus.Event{DetailType: s.Event.DetailType, Detail: s.Event.Detail}); err != nil {
			return err
		}
		s.At = "9999-01-01T00:00:00.000Z"
		w.later[name] = s
	}
	if _, err := (flow.Recover{Edges: w.edges}).Do(ctx, struct{}{}); err != nil {
		return err
	}
	return w.deliver(ctx)
}

// untilDue is the time until the first row or event is due.
func (w *world) untilDue() time.Duration {
	first := ""
	for _, row := range w.dynamo.Items("") {
		if due := textOf(row, key.DueSKName); due != "" && (first == "" || due < first) {
			first = due
		}
	}
	for _, e := range w.events {
		if at := key.DueSK(e.Time.UnixMilli()); e.Time.After(w.clock.Now()) && (first == "" || at < first) {
			first = at
		}
	}
	at, err := key.DueTime(first)
	if err != nil {
		return 0
	}
	return time.UnixMilli(at).Sub(w.clock.Now())
}

func textOf(row map[string]types.AttributeValue, name string) string {
	if s, ok := row[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// tasks reads every task there is.
func (w *world) tasks() []task.Task {
	var all []task.Task
	for _, row := range w.dynamo.Items("") {
		k := key.Key{PK: textOf(row, key.PK), SK: textOf(row, key.SK)}
		if r, ok := key.Parse(k); ok && r.Kind == "task" {
			t, err := w.table.TaskOrNone(context.Background(), r.Parts[0])
			if err != nil {
				panic(err)
			}
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b task.Task) int { return strings.Compare(a.TaskID, b.TaskID) })
	return all
}

// book reads an agent's commitments.
func (w *world) book(agentID string) []agency.Commitment[intent] {
	s, err := agency.ReadState[agency.CommitmentBook[intent]](context.Background(), agency.TableStore{Table: w.table}, agency.StateKey{AgentID: agentID, Name: "reviewer.commitments"})
	if err != nil {
		panic(err)
	}
	return s.Value.Commitments
}

// end is what must be the same however often the work was cut off.
func (w *world) end() string {
	var b strings.Builder
	for _, t := range w.tasks() {
		fmt.Fprintf(&b, "task %s %s %q\n", t.TaskID, t.Status, t.Output+t.Error)
	}
	for _, agentID := range []string{"ann", "bob"} {
		for _, c := range w.book(agentID) {
			fmt.Fprintf(&b, "%s: %s %s by %v\n", agentID, c.ID, c.Status, c.ChildTaskIDs)
		}
	}
	return b.String()
}

// check is what must hold at the end in any case.
func (w *world) check() error {
	told := map[string]int{}
	for _, e := range w.bus.Of(contract.AgentTaskCompleted) {
		if e.Source != w.agent.Source() {
			return fmt.Errorf("a completion from %s", e.Source)
		}
		var c contract.TaskCompleted
		if err := json.Unmarshal(e.Detail, &c); err != nil {
			return err
		}
		told[c.TaskID]++
	}
	for _, t := range w.tasks() {
		switch {
		case !t.Final():
			return fmt.Errorf("task %s is left %s", t.TaskID, t.Status)
		case told[t.TaskID] == 0 || t.CompletionOwed != 0:
			return fmt.Errorf("task %s was told %d times, owed %d", t.TaskID, told[t.TaskID], t.CompletionOwed)
		case t.Status == task.Completed && w.ended[t.TaskID] == 0:
			return fmt.Errorf("task %s is done without a handler", t.TaskID)
		case w.ended[t.TaskID] > 1+w.Disturbed(): // a run whose end was not written runs again
			return fmt.Errorf("task %s ran %d times", t.TaskID, w.ended[t.TaskID])
		}
	}
	if err := w.checkPromises(); err != nil {
		return err
	}
	for _, row := range w.dynamo.Items("") {
		if status := textOf(row, "status"); textOf(row, "entity") == "Dispatch" && status != "sent" {
			return fmt.Errorf("%s is left %s", textOf(row, key.PK), status)
		}
		if size := len(fmt.Sprint(row)); size > 350<<10 {
			return fmt.Errorf("%s has about %d bytes", textOf(row, key.PK), size)
		}
	}
	return nil
}

// checkPromises: each promise has one owner, a task that there is, and no task owns two.
func (w *world) checkPromises() error {
	owners := map[string]string{}
	known := map[string]bool{}
	for _, t := range w.tasks() {
		known[t.TaskID] = true
	}
	for _, agentID := range []string{"ann", "bob"} {
		for _, c := range w.book(agentID) {
			if len(c.ChildTaskIDs) == 0 {
				return fmt.Errorf("%s of %s has no owner", c.ID, agentID)
			}
			owner := c.ChildTaskIDs[len(c.ChildTaskIDs)-1]
			if other, taken := owners[owner]; taken || !known[owner] {
				return fmt.Errorf("%s of %s is owned by %s, which owns %q, there: %t", c.ID, agentID, owner, other, known[owner])
			}
			owners[owner] = c.ID
		}
	}
	return nil
}
