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
	// SessionStarted is the first event of every session, at index 0.
	SessionStarted struct {
		Mode      string    `json:"mode"`
		Channel   string    `json:"channel,omitempty"`
		Principal Principal `json:"principal"`
	}
	// SessionWaiting says that nothing runs and nothing waits: the session takes the next message.
	SessionWaiting struct{}
	// SessionCompleted ends the session of a task that succeeded.
	SessionCompleted struct {
		Result string `json:"result"`
	}
	// SessionFailed ends the session of a task that failed.
	SessionFailed struct {
		Error string `json:"error"`
	}
	// MessageReceived is the prompt of a turn. DeliveryIDs names every message that went into it, in order.
	MessageReceived struct {
		Text        string   `json:"text"`
		DeliveryIDs []string `json:"deliveryIds"`
		Files       []string `json:"files,omitempty"` // paths of what they brought for the workspace
	}
	// NudgeDelivered is a message that a turn took up while it was running.
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
	// TurnQueued says that a turn waits for a place, because as many turns run as may.
	TurnQueued struct {
		Position int `json:"position"`
	}
	// TurnCompleted ends a turn with its answer.
	TurnCompleted struct {
		Result string `json:"result"`
		Limit  string `json:"limit,omitempty"` // which limit cut the answer short
		Usage  Usage  `json:"usage"`
	}
	// TurnFailed ends a turn that has no answer. Status is failed, cancelled, interrupted, or blocked: a content
	// filter withheld it.
	TurnFailed struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Usage  *Usage `json:"usage,omitempty"`
	}
	// StepStarted opens a step: one model call and the tool calls it asks for.
	StepStarted struct {
		Step int `json:"step"`
	}
	// StepCompleted closes a step.
	StepCompleted struct {
		Step       int   `json:"step"`
		DurationMs int64 `json:"durationMs"`
		Usage      Usage `json:"usage"`
	}
	// ReasoningAppended is a piece of the model's reasoning, as it streams in.
	ReasoningAppended struct {
		Delta   string `json:"delta"`
		Attempt int    `json:"attempt,omitempty"` // over 1: earlier pieces of this step are void
	}
	// ReasoningCompleted is the whole reasoning of a step.
	ReasoningCompleted struct {
		Text string `json:"text"`
	}
	// MessageAppended is a piece of the answer, as it streams in.
	MessageAppended struct {
		Delta   string `json:"delta"`
		Attempt int    `json:"attempt,omitempty"` // over 1: earlier pieces of this step are void
	}
	// MessageCompleted is the whole text of a step's answer.
	MessageCompleted struct {
		Text string `json:"text"`
	}
	// ActionsRequested lists the tool calls of a step.
	ActionsRequested struct {
		Calls []ActionCall `json:"calls"`
	}
	// ActionResult is the outcome of one tool call.
	ActionResult struct {
		ID         string          `json:"id"`
		Name       string          `json:"name"`
		Status     string          `json:"status"` // success or error
		Output     json.RawMessage `json:"output"`
		DurationMs int64           `json:"durationMs"`
	}
	// ActionsCompleted says that every call of an ActionsRequested has its result.
	ActionsCompleted struct {
		IDs []string `json:"ids"`
	}
	// SkillsReported lists what is wrong with a new session's skills: which did not load, and why.
	SkillsReported struct {
		Findings []SkillFinding `json:"findings"`
		More     int            `json:"more,omitempty"` // how many are not told
	}
	// ArtifactTagged says that a file of the session was marked as an artifact. The same file may be tagged again.
	ArtifactTagged struct {
		Path     string `json:"path"`
		Artifact string `json:"artifact"` // as what
		Bytes    int64  `json:"bytes"`
	}
	// SubagentCalled says that a call of a tool that is another agent has begun. ID is the tool call's.
	SubagentCalled struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Depth   int    `json:"depth"` // from 1
		Request string `json:"request"`
	}
	// SubagentCompleted is the outcome of a subagent's call. Its usage is part of the turn's.
	SubagentCompleted struct {
		ID         string `json:"id"`
		Name       string `json:"name"`
		Status     string `json:"status"` // success or error
		Error      string `json:"error,omitempty"`
		Steps      int    `json:"steps"`
		DurationMs int64  `json:"durationMs"`
		Usage      Usage  `json:"usage"`
	}
	// ActionToolRetry says that a read-only tool failed and is run again.
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

// ApprovalRequested says that a tool call waits for a person. Nothing of the turn runs meanwhile.
type ApprovalRequested struct {
	ActionID  string          `json:"actionId"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ExpiresAt Instant         `json:"expiresAt"`
}

// EventType is action.approval_requested.
func (ApprovalRequested) EventType() string { return "action.approval_requested" }

// ApprovalResolved says what was decided. It is written once for each ApprovalRequested.
type ApprovalResolved struct {
	ActionID string `json:"actionId"`
	Name     string `json:"name"`
	Decision string `json:"decision"` // approved, denied, expired, void: the turn ended before
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// EventType is action.approval_resolved.
func (ApprovalResolved) EventType() string { return "action.approval_resolved" }

// ActionCall is one tool call that the model asks for, with its validated input.
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
