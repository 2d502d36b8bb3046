// Package stage puts the use-cases and the turn engine on the fakes: the whole system in one process, under a test's clock.
// Messages go in as from the doors, the bus is delivered by hand, the sweep runs when told. It is for tests alone.
package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/later"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// User is the caller of the stage's doors.
var User = task.User("user-1")

// Stage is one world.
type Stage struct {
	World   *fake.World
	Clock   *fake.Clock
	Dynamo  *fake.Dynamo
	Bus     *fake.Bus
	Alarm   *fake.Scheduler // fires when Recover lets time pass
	Sockets *fake.Connections
	Model   *fake.Model
	Edges   flow.Edges
	Later   later.Events
	Program schedule.Set               // the schedules that "Run Schedule" may name
	Ticks   []schedule.ReminderHandler // that reminders may name
	Engine  *turn.Engine
	Ran     *Counter               // what counting tools did
	Watch   *Watch                 // looks at the table after every write
	During  func()                 // called in the middle of every answer of the model; nil: nothing
	Acting  func(ctx tool.Context) // called in every counting tool before it notes its run; nil: nothing
	Timeout time.Duration          // of a delivery of "Run Agent Turn"; 0: none
	Round   time.Duration          // what passes at least between two sweeps; 0: a minute
	ids     atomic.Int64

	Heard func(ctx context.Context, e contract.AgentSessionEvent) error // what channels do with events of their sessions; nil: nothing

	Streaming func(n int64) // called with 1 when an answer of the model begins and with -1 when nobody listens to it any more; nil: nothing
}

// New makes a world with the given model answers.
func New(answer *fake.Model) *Stage {
	s := &Stage{World: &fake.World{}, Clock: &fake.Clock{Follow: true}, Ran: &Counter{}}
	s.Dynamo = fake.NewDynamo("table")
	s.Dynamo.World, s.Dynamo.Now = s.World, s.Clock.Now
	s.Bus = &fake.Bus{World: s.World, Now: s.Clock.Now}
	s.Sockets = &fake.Connections{World: s.World, Now: s.Clock.Now}
	s.Model = answer
	s.Model.World = s.World
	s.Watch = &Watch{Dynamo: s.Dynamo, Now: s.Clock.Now}
	table := store.Table{Name: "table", DynamoDB: s.Watch, Now: s.Clock.Now}
	s.Edges = flow.Edges{Table: table, Bus: bus.Bus{EventBridge: s.Bus, Details: table}, Now: s.Clock.Now, NewID: s.newID}
	s.Alarm = &fake.Scheduler{World: s.World, Now: s.Clock.Now, Bus: s.Bus}
	s.Later = later.Events{
		Scheduler: s.Alarm, Bus: s.Edges.Bus, RoleARN: "arn:aws:iam::000000000000:role/r", BusARN: "arn:aws:events:us-east-1:000000000000:event-bus/default", Now: s.Clock.Now,
	}
	s.Engine = &turn.Engine{
		Edges: s.Edges, Model: during{s}, Tools: tool.Registry{s.counting("look_up"), s.counting("write_down")}, Remembered: &turn.Memory{},
		Sockets: &socket.Caster{Connections: s.Sockets, Now: s.Clock.Now, Gone: func(ctx context.Context, id string) { _ = table.Disconnect(ctx, id) }},
	}
	return s
}

// during is the stage's model, with During after the first piece of each answer.
type during struct{ *Stage }

func (d during) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if d.Streaming != nil {
			d.Streaming(1)
			defer d.Streaming(-1)
		}
		first := true
		for e, err := range d.Model.Stream(ctx, req) {
			if !yield(e, err) {
				return
			}
			if first && d.During != nil {
				d.During()
			}
			first = false
		}
	}
}

func (s *Stage) newID() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", s.ids.Add(1)) }

// Send admits a message of User.
func (s *Stage) Send(ctx context.Context, sessionID, text string, more ...func(*flow.AdmitIn)) (contract.Delivery, error) {
	in := flow.AdmitIn{SessionID: sessionID, Caller: User, Text: text}
	for _, m := range more {
		m(&in)
	}
	return flow.Admit{Edges: s.Edges}.Do(ctx, in)
}

// Handle is what the rules do with one event of the bus.
func (s *Stage) Handle(ctx context.Context, e fake.Event) error {
	switch e.DetailType {
	case contract.RunAgentTurn:
		var d contract.RunTurn
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err
		}
		if s.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
			defer cancel()
		}
		return s.Engine.Do(ctx, d.SessionID)
	case contract.RunAgentTask:
		var r task.Request
		if err := json.Unmarshal(e.Detail, &r); err != nil {
			return err
		}
		_, err := flow.BindTask{Edges: s.Edges, MaxDepth: 8}.Do(ctx, flow.BindTaskIn{Request: r, EnvelopeID: e.ID})
		return err
	case contract.ScheduleEventType:
		return asked(ctx, e, flow.ScheduleEvent{Edges: s.Edges, Later: s.Later}.Do)
	case contract.RunScheduleType:
		var r contract.RunSchedule
		if err := json.Unmarshal(e.Detail, &r); err != nil {
			return err
		}
		_, err := s.RunSchedule().Do(ctx, r)
		return err
	case contract.CancelScheduledEventType:
		return asked(ctx, e, flow.ScheduleEvent{Edges: s.Edges, Later: s.Later}.Cancel)
	case contract.AgentSessionEventType:
		if s.Heard == nil {
			return nil
		}
		var d contract.AgentSessionEvent
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err
		}
		return s.Heard(ctx, d)
	case contract.FireReminderType:
		var d contract.FireReminder
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err
		}
		_, err := s.FireReminder().Do(ctx, d)
		return err
	}
	return nil
}

// Reminders are the stage's use-cases of reminders.
func (s *Stage) Reminders() flow.Reminders { return flow.Reminders{Edges: s.Edges, Alarms: s.Later} }

// FireReminder is what fires them.
func (s *Stage) FireReminder() flow.FireReminder {
	return flow.FireReminder{Reminders: s.Reminders(), Handlers: s.Ticks}
}

// RunSchedule is what runs the program's schedules.
func (s *Stage) RunSchedule() flow.RunSchedule {
	return flow.RunSchedule{Edges: s.Edges, Schedules: s.Program, Tools: s.Engine.Tools, Alarms: s.Later}
}

// asked reads an event for who wants its envelope too.
func asked[D any](ctx context.Context, e fake.Event, do func(context.Context, flow.Asked[D]) (flow.Outcome, error)) error {
	in := flow.Asked[D]{EventID: e.ID, Time: e.Time}
	if err := json.Unmarshal(e.Detail, &in.Detail); err != nil {
		return err
	}
	_, err := do(ctx, in)
	return err
}

// Drain delivers the bus until nothing waits.
func (s *Stage) Drain(ctx context.Context) error {
	_, err := s.Bus.Drain(ctx, s.Handle)
	return err
}

// Sweep runs the sweep once.
func (s *Stage) Sweep(ctx context.Context) (flow.Found, error) {
	return flow.Recover{Edges: s.Edges, Alarms: s.Later}.Do(ctx, struct{}{})
}

// Recover is one round of what follows a crash: deliver, let a minute pass or what it takes until something is due, sweep, deliver.
func (s *Stage) Recover(ctx context.Context) error {
	if err := s.Drain(ctx); err != nil {
		return err
	}
	s.Clock.Advance(max(time.Minute, s.Round, s.untilDue()))
	s.Alarm.Tick()
	if _, err := s.Sweep(ctx); err != nil {
		return err
	}
	return s.Drain(ctx)
}

// untilDue is the time until the first row is due, or a schedule if that is before.
func (s *Stage) untilDue() time.Duration {
	rows := s.untilRow()
	if alarm := s.Alarm.Due(); !alarm.IsZero() && (rows <= 0 || alarm.Before(s.Clock.Now().Add(rows))) {
		return alarm.Sub(s.Clock.Now())
	}
	return rows
}

func (s *Stage) untilRow() time.Duration {
	first := ""
	for _, row := range s.Dynamo.Items("") {
		if due := text(row, key.DueSKName); due != "" && (first == "" || due < first) {
			first = due
		}
	}
	ms, err := key.DueTime(first)
	if err != nil {
		return 0
	}
	return time.UnixMilli(ms).Sub(s.Clock.Now())
}

// Rest recovers until there is nothing to do in the session.
func (s *Stage) Rest(ctx context.Context, sessionID string) error {
	for range 20 {
		if err := s.Recover(ctx); err != nil {
			return err
		}
		if st := s.State(sessionID); st.DueSK == "" && (st.Pending() == 0 || st.Phase == session.Deleted) {
			return nil
		}
	}
	return fmt.Errorf("session %s finds no rest", sessionID)
}

// Events reads a session's stream.
func (s *Stage) Events(ctx context.Context, sessionID string) ([]contract.SessionEvent, error) {
	var all []contract.SessionEvent
	for e, err := range s.Edges.Table.SessionEvents(ctx, sessionID, 0) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// State reads a session's state; the zero state if there is none.
func (s *Stage) State(sessionID string) session.State {
	st, err := s.Edges.Table.State(context.Background(), sessionID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		panic(err)
	}
	return st
}
