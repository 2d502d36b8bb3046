package agency_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
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
	pending []task.Request      // tasks that are delivered again in every round, as a bus would until it was answered
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
