package flow

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/store"
)

// ScheduleEvent takes "Schedule Event" and "Cancel Scheduled Event". What is asked of a name counts in the order of the bus's clock: a
// copy that comes late, or is worked on at the same moment, neither moves an event back nor brings a cancelled one to life.
type ScheduleEvent struct {
	Edges
	Later Alarms
}

// Asked is a "Schedule Event" or "Cancel Scheduled Event" as it arrived: its detail, and what its envelope says.
type Asked[D any] struct {
	Detail  D
	EventID string    // of the envelope: the same again is done once
	Time    time.Time // of the envelope: what delays count from
}

// Outcome says what became of a request for a later event, or of its cancellation.
type Outcome string

// What can become of it.
const (
	Scheduled Outcome = "scheduled"
	SentNow   Outcome = "sent"
	Skipped   Outcome = "skipped"   // past, and asked to be skipped
	Cancelled Outcome = "cancelled" // or there was nothing
	Outdated  Outcome = "outdated"  // done before, or something later was asked of the name
	Refused   Outcome = "refused"   // logged with its reason; trying again would not help
)

// Do schedules, moves or sends. Idempotent. Faults: Unavailable (deliver it again).
func (f ScheduleEvent) Do(ctx context.Context, in Asked[contract.ScheduleEvent]) (Outcome, error) {
	e, skip, err := f.read(in)
	switch {
	case err != nil:
		return f.refuse(ctx, in.EventID, err), nil
	case skip:
		return Skipped, nil
	}
	return f.once(ctx, store.Asking{Name: e.Name, EventID: in.EventID, At: in.Time}, func(ctx context.Context) (Outcome, error) {
		at, err := f.Later.Send(ctx, e)
		if err == nil && at.IsZero() {
			return SentNow, nil
		}
		return Scheduled, err
	})
}

// Cancel takes back an event that waits. Idempotent. Faults: Unavailable (deliver it again).
func (f ScheduleEvent) Cancel(ctx context.Context, in Asked[contract.CancelScheduledEvent]) (Outcome, error) {
	if err := contract.CheckID("name", in.Detail.Name); err != nil {
		return f.refuse(ctx, in.EventID, err), nil
	}
	name := schedule.Name(schedule.Event, in.Detail.Name)
	return f.once(ctx, store.Asking{Name: name, EventID: in.EventID, At: in.Time}, func(ctx context.Context) (Outcome, error) {
		return Cancelled, f.Later.Cancel(ctx, name)
	})
}

// How long a worker has to do what was asked of a name, when another takes its turn, and how long one waits for that at most: together
// less than an invocation has.
const (
	askWithin = 10 * time.Second
	askLease  = 12 * time.Second
	askWait   = 15 * time.Second
	askPause  = 250 * time.Millisecond
)

// once does what an event asks of a name unless it is done, or outdated. Workers take turns at a name, so that what was asked last is done
// last; one whose worker died is passed over after its lease. What can never be done counts as done.
func (f ScheduleEvent) once(ctx context.Context, a store.Asking, do func(context.Context) (Outcome, error)) (Outcome, error) {
	a.Owner, a.Lease = f.NewID(), askLease
	for range askWait / askPause {
		outcome, turn, err := f.turn(ctx, a, do)
		switch {
		case err != nil:
			return "", err
		case turn == store.TurnPast:
			return Outdated, nil
		case turn == store.TurnNow:
			return outcome, nil
		}
		if err := sleep(ctx, nil, askPause); err != nil {
			return "", fault.Wrap(fault.Unavailable, err, "wait for another who was asked of %s", a.Name)
		}
	}
	return "", fault.New(fault.Unavailable, "another is at what was asked of %s before", a.Name)
}

// turn does it if it is the worker's turn.
func (f ScheduleEvent) turn(ctx context.Context, a store.Asking, do func(context.Context) (Outcome, error)) (Outcome, store.Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	turn, err := f.Table.Ask(ctx, a)
	if err != nil || turn != store.TurnNow {
		return "", turn, err
	}
	outcome, err := do(ctx)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		outcome, err = f.refuse(ctx, a.EventID, err), nil
	}
	if err != nil {
		return "", turn, err
	}
	return outcome, turn, f.Table.Answered(ctx, a.Name, a.Owner)
}

func (f ScheduleEvent) refuse(ctx context.Context, eventID string, err error) Outcome {
	f.log().WarnContext(ctx, "an event is not scheduled", "event", eventID, "reason", fault.Public(err))
	return Refused
}

// read tells which event is to come when. skip: never.
func (f ScheduleEvent) read(in Asked[contract.ScheduleEvent]) (e bus.Timed, skip bool, err error) {
	d := in.Detail
	if err := checkScheduled(d); err != nil {
		return e, false, err
	}
	at, err := due(d, in.Time)
	if err != nil {
		return e, false, err
	}
	if past := at.Before(in.Time); past && d.WhenPast == contract.WhenPastError {
		return e, false, fault.New(fault.Invalid, "at: %q is past", d.At)
	} else if past && d.WhenPast == contract.WhenPastSkip {
		return e, true, nil
	}
	name := d.Name
	if name == "" {
		name = "evt-" + in.EventID
	}
	detail := d.Event.Detail
	if len(detail) == 0 || string(detail) == "null" {
		detail = json.RawMessage(`{}`)
	}
	if d.Event.DetailType == contract.RunAgentTask {
		detail, err = withDelivery(detail, in.EventID)
	}
	return bus.Timed{
		Name: schedule.Name(schedule.Event, name), At: at, Source: d.Event.Source, DetailType: d.Event.DetailType, Detail: detail,
		Keep: d.IfExists == contract.IfExistsKeep,
	}, false, err
}

func checkScheduled(d contract.ScheduleEvent) error {
	if d.Name != "" {
		if err := contract.CheckID("name", d.Name); err != nil {
			return err
		}
	}
	var object map[string]json.RawMessage
	e := d.Event
	switch {
	case e.DetailType == "":
		return fault.New(fault.Invalid, "event.detailType: must not be empty")
	case len([]rune(e.DetailType)) > 128:
		return fault.New(fault.Invalid, "event.detailType: the limit is 128 characters")
	case e.DetailType == contract.ScheduleEventType:
		return fault.New(fault.Invalid, "event.detailType: %q must not be scheduled", contract.ScheduleEventType)
	case len(e.Source) > 256 || strings.HasPrefix(e.Source, "aws."):
		return fault.New(fault.Invalid, "event.source: the limit is 256 bytes, and it must not start with aws.")
	case len(e.Detail) > 0 && json.Unmarshal(e.Detail, &object) != nil:
		return fault.New(fault.Invalid, "event.detail: must be an object")
	case d.WhenPast != "" && d.WhenPast != contract.WhenPastSend && d.WhenPast != contract.WhenPastSkip && d.WhenPast != contract.WhenPastError:
		return fault.New(fault.Invalid, `whenPast: must be "send", "skip" or "error"`)
	case d.IfExists != "" && d.IfExists != contract.IfExistsMove && d.IfExists != contract.IfExistsKeep:
		return fault.New(fault.Invalid, `ifExists: must be "move" or "keep"`)
	}
	return nil
}

// due is when the event is to come. Delays count from the time at which it was asked for, however late that arrives.
func due(d contract.ScheduleEvent, asked time.Time) (time.Time, error) {
	if (d.At == "") == (d.Delay == "") {
		return time.Time{}, fault.New(fault.Invalid, "exactly one of at and delay is due")
	}
	p, err := schedule.When{At: d.At, Delay: string(d.Delay), TimeZone: d.TimeZone}.Read(asked)
	if err != nil {
		return time.Time{}, err
	}
	return p.First(asked), nil
}

// withDelivery gives a task's request an id by which all its deliveries are one, if it has none.
func withDelivery(detail json.RawMessage, eventID string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	var ids struct {
		DeliveryID string
		Trigger    struct{ EventID string }
	}
	if err := json.Unmarshal(detail, &fields); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "event.detail: must be an object")
	}
	if json.Unmarshal(detail, &ids) != nil || ids.DeliveryID != "" || ids.Trigger.EventID != "" {
		return detail, nil // whoever runs it says what is wrong with it
	}
	fields["deliveryId"], _ = json.Marshal(eventID) // text always encodes
	out, err := json.Marshal(fields)
	return out, fault.Wrap(fault.Internal, err, "encode a detail")
}
