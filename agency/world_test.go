package agency_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

type intent struct {
	Test string `json:"test"`
}

type need struct {
	PR int `json:"pr"`
}

type ctxOf = agency.Context[string, need, intent]

type definition = agency.Definition[string, need, intent]

// world is an agent type on a table and a bus, with the table's sweep and a scheduler.
type world struct {
	*fake.World
	clock   *fake.Clock
	dynamo  *fake.Dynamo
	bus     *fake.Bus
	table   store.Table
	edges   flow.Edges
	agent   *agency.Agent
	events  []contract.RawEvent // what apps have sent, each delivered again in every round
	later   map[string]scheduled
	goesOn  time.Time // when a pause is over; zero: never
	mu      sync.Mutex
	ended   map[string]int                                      // handlers that came to their end, by task
	verdict func(c *ctxOf, com agency.Commitment[intent]) error // what investigating does; nil: it settles the promise
	review  func(c *ctxOf) error                                // what reviewing does; nil: it promises to investigate
}

type scheduled struct {
	Name  string
	At    contract.Instant
	Event struct {
		Source, DetailType string
		Detail             json.RawMessage
	}
}

// newWorld makes one; change may alter the definition.
func newWorld(change func(*definition)) *world {
	w := &world{World: &fake.World{}, clock: &fake.Clock{Follow: true}, later: map[string]scheduled{}, ended: map[string]int{}}
	w.dynamo = fake.NewDynamo("table")
	w.dynamo.World, w.dynamo.Now = w.World, w.clock.Now
	w.bus = &fake.Bus{World: w.World, Now: w.clock.Now}
	w.table = store.Table{Name: "table", DynamoDB: w.dynamo, Now: w.clock.Now}
	w.edges = flow.Edges{Table: w.table, Bus: bus.Bus{EventBridge: w.bus}, Now: w.clock.Now}
	a, err := agency.Define(w.definition(change))
	if err != nil {
		panic(err)
	}
	w.agent = a
	return w
}

func (w *world) definition(change func(*definition)) definition {
	d := definition{
		Name: "reviewer", Table: w.table, Bus: bus.Bus{EventBridge: w.bus}, Now: w.clock.Now, NoResponseDelays: true,
		Profile: func(_ context.Context, agentID string) (agency.Profile[string], error) {
			if strings.HasPrefix(agentID, "ghost") {
				return agency.Profile[string]{}, agency.ErrUnknownAgent
			}
			return agency.Profile[string]{Persona: agentID, Pacing: agency.Pacing{Cooldown: 15 * time.Minute}}, nil
		},
		Rules: []agency.Rule{
			rule("Pull Request Opened", agency.Wake{Agents: []string{"ann", "bob"}, Request: "Review it."}),
			rule("Deadline Near", agency.Wake{Agents: []string{"ann"}, Request: "Now.", Urgent: true}),
			rule("Comment Added", agency.Wake{Agents: []string{"ann"}, Request: "Look.", WhenCooling: agency.Defer}),
			rule("Weekly", agency.Wake{Agents: []string{"ann"}, Request: "Later.", Delay: agency.DelayFunc(func(agency.Delayed) time.Duration { return time.Hour })}),
		},
		CheckIn: &agency.CheckIn{Agents: func(context.Context) ([]string, error) { return []string{"ann"}, nil }},
		Tasks: map[string]func(*ctxOf) (string, error){
			"review": w.handler(w.doReview), "investigate": w.handler(agency.WithCommitment(w.investigate)), "check_in": w.handler(w.checkIn),
		},
		Observe: func(c *ctxOf) (o agency.Observation[need], err error) {
			o.Add("pr:7", "review", need{7})
			return o, nil
		},
	}
	if change != nil {
		change(&d)
	}
	return d
}

func rule(detailType string, w agency.Wake) agency.Rule {
	return agency.On(detailType, "review", func(context.Context, agency.Event[struct{}]) (agency.Wake, error) { return w, nil })
}

// handler counts the ends of a handler.
func (w *world) handler(do func(*ctxOf) (string, error)) func(*ctxOf) (string, error) {
	return func(c *ctxOf) (string, error) {
		output, err := do(c)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.ended[c.TaskID]++
		}
		return output, err
	}
}

func (w *world) doReview(c *ctxOf) (string, error) {
	if w.review != nil {
		return "reviewed", w.review(c)
	}
	_, err := c.Promise(w.promise(c))
	return "reviewed", err
}

func (w *world) promise(c *ctxOf) agency.Promise[intent] {
	return agency.Promise[intent]{
		Kind: "investigate", Counterpart: "zoe", Source: agency.Said{Channel: "pr-7", Ref: "c-" + c.AgentID, Visibility: "shared"},
		Intent: intent{"TestFlaky"}, ExpiresAt: c.Now.Add(48 * time.Hour), Request: "Investigate it.",
	}
}

func (w *world) investigate(c *ctxOf, com agency.Commitment[intent]) (string, error) {
	if w.verdict != nil {
		return "looked", w.verdict(c, com)
	}
	if _, err := c.AdvanceCommitment(com.ID, agency.Start{}); err != nil {
		return "", err
	}
	_, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled, Reason: "found"})
	return "looked", err
}

func (w *world) checkIn(c *ctxOf) (string, error) {
	due := c.DueCommitments(func(agency.Commitment[intent]) bool { return true })
	for mode, com := range due.All() {
		if _, err := c.Redispatch(com, mode, "Look again."); err != nil {
			return "", err
		}
	}
	return "followed up", nil // how many would differ if the task is cut off and runs again
}

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
		}
	}
	for _, row := range w.dynamo.Items("") {
		if status := textOf(row, "status"); textOf(row, "entity") == "Dispatch" && status != "sent" {
			return fmt.Errorf("%s is left %s", textOf(row, key.PK), status)
		}
	}
	return nil
}
