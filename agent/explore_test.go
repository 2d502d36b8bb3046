package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// firm is the bundle's reviewer as it is hosted, on a table, a bus and a model, with the sweep.
type firm struct {
	*fake.World
	clock  *fake.Clock
	bus    *fake.Bus
	table  store.Table
	rows   agent.Rows
	hosted agency.Hosted
	events []contract.RawEvent
}

const fix = "https://example.com/9"

func newFirm(t *testing.T) *firm {
	f := &firm{World: &fake.World{}, clock: &fake.Clock{Follow: true}}
	dynamo := fake.NewDynamo("table")
	dynamo.World, dynamo.Now = f.World, f.clock.Now
	f.bus = &fake.Bus{World: f.World, Now: f.clock.Now}
	f.table = store.Table{Name: "table", DynamoDB: dynamo, Now: f.clock.Now}
	f.rows = agent.Rows{Store: agency.TableStore{Table: f.table}}
	answer := agent.Review{Summary: "Fine.", FollowUpTest: "TestCheckout"}
	d := agent.Deployment{
		Table: f.table, Bus: bus.Bus{EventBridge: f.bus}, Now: f.clock.Now,
		Model: &fake.Model{World: f.World, Answer: func(model.Request) fake.Turn { return fake.Calls("", call(t, answer)) }},
	}
	var err error
	if f.hosted, err = agent.Persistent(d.Metered(loop.Meter{ID: "priced", Prices: money.Default()})); err != nil {
		panic(err)
	}
	ctx := context.Background()
	now := agency.ResponseDelayLever{}
	err = errors.Join(
		f.rows.PutColleague(ctx, "ann", agent.Colleague{Persona: agent.Persona{Name: "Ann"}, ResponseDelay: &now}),
		f.rows.PutPull(ctx, agent.PullRow{PullRequest: pull(7)}),
		f.rows.PutPull(ctx, agent.PullRow{PullRequest: pull(9), URL: fix, Merged: true, Closed: true}),
		f.rows.PutFlake(ctx, "TestCheckout", agent.FlakeRow{Finding: agent.Finding{Fixed: true, PRURL: fix, Summary: "Fixed."}}),
	)
	if err != nil {
		panic(err)
	}
	f.opens(pull(7))
	return f
}

// opens has the app tell of a pull request, and a schedule of a check-in half a day later. Both are delivered again in every round.
func (f *firm) opens(pr agent.PullRequest) {
	detail, err := json.Marshal(pr)
	if err != nil {
		panic(err)
	}
	later, err := f.hosted[0].CheckInEvent(f.clock.Now().Add(13 * time.Hour))
	if err != nil {
		panic(err)
	}
	later.ID = "ci-1"
	f.events = []contract.RawEvent{{ID: "evt-1", Source: agent.Source, DetailType: "Pull Request Opened", Detail: detail}, later}
}

func (f *firm) deliver(ctx context.Context) error {
	var failed error
	for _, e := range f.events {
		if e.Time.After(f.clock.Now()) {
			continue
		}
		_, err := f.hosted.Route(ctx, e)
		failed = errors.Join(failed, err)
	}
	_, err := f.bus.Drain(ctx, func(ctx context.Context, e fake.Event) error {
		if e.DetailType != contract.RunAgentTask {
			return nil
		}
		_, err := f.hosted.HandleTask(ctx, contract.RawEvent{ID: e.ID, Source: e.Source, DetailType: e.DetailType, Detail: e.Detail})
		return err
	})
	return errors.Join(failed, err)
}

// round is five hours: what was lost is delivered again, and the sweep runs.
func (f *firm) round(ctx context.Context) error {
	if err := f.deliver(ctx); err != nil {
		return err
	}
	f.clock.Advance(5 * time.Hour)
	edges := flow.Edges{Table: f.table, Bus: bus.Bus{EventBridge: f.bus}, Now: f.clock.Now}
	_, err := flow.Recover{Edges: edges}.Do(ctx, struct{}{})
	return errors.Join(err, f.deliver(ctx))
}

// days plays rounds until the check-in is over.
func (f *firm) days(ctx context.Context) error {
	for f.clock.Now().Before(f.events[1].Time.Add(2 * time.Hour)) {
		if err := f.round(ctx); err != nil {
			return err
		}
	}
	return f.round(ctx)
}

func (f *firm) end() string {
	ctx, out := context.Background(), ""
	in, err := f.hosted[0].Inspect(ctx, "ann")
	if err != nil {
		return err.Error()
	}
	for _, id := range in.Tasks {
		t, err := f.table.TaskOrNone(ctx, id)
		out += fmt.Sprintf("%s %s %q %v\n", id, t.Status, t.Output+t.Error, err)
	}
	for _, c := range in.Commitments {
		out += fmt.Sprintf("%s %s by %q\n", c.ID, c.Status, c.ChildTaskIDs)
	}
	open, err := f.rows.OpenReviews(ctx, "ann")
	return out + fmt.Sprintf("open %v %v\n", open, err)
}

func (f *firm) check() error {
	told := map[string]int{}
	for _, e := range f.bus.Of(contract.AgentTaskCompleted) {
		var c contract.TaskCompleted
		if err := json.Unmarshal(e.Detail, &c); err != nil {
			return err
		}
		told[c.TaskID]++
	}
	in, err := f.hosted[0].Inspect(context.Background(), "ann")
	if err != nil {
		return err
	}
	for _, id := range in.Tasks {
		if t, err := f.table.TaskOrNone(context.Background(), id); err != nil || told[id] == 0 || t.CompletionOwed != 0 {
			return fmt.Errorf("task %s was told %d times, owed %d, %v", id, told[id], t.CompletionOwed, err)
		}
	}
	if end := f.end(); !strings.Contains(end, "fulfilled") || !strings.Contains(end, "promises open: 0") || !strings.Contains(end, "open [] <nil>") {
		return fmt.Errorf("the end is\n%s", end)
	}
	return nil
}

// TestExploreReviewer: wherever the life of the bundle's reviewer is cut off, it comes to the same end: one review, the promise kept, the
// check-in done.
func TestExploreReviewer(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "the reviewer: event, review, promise, follow-up, check-in", New: func() *fake.Run {
		f := newFirm(t)
		return &fake.Run{World: f.World, Do: f.deliver, Recover: f.days, End: f.end, Check: f.check}
	}})
}
