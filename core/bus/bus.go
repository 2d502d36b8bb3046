// Package bus puts events on EventBridge. A call that succeeds has not yet published anything: every entry has an answer of
// its own, only failed entries are sent again, and one that the service rejects is told apart from one it could not take now. A
// detail that is too large travels by reference. The package receives nothing.
package bus

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Limits of PutEvents.
const (
	maxEntries   = 10         // per call
	maxCallBytes = 900 * 1024 // per call; the service takes 1 MB
	maxTries     = 4          // of entries the service could not take
)

// Rejected is the reason of a fault.Invalid: the service will never take this entry.
const Rejected = "rejected"

// API is what the bus needs of EventBridge's client.
type API interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Bus is an event bus and the source this stack speaks under. It is a plain value, safe for concurrent use.
type Bus struct {
	EventBridge API
	Name        string // default EVENT_BUS_NAME, the environment's, else "default"
	Source      string // default contract.Source
	Details     Details
}

// Details keeps fields that are too large for the bus. nil: a large event is refused.
type Details interface {
	PutDetail(ctx context.Context, id, text string) error
}

// Event is one event to publish.
type Event struct {
	DetailType string
	Detail     any
}

// Publish puts events on the bus, each at least once. An entry that fails does not keep the others back. Faults: Limit (a detail is
// too large: nothing was sent), Unavailable when some could not be taken now (the others may have been), else Invalid with reason
// Rejected when an entry can never be taken (the others were).
func (b Bus) Publish(ctx context.Context, events ...Event) error {
	entries := make([]types.PutEventsRequestEntry, 0, len(events))
	for _, e := range events {
		entry, err := b.entry(ctx, e)
		if err != nil {
			return err
		}
		entries = append(entries, entry)
	}
	var rejected error
	for _, batch := range batches(entries) {
		switch err := b.send(ctx, batch); {
		case fault.ReasonOf(err) == Rejected:
			rejected = err
		case err != nil:
			return err
		}
	}
	return rejected
}

func (b Bus) entry(ctx context.Context, e Event) (types.PutEventsRequestEntry, error) {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return types.PutEventsRequestEntry{}, fault.Wrap(fault.Internal, err, "encode %q", e.DetailType)
	}
	detail, err = b.Refer(ctx, detail, time.Time{})
	if err != nil {
		return types.PutEventsRequestEntry{}, err
	}
	name, source, text := or(b.Name, or(os.Getenv("EVENT_BUS_NAME"), "default")), or(b.Source, contract.Source), string(detail)
	return types.PutEventsRequestEntry{EventBusName: &name, Source: &source, DetailType: &e.DetailType, Detail: &text}, nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func batches(entries []types.PutEventsRequestEntry) [][]types.PutEventsRequestEntry {
	var all [][]types.PutEventsRequestEntry
	var batch []types.PutEventsRequestEntry
	bytes := 0
	for _, e := range entries {
		n := len(*e.Detail) + len(*e.DetailType) + len(*e.Source)
		if len(batch) == maxEntries || len(batch) > 0 && bytes+n > maxCallBytes {
			all, batch, bytes = append(all, batch), nil, 0
		}
		batch, bytes = append(batch, e), bytes+n
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}

// send puts one batch. Only what failed and may be taken later is sent again.
func (b Bus) send(ctx context.Context, entries []types.PutEventsRequestEntry) error {
	var rejected error
	for try := 1; ; try++ {
		out, err := b.EventBridge.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "the bus does not answer")
		}
		again, code, refused := judge(entries, out.Entries)
		if refused != nil {
			rejected = refused
		}
		switch {
		case len(again) == 0:
			return rejected
		case try == maxTries:
			return fault.New(fault.Unavailable, "the bus could not take %d of %d events: %s", len(again), len(entries), code)
		}
		if err := wait(ctx, time.Duration(try*try)*50*time.Millisecond); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the bus does not answer")
		}
		entries = again
	}
}

// judge reads the answer of every entry: those to send again and why, and an error if one can never be taken.
func judge(entries []types.PutEventsRequestEntry, answers []types.PutEventsResultEntry) (again []types.PutEventsRequestEntry, code string, rejected error) {
	for i, r := range answers {
		switch {
		case r.ErrorCode == nil:
		case passing[*r.ErrorCode]:
			again, code = append(again, entries[i]), *r.ErrorCode
		default:
			rejected = fault.New(fault.Invalid, "the bus rejects %q: %s", *entries[i].DetailType, *r.ErrorCode).Because(Rejected)
		}
	}
	return again, code, rejected
}

// passing are the codes of entries worth sending again.
var passing = map[string]bool{"InternalFailure": true, "InternalException": true, "ThrottlingException": true, "ServiceUnavailable": true}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// RequestTask asks for a task's run and returns its id, which it makes if the request has none. It needs nothing but PutEvents.
// Faults: Invalid, Unavailable.
func (b Bus) RequestTask(ctx context.Context, r task.Request) (taskID string, err error) {
	if r.TaskID == "" {
		r.TaskID = uuid.NewString()
	}
	return r.TaskID, b.Publish(ctx, Event{contract.RunAgentTask, r})
}

// RequestSession asks for a session and returns its id, which it makes if the config has none. Faults: Invalid, Unavailable.
func (b Bus) RequestSession(ctx context.Context, c session.Config) (sessionID string, err error) {
	if c.SessionID == "" {
		c.SessionID = uuid.NewString()
	}
	return c.SessionID, b.Publish(ctx, Event{contract.CreateAgentSession, contract.CreateSession{
		SessionID: c.SessionID, UserID: c.UserID, SystemPrompt: c.SystemPrompt, ModelID: c.ModelID, Temperature: c.Temperature,
		MaxTokens: c.MaxTokens, Title: c.Title, Tools: c.Tools, MCPServers: c.MCPServers,
	}})
}

// SendMessage sends a principal's message to a channel and returns its delivery id, which it makes if the message has none. It needs
// nothing but PutEvents. Faults: Invalid, Unavailable.
func (b Bus) SendMessage(ctx context.Context, channel string, p task.Principal, m contract.Message) (deliveryID string, err error) {
	if m.DeliveryID == "" {
		m.DeliveryID = "dlv_" + uuid.NewString()
	}
	return m.DeliveryID, b.Publish(ctx, Event{contract.SendAgentMessageType, contract.SendAgentMessage{
		Channel: channel, SessionID: m.SessionID, ContinuationToken: m.ContinuationToken, Message: m.Text, Principal: p,
		Admission: m.Admission, DeliveryID: m.DeliveryID, Files: m.Files,
	}})
}

// EmitTaskCompleted publishes the result of a task, under the task's own source if it has one. Faults: Invalid, Unavailable.
func (b Bus) EmitTaskCompleted(ctx context.Context, t task.Task) error {
	b.Source = or(t.Source, b.Source)
	return b.Publish(ctx, Event{contract.AgentTaskCompleted, contract.TaskCompleted{
		TaskID: t.TaskID, Status: string(t.Status), Output: t.Output, Error: t.Error, Principal: t.Principal, Usage: t.Usage,
	}})
}

// RunTurn wakes the worker of a session. Faults: Unavailable.
func (b Bus) RunTurn(ctx context.Context, sessionID string) error {
	return b.Publish(ctx, Event{contract.RunAgentTurn, contract.RunTurn{SessionID: sessionID}})
}

// RunSchedule asks for a firing of a schedule. Faults: Unavailable.
func (b Bus) RunSchedule(ctx context.Context, r contract.RunSchedule) error {
	return b.Publish(ctx, Event{contract.RunScheduleType, r})
}
