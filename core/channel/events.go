package channel

import (
	"encoding/json"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// EventHandlers are what a channel does with the events of its sessions, each by its type; Any gets those that have no handler of
// their own. A handler is given each event at least once, and events may come out of their order: the session's id and the event's
// index name it. A handler that fails with fault.Invalid is not asked again; with any other error it is, later and later, for a day.
type EventHandlers struct {
	SessionStarted     func(Context, contract.SessionEvent, contract.SessionStarted) error
	SessionWaiting     func(Context, contract.SessionEvent, contract.SessionWaiting) error
	SessionCompleted   func(Context, contract.SessionEvent, contract.SessionCompleted) error
	SessionFailed      func(Context, contract.SessionEvent, contract.SessionFailed) error
	MessageReceived    func(Context, contract.SessionEvent, contract.MessageReceived) error
	NudgeDelivered     func(Context, contract.SessionEvent, contract.NudgeDelivered) error
	TurnStarted        func(Context, contract.SessionEvent, contract.TurnStarted) error
	TurnQueued         func(Context, contract.SessionEvent, contract.TurnQueued) error
	TurnCompleted      func(Context, contract.SessionEvent, contract.TurnCompleted) error
	TurnFailed         func(Context, contract.SessionEvent, contract.TurnFailed) error
	StepStarted        func(Context, contract.SessionEvent, contract.StepStarted) error
	StepCompleted      func(Context, contract.SessionEvent, contract.StepCompleted) error
	ReasoningCompleted func(Context, contract.SessionEvent, contract.ReasoningCompleted) error
	MessageCompleted   func(Context, contract.SessionEvent, contract.MessageCompleted) error
	ActionsRequested   func(Context, contract.SessionEvent, contract.ActionsRequested) error
	ActionResult       func(Context, contract.SessionEvent, contract.ActionResult) error
	ActionsCompleted   func(Context, contract.SessionEvent, contract.ActionsCompleted) error
	ApprovalRequested  func(Context, contract.SessionEvent, contract.ApprovalRequested) error
	ApprovalResolved   func(Context, contract.SessionEvent, contract.ApprovalResolved) error
	ActionToolRetry    func(Context, contract.SessionEvent, contract.ActionToolRetry) error
	SubagentCalled     func(Context, contract.SessionEvent, contract.SubagentCalled) error
	SubagentCompleted  func(Context, contract.SessionEvent, contract.SubagentCompleted) error
	ArtifactTagged     func(Context, contract.SessionEvent, contract.ArtifactTagged) error
	SkillsReported     func(Context, contract.SessionEvent, contract.SkillsReported) error
	Any                func(Context, contract.SessionEvent) error
}

// Handler is the handler for events of a type; nil: there is none.
func (h EventHandlers) Handler(eventType string) func(Context, contract.SessionEvent) error {
	if own := h.own(eventType); own != nil {
		return own
	}
	return h.Any
}

func (h EventHandlers) own(eventType string) func(Context, contract.SessionEvent) error {
	all := []struct {
		data contract.EventData
		do   func(Context, contract.SessionEvent) error
	}{
		{contract.SessionStarted{}, typed(h.SessionStarted)},
		{contract.SessionWaiting{}, typed(h.SessionWaiting)},
		{contract.SessionCompleted{}, typed(h.SessionCompleted)},
		{contract.SessionFailed{}, typed(h.SessionFailed)},
		{contract.MessageReceived{}, typed(h.MessageReceived)},
		{contract.NudgeDelivered{}, typed(h.NudgeDelivered)},
		{contract.TurnStarted{}, typed(h.TurnStarted)},
		{contract.TurnQueued{}, typed(h.TurnQueued)},
		{contract.TurnCompleted{}, typed(h.TurnCompleted)},
		{contract.TurnFailed{}, typed(h.TurnFailed)},
		{contract.StepStarted{}, typed(h.StepStarted)},
		{contract.StepCompleted{}, typed(h.StepCompleted)},
		{contract.ReasoningCompleted{}, typed(h.ReasoningCompleted)},
		{contract.MessageCompleted{}, typed(h.MessageCompleted)},
		{contract.ActionsRequested{}, typed(h.ActionsRequested)},
		{contract.ActionResult{}, typed(h.ActionResult)},
		{contract.ActionsCompleted{}, typed(h.ActionsCompleted)},
		{contract.ApprovalRequested{}, typed(h.ApprovalRequested)},
		{contract.ApprovalResolved{}, typed(h.ApprovalResolved)},
		{contract.ActionToolRetry{}, typed(h.ActionToolRetry)},
		{contract.SubagentCalled{}, typed(h.SubagentCalled)},
		{contract.SubagentCompleted{}, typed(h.SubagentCompleted)},
		{contract.ArtifactTagged{}, typed(h.ArtifactTagged)},
		{contract.SkillsReported{}, typed(h.SkillsReported)},
	}
	for _, one := range all {
		if one.data.EventType() == eventType {
			return one.do
		}
	}
	return nil
}

// typed is a handler that is given the event's data read.
func typed[D contract.EventData](do func(Context, contract.SessionEvent, D) error) func(Context, contract.SessionEvent) error {
	if do == nil {
		return nil
	}
	return func(ctx Context, e contract.SessionEvent) error {
		var data D
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return fault.Wrap(fault.Invalid, err, "event %d of %s", e.Index, e.SessionID)
		}
		return do(ctx, e, data)
	}
}
