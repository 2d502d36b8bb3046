package flow

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// RunSchedule runs a firing of a schedule, once however often it is delivered and on however many hosts. A file's firing begins a
// session in the write that claims it; a handler's is claimed, started, and only then run.
type RunSchedule struct {
	Edges
	Schedules schedule.Set
	Tools     interface { // what handlers may call: a tool.Registry, which no other use-case is to link
		Do(ctx context.Context, log *slog.Logger, toolUseID string, p task.Principal, name string, input json.RawMessage) (json.RawMessage, error)
	}
	Host   schedule.Host
	Alarms Alarms        // of the reminders that handlers make; nil: they make none
	Off    bool          // only what a person asks for runs
	Lease  time.Duration // how long a handler may take where the context has no deadline, default 15 minutes
}

// scheduleChannel is the channel of the sessions of schedules.
const scheduleChannel = "schedule"

// Do runs it, unless it ran before: then the answer is the same. Faults: Invalid; NotFound (asked for by hand only: a firing of a
// schedule that is gone is dropped), Unavailable (deliver it again).
func (f RunSchedule) Do(ctx context.Context, in contract.RunSchedule) (contract.ScheduleRan, error) {
	ran := contract.ScheduleRan{ScheduleID: in.ScheduleID, SessionIDs: []string{}}
	at, err := in.At.Time()
	if err != nil {
		return ran, fault.New(fault.Invalid, "at: %q is no instant", in.At)
	}
	if !in.Manual {
		at = at.Truncate(time.Minute) // two schedules of one id, and a clock's seconds, are one firing
	}
	d, ok := f.Schedules.Get(in.ScheduleID)
	switch {
	case !ok && in.Manual:
		return ran, fault.New(fault.NotFound, "there is no schedule %q", in.ScheduleID)
	case !ok:
		f.log().WarnContext(ctx, "a firing of a schedule that is gone is dropped", "schedule", in.ScheduleID, "at", in.At)
		return ran, nil
	case f.Off && !in.Manual:
		f.log().InfoContext(ctx, "schedules are off", "schedule", in.ScheduleID)
		return ran, nil
	}
	if d.Handler == nil {
		return racing(ctx, func() (contract.ScheduleRan, bool, error) { return f.begin(ctx, d, at) })
	}
	return f.handle(ctx, d, at, in.Manual)
}

// begin makes the firing's session with the prompt as its first message.
func (f RunSchedule) begin(ctx context.Context, d schedule.Definition, at time.Time) (contract.ScheduleRan, bool, error) {
	now := f.Now()
	id := "schedule-" + d.ID + "-" + at.UTC().Format("20060102T150405.000")
	if _, err := f.Table.State(ctx, id); err == nil { // of an earlier try, or somebody's who chose this id
		id += "-" + f.NewID()
	} else if !fault.Is(err, fault.NotFound) {
		return contract.ScheduleRan{}, false, err
	}
	s := session.New(id, session.TaskRun, schedule.Principal(d.ID), now)
	s.Channel, s.CreatedBy = scheduleChannel, firingDelivery(d.ID, at, 0)
	m := contract.Message{Text: d.Prompt, DeliveryID: s.CreatedBy, Admission: contract.Coalesce}
	writes := f.first(s, contract.Delivery{DeliveryID: s.CreatedBy, SessionID: id}, m, now)
	err := f.Table.Commit(ctx, append(writes, f.Table.NewFiring(schedule.Began(d.ID, at, id, now)))...)
	switch {
	case store.RefusedBy(err, key.Firing(d.ID, at.UnixMilli())):
		row, err := f.Table.Firing(ctx, key.Firing(d.ID, at.UnixMilli()))
		for _, id := range row.Sessions {
			f.wake(ctx, id) // the first delivery may have died before it did
		}
		return ranAs(row, d.ID), err == nil, err
	case fault.Is(err, fault.Conflict):
		return contract.ScheduleRan{}, false, nil
	case err != nil:
		return contract.ScheduleRan{}, false, err
	}
	f.wake(ctx, id)
	return contract.ScheduleRan{ScheduleID: d.ID, SessionIDs: []string{id}}, true, nil
}

func ranAs(row schedule.FiringRow, id string) contract.ScheduleRan {
	return contract.ScheduleRan{ScheduleID: id, SessionIDs: append([]string{}, row.Sessions...), Error: row.Error}
}

// handle claims and starts a handler's firing, and runs it if that was this worker's.
func (f RunSchedule) handle(ctx context.Context, d schedule.Definition, at time.Time, manual bool) (contract.ScheduleRan, error) {
	lease := handlerLease(ctx, f.Lease, f.Now())
	which := schedule.FiringRow{ScheduleID: d.ID, At: at.UnixMilli(), Manual: manual}
	row, mine, err := claiming{Edges: f.Edges, firing: which, owner: f.NewID(), lease: lease}.start(ctx)
	if err != nil || !mine {
		return ranAs(row, d.ID), err
	}
	h := &hands{RunSchedule: f, id: d.ID, at: at}
	failure := runHandler(ctx, lease, func(ctx context.Context) error {
		return d.Handler.Run(ctx, schedule.Run{ScheduleID: d.ID, At: at, AppAuth: schedule.Principal(d.ID), Host: f.host(d.ID), Hands: h})
	})
	if failure != "" {
		f.log().ErrorContext(ctx, "a schedule's handler failed", "schedule", d.ID, "at", contract.At(at), "error", failure)
	}
	end := row.End(h.sessions(), failure)
	_, err = racing(ctx, func() (struct{}, bool, error) {
		err := f.Table.Commit(ctx, store.ChangeFiring(end))
		if fault.Is(err, fault.Conflict) { // written before, or the sweep has given it up
			err = nil
		}
		return struct{}{}, err == nil, err
	})
	if err != nil { // it ran; the sweep will say that nobody knows how it ended
		f.log().ErrorContext(ctx, "the end of a firing was not saved", "schedule", d.ID, "at", contract.At(at), "error", err)
	}
	return ranAs(end.To, d.ID), nil
}

// host is what the program shares with one of its schedules; reminders are the schedule's own.
func (f RunSchedule) host(id string) schedule.Host {
	h := f.Host
	if f.Alarms != nil {
		h.Reminders = HostReminders{Reminders{Edges: f.Edges, Alarms: f.Alarms}, schedule.Principal(id)}
	}
	return h
}
