package agency

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Names on the bus.
const (
	CheckInDetailType  = "Agent Check-In"
	FollowUpDetailType = "Agent Follow-Up"
	CheckInKind        = "check_in"
)

// Task caps.
const (
	DefaultTaskCap = 100
	MaxTaskCap     = 2000 // what is counted is one document; for more a day, count in a shorter window
	NoTaskCap      = math.MaxInt
)

// Profile is who an agent is and how it paces itself.
type Profile[P any] struct {
	Persona P
	Pacing  Pacing
}

// CheckIn has agents show up unasked.
type CheckIn struct {
	Agents   func(ctx context.Context) ([]string, error)
	Schedule CheckInSchedule // zero: 9:00, 14:00, 20:00 in New York
	Request  string          // default: look over the goals and promises
	Profile  *DelayProfile   // nil: RoutineDelay
}

// OnPause says what becomes of tasks while the type is paused.
type OnPause string

// The choices.
const (
	DropTasks OnPause = ""     // unclaimed, and nothing is dispatched
	HoldTasks OnPause = "hold" // they stay PENDING, however long, and run within minutes after the pause
)

// TaskIDs says how task ids are made.
type TaskIDs string

// The choices.
const (
	ReferenceIDs  TaskIDs = ""           // those of the TypeScript package, from event, agent and kind
	NamespacedIDs TaskIDs = "namespaced" // also from agent type, scope and rule: types and rules never collide
)

// Definition is an agent type: its persona P, what its goals are about N, what its promises are about I. Name, Profile and Tasks are
// required.
type Definition[P, N, I any] struct {
	Name    string
	Table   store.Table
	Bus     bus.Bus                                                       // its Details, if nil: the table
	Profile func(ctx context.Context, agentID string) (Profile[P], error) // ErrUnknownAgent: skipped
	Rules   []Rule
	CheckIn *CheckIn // nil: never shows up unasked
	Tasks   map[string]func(*Context[P, N, I]) (string, error)
	Observe func(*Context[P, N, I]) (Observation[N], error) // after a task that succeeded; an error: nothing observed, logged

	TaskCap       int           // tasks of one agent in a window, each id once, up to MaxTaskCap; 0: DefaultTaskCap; NoTaskCap: not counted
	TaskCapWindow time.Duration // 0: a day
	Budget        Budget        // asked after the cap; nil: money is not looked at

	Source           string                                                    // of everything this type emits; default agency.<name>
	Sources          []string                                                  // events of others are ignored; nil: every source. Check-ins come from Source alone
	Principal        func(agentID string) task.Principal                       // nil: system, <name>/<agent>
	Scope            func(ctx context.Context, agentID string) (string, error) // of agenda and commitments, for example a season; nil: none
	AgendaLimits     AgendaLimits
	CommitmentLimits CommitmentLimits
	IsRetryable      func(error) bool                        // nil: IsRetryable
	Paused           func(ctx context.Context) (bool, error) // nil: as the store says
	OnPause          OnPause
	NoResponseDelays bool
	TaskIDs          TaskIDs
	Lease            time.Duration // of a claim, renewed while the handler runs; default task.Lease

	Store    Store                                           // nil: TableStore of Table
	Later    func(ctx context.Context, r task.Request) error // takes tasks that are too late to wait for; nil: "Schedule Event" on Bus
	Dispatch Dispatcher                                      // nil: BusDispatcher of Bus, which sends at once what its tasks can wait for
	Complete func(ctx context.Context, c Completion) error   // nil: "Agent Task Completed" on Bus
	Now      func() time.Time                                // nil: time.Now
	Log      *slog.Logger                                    // nil: discard
}

// Completion is the end of a task, to be told.
type Completion struct {
	Task          task.Task
	AgentID, Kind string
}

// Agent is a defined agent type. It is safe for concurrent use.
type Agent struct {
	name, source string
	rules        []Rule
	kinds        map[string]bool
	checkIn      *CheckIn
	cap          int
	capWindow    time.Duration
	budget       Budget
	sources      []string
	principal    func(agentID string) task.Principal
	retryable    func(error) bool
	onPause      OnPause
	ids          TaskIDs
	lease        time.Duration
	delays       bool
	store        Store
	dispatcher   Dispatcher
	complete     func(ctx context.Context, c Completion) error
	bus          bus.Bus
	now          func() time.Time
	log          *slog.Logger
	pause        *pauseSwitch
	pacing       func(ctx context.Context, agentID string) (Pacing, error)
	open         func(ctx context.Context, agentID string) (runner, error)
	scope        func(ctx context.Context, agentID string) (string, error)
}

// runner runs a claimed task of an agent that was looked up.
type runner func(ctx context.Context, j job) (outcome, error)

// Name is the agent type's name.
func (a *Agent) Name() string { return a.name }

// Source is the source of everything the type emits.
func (a *Agent) Source() string { return a.source }

// Define makes an agent type. Faults: Invalid, and the text lists every problem.
func Define[P, N, I any](d Definition[P, N, I]) (*Agent, error) {
	if d.Source == "" {
		d.Source = "agency." + d.Name
	}
	if d.TaskCap == 0 {
		d.TaskCap = DefaultTaskCap
	}
	if d.TaskCapWindow == 0 {
		d.TaskCapWindow = 24 * time.Hour
	}
	if problems := d.problems(); len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "agent type %q: %s", d.Name, strings.Join(problems, "; "))
	}
	a := &Agent{
		name: d.Name, source: d.Source, rules: numbered(d.Rules), kinds: map[string]bool{}, checkIn: d.CheckIn, cap: d.TaskCap, capWindow: d.TaskCapWindow, budget: d.Budget,
		sources: d.Sources, principal: d.Principal, retryable: d.IsRetryable, onPause: d.OnPause, ids: d.TaskIDs, lease: d.Lease,
		delays: !d.NoResponseDelays, store: d.Store, dispatcher: d.Dispatch, complete: d.Complete, bus: d.Bus, now: d.Now, log: d.Log,
	}
	a.fill(d.Table, d.Later)
	a.pause = &pauseSwitch{ask: d.Paused, store: a.store, name: d.Name, now: a.now}
	for kind := range d.Tasks {
		a.kinds[kind] = true
	}
	if a.checkIn != nil {
		a.rules = append(append([]Rule(nil), a.rules...), a.checkInRule())
	}
	t := typed[P, N, I]{Definition: d, agent: a}
	a.pacing, a.open, a.scope = t.pacing, t.open, t.scope
	return a, nil
}

// fill sets what was left to the package.
func (a *Agent) fill(table store.Table, later func(ctx context.Context, r task.Request) error) {
	a.bus.Source = a.source
	if a.store == nil {
		if table.Now == nil {
			table.Now = a.now
		}
		a.store = TableStore{Table: table}
	}
	if details, ok := a.store.(bus.Details); ok && a.bus.Details == nil {
		a.bus.Details = details
	}
	if a.principal == nil {
		a.principal = func(agentID string) task.Principal { return task.System(a.name + "/" + agentID) }
	}
	if a.retryable == nil {
		a.retryable = IsRetryable
	}
	if a.lease == 0 {
		a.lease = task.Lease
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.dispatcher == nil {
		a.dispatcher = BusDispatcher{Bus: a.bus, Later: later, Soon: soon}
	}
	if a.complete == nil {
		a.complete = func(ctx context.Context, c Completion) error { return a.bus.EmitTaskCompleted(ctx, c.Task) }
	}
}
