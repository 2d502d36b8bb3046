package task

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Status is where a task stands.
type Status string

// The statuses.
const (
	Pending   Status = "PENDING"
	Running   Status = "RUNNING"
	Completed Status = "COMPLETED"
	Failed    Status = "FAILED"
)

// Times and bounds of the protocol.
const (
	Life        = 24 * time.Hour
	Lease       = 30 * time.Second // default of a handler's claim
	Margin      = 5 * time.Second  // clocks may differ by this much
	MaxAttempts = 8                // claims, and refused sends, after which a task is final
	keptFailed  = 32               // deliveries remembered as failed
)

// Reasons a task ends without an answer.
const (
	ReasonCancelled      = "cancelled"
	ReasonInterrupted    = "interrupted"
	ReasonWorkerLost     = "worker_lost"
	ReasonBlocked        = "blocked" // by a content filter
	ReasonExhausted      = "dispatch_exhausted"
	ReasonSessionDeleted = "session deleted"
)

// Task is a task's STATUS row. The fields up to ExpiresAt are the TypeScript package's too.
type Task struct {
	TaskID    string             `dynamodbav:"taskId,omitempty"`
	Status    Status             `dynamodbav:"status"`
	Principal contract.Principal `dynamodbav:"principal"`
	Request   string             `dynamodbav:"request"`
	SessionID string             `dynamodbav:"sessionId"`
	CreatedBy string             `dynamodbav:"createdBy,omitempty"`
	Output    string             `dynamodbav:"output,omitempty"`
	Error     string             `dynamodbav:"error,omitempty"`
	CreatedAt int64              `dynamodbav:"createdAt"` // ms
	UpdatedAt int64              `dynamodbav:"updatedAt"` // ms
	ExpiresAt int64              `dynamodbav:"expiresAt"` // s

	Detail         string   `dynamodbav:"detail,omitempty"` // the request as sent, with its overrides: what a sweep sends again
	Owner          string   `dynamodbav:"owner,omitempty"`
	Fence          int64    `dynamodbav:"fence,omitempty"`
	LeaseUntil     int64    `dynamodbav:"leaseUntil,omitempty"` // ms; absent: a TypeScript run, or bound to a session
	Attempt        int64    `dynamodbav:"attempt,omitempty"`
	LastDelivery   string   `dynamodbav:"lastDelivery,omitempty"`
	FailedBy       []string `dynamodbav:"failedBy,omitempty"`
	Retryable      bool     `dynamodbav:"retryable,omitempty"`
	Cancelled      bool     `dynamodbav:"cancelled,omitempty"`
	CompletionOwed int64    `dynamodbav:"completionOwed,omitempty"` // the fence of the run whose end is to be told
	Session        string   `dynamodbav:"session,omitempty"`        // the session that runs it
	Turn           int64    `dynamodbav:"turn,omitempty"`           // the turn that runs it, once open
	Rejects        int64    `dynamodbav:"rejects,omitempty"`
	OutputParts    int      `dynamodbav:"outputParts,omitempty"`
	Source         string   `dynamodbav:"source,omitempty"` // under which it is sent and told; empty: the stack's own
	Usage          *Usage   `dynamodbav:"usage,omitempty"`  // of the run that ended
	DuePK          string   `dynamodbav:"duePk,omitempty"`
	DueSK          string   `dynamodbav:"dueSk,omitempty"`
}

// Usage is what a run used of models, and what it cost.
type Usage = contract.Usage

// Result is the envelope of the task.
func (t Task) Result() Result {
	return Result{TaskID: t.TaskID, Status: t.Status, Output: t.Output, Error: t.Error, Usage: t.Usage}
}

// Result is what a task came to: what an API returns, a row stores and the completion event carries.
type Result struct {
	TaskID string
	Status Status
	Output string
	Error  string
	Usage  *Usage // nil: not known, or no model was asked
}

// Wire is the result as it crosses the boundary.
func (r Result) Wire() contract.TaskResult {
	return contract.TaskResult{TaskID: r.TaskID, Status: string(r.Status), Output: r.Output, Error: r.Error, Usage: r.Usage}
}

// Withhold is the task with a note in the place of what was asked, for a content filter has blocked that.
func (t Task) Withhold(note string) Task {
	var r Request
	if json.Unmarshal([]byte(t.Detail), &r) == nil && t.Detail != "" {
		r.Request = note
		if raw, err := json.Marshal(r); err == nil {
			t.Detail = string(raw)
		}
	} else {
		t.Detail = ""
	}
	t.Request = note
	return t
}

// Expired reports whether the row's time is over, whether or not it is still there.
func (t Task) Expired(now time.Time) bool { return t.ExpiresAt != 0 && t.ExpiresAt <= now.Unix() }

// Final reports whether nothing will run it again by itself.
func (t Task) Final() bool {
	return t.Status == Completed || t.Status == Failed && !t.Retryable
}

// VisibleTo reports whether a verified user may see the task.
func (t Task) VisibleTo(sub string) bool {
	return t.Principal == User(sub) || sub != "" && t.CreatedBy == sub
}

// Bound reports whether a session's turn runs it, or will.
func (t Task) Bound() bool { return t.Status == Running && t.Session != "" }

// FailedFor reports whether the run of this delivery has failed for good.
func (t Task) FailedFor(delivery string) bool { return slices.Contains(t.FailedBy, delivery) }

func (t Task) failedBy(delivery string) []string {
	if delivery == "" {
		return t.FailedBy
	}
	list := append(slices.Clone(t.FailedBy), delivery)
	return list[max(0, len(list)-keptFailed):]
}

// due sets the time at which the sweep looks. It is never the one read: only what differs is written, and the row may have lost
// its due time since.
func (t Task) due(at time.Time) Task {
	sk := key.DueSK(at.UnixMilli())
	if sk == t.DueSK {
		sk = key.DueSK(at.UnixMilli() + 1)
	}
	t.DuePK, t.DueSK = key.DuePK(key.TaskPK(t.TaskID)), sk
	return t
}

func (t Task) undue() Task {
	t.DuePK, t.DueSK = "", ""
	return t
}

func (t Task) touched(now time.Time) Task {
	t.UpdatedAt, t.ExpiresAt = now.UnixMilli(), now.Add(Life).Unix()
	return t
}
