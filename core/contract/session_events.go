package contract

import "encoding/json"

// SessionEvent is one line of a session's stream. Index starts at 0 and has no gap within a session.
type SessionEvent struct {
	Type      string          `json:"type"`
	Index     int64           `json:"index"`
	SessionID string          `json:"sessionId"`
	TurnID    string          `json:"turnId,omitempty"`
	At        Instant         `json:"at"`
	Data      json.RawMessage `json:"data"`
}

// EventData is the data of one type of session event.
type EventData interface{ EventType() string }

type (
	// SessionStarted is index 0 of every session.
	SessionStarted struct {
		Mode      string    `json:"mode"`
		Channel   string    `json:"channel,omitempty"`
		Principal Principal `json:"principal"`
	}
	// SessionWaiting says that nothing is pending.
	SessionWaiting struct{}
	// SessionCompleted ends a task session.
	SessionCompleted struct {
		Result string `json:"result"`
	}
	// SessionFailed ends a task session.
	SessionFailed struct {
		Error string `json:"error"`
	}
	// MessageReceived is the prompt of a turn, with every send it carries, in order.
	MessageReceived struct {
		Text        string   `json:"text"`
		DeliveryIDs []string `json:"deliveryIds"`
		Files       []string `json:"files,omitempty"` // paths of what they brought for the workspace
	}
	// NudgeDelivered is a message that a running turn took.
	NudgeDelivered struct {
		Text       string   `json:"text"`
		DeliveryID string   `json:"deliveryId"`
		Files      []string `json:"files,omitempty"` // paths of what it brought for the workspace
	}
	// TurnStarted opens a turn.
	TurnStarted struct {
		TaskID       string   `json:"taskId,omitempty"`
		UnknownTools []string `json:"unknownTools,omitempty"` // named by the session or the task, and left out: there are none of these names
	}
	// TurnQueued says that a turn waits for a place.
	TurnQueued struct {
		Position int `json:"position"`
	}
	// TurnCompleted ends a turn with its answer.
	TurnCompleted struct {
		Result string `json:"result"`
		Limit  string `json:"limit,omitempty"` // which limit cut the answer short
		Usage  Usage  `json:"usage"`
	}
	// TurnFailed ends a turn without one. Status is failed, cancelled or interrupted.
	TurnFailed struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Usage  *Usage `json:"usage,omitempty"`
	}
	// StepStarted opens one model call and what follows from it.
	StepStarted struct {
		Step int `json:"step"`
	}
	// StepCompleted closes it.
	StepCompleted struct {
		Step       int   `json:"step"`
		DurationMs int64 `json:"durationMs"`
		Usage      Usage `json:"usage"`
	}
	// ReasoningAppended is a piece of reasoning.
	ReasoningAppended struct {
		Delta   string `json:"delta"`
		Attempt int    `json:"attempt,omitempty"` // over 1: earlier pieces of this step are void
	}
	// ReasoningCompleted is the whole of it.
	ReasoningCompleted struct {
		Text string `json:"text"`
	}
	// MessageAppended is a piece of the answer.
	MessageAppended struct {
		Delta   string `json:"delta"`
		Attempt int    `json:"attempt,omitempty"` // over 1: earlier pieces of this step are void
	}
	// MessageCompleted is a finalized assistant text.
	MessageCompleted struct {
		Text string `json:"text"`
	}
	// ActionsRequested lists the tool calls of a step.
	ActionsRequested struct {
		Calls []ActionCall `json:"calls"`
	}
	// ActionResult is the outcome of one call.
	ActionResult struct {
		ID         string          `json:"id"`
		Name       string          `json:"name"`
		Status     string          `json:"status"` // success or error
		Output     json.RawMessage `json:"output"`
		DurationMs int64           `json:"durationMs"`
	}
	// ActionsCompleted pairs with ActionsRequested.
	ActionsCompleted struct {
		IDs []string `json:"ids"`
	}
	// SkillsReported tells what is wrong with the skills of a session that begins: which did not load, and why.
	SkillsReported struct {
		Findings []SkillFinding `json:"findings"`
		More     int            `json:"more,omitempty"` // how many are not told
	}
	// ArtifactTagged says that a file of the session was made known as something to be used. The same file may be tagged again.
	ArtifactTagged struct {
		Path     string `json:"path"`
		Artifact string `json:"artifact"` // as what
		Bytes    int64  `json:"bytes"`
	}
	// SubagentCalled says that a call of a tool has begun that is another agent. ID is the call's.
	SubagentCalled struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Depth   int    `json:"depth"` // from 1
		Request string `json:"request"`
	}
	// SubagentCompleted says what it came to. Its usage is part of the turn's.
	SubagentCompleted struct {
		ID         string `json:"id"`
		Name       string `json:"name"`
		Status     string `json:"status"` // success or error
		Error      string `json:"error,omitempty"`
		Steps      int    `json:"steps"`
		DurationMs int64  `json:"durationMs"`
		Usage      Usage  `json:"usage"`
	}
	// ActionToolRetry says that a read runs again.
	ActionToolRetry struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Attempt int    `json:"attempt"`
		Error   string `json:"error"`
	}
)

// SkillFinding is one thing that is wrong with a skill. Severity is error, warning or note.
type SkillFinding struct {
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"` // from 1
	Code     string `json:"code"`
	Text     string `json:"text"`
	Skipped  bool   `json:"skipped,omitempty"` // the file gives no skill
}

// ApprovalRequested is the data of action.approval_requested: the turn waits for a person, and nothing runs meanwhile.
type ApprovalRequested struct {
	ActionID  string          `json:"actionId"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ExpiresAt Instant         `json:"expiresAt"`
}

// EventType is action.approval_requested.
func (ApprovalRequested) EventType() string { return "action.approval_requested" }

// ApprovalResolved is the data of action.approval_resolved, written once for each request.
type ApprovalResolved struct {
	ActionID string `json:"actionId"`
	Name     string `json:"name"`
	Decision string `json:"decision"` // approved, denied, expired, void: the turn ended before
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// EventType is action.approval_resolved.
func (ApprovalResolved) EventType() string { return "action.approval_resolved" }

// ActionCall is one requested tool call with its validated arguments.
type ActionCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// EventType names the type on the stream.
func (SessionStarted) EventType() string     { return "session.started" }
func (SessionWaiting) EventType() string     { return "session.waiting" }
func (SessionCompleted) EventType() string   { return "session.completed" }
func (SessionFailed) EventType() string      { return "session.failed" }
func (MessageReceived) EventType() string    { return "message.received" }
func (NudgeDelivered) EventType() string     { return "nudge.delivered" }
func (TurnStarted) EventType() string        { return "turn.started" }
func (TurnQueued) EventType() string         { return "turn.queued" }
func (TurnCompleted) EventType() string      { return "turn.completed" }
func (TurnFailed) EventType() string         { return "turn.failed" }
func (StepStarted) EventType() string        { return "step.started" }
func (StepCompleted) EventType() string      { return "step.completed" }
func (ReasoningAppended) EventType() string  { return "reasoning.appended" }
func (ReasoningCompleted) EventType() string { return "reasoning.completed" }
func (MessageAppended) EventType() string    { return "message.appended" }
func (MessageCompleted) EventType() string   { return "message.completed" }
func (ActionsRequested) EventType() string   { return "actions.requested" }
func (ActionResult) EventType() string       { return "action.result" }
func (ActionsCompleted) EventType() string   { return "actions.completed" }
func (SkillsReported) EventType() string     { return "skills.reported" }
func (ArtifactTagged) EventType() string     { return "artifact.tagged" }
func (SubagentCalled) EventType() string     { return "subagent.called" }
func (SubagentCompleted) EventType() string  { return "subagent.completed" }
func (ActionToolRetry) EventType() string    { return "action.tool_retry" }
