package agency

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// A commitment's life. One task owns it at a time, the last of its tasks:
//
//	          Start                Waiting                         Settle
//	queued ──────────▶ evaluating ─────────▶ waiting_on_counterpart ──────▶ fulfilled, declined, ...
//	  ▲ │ Closed            │ Closed
//	  │ └──────┬────────────┘          ExpireCommitments, at the deadline:
//	  │        ▼                       queued, evaluating ──▶ expired
//	  │     declined, cancelled, failed, ...
//	  │        │ if marked for reconsideration, later, at most MaxReconsiderations times
//	  └────────┘ Redispatch

// CommitmentStatus is where a commitment stands.
type CommitmentStatus string

// The statuses of a commitment. The first three are open.
const (
	CommitmentQueued     CommitmentStatus = "queued"
	CommitmentEvaluating CommitmentStatus = "evaluating"
	CommitmentWaiting    CommitmentStatus = "waiting_on_counterpart"
	CommitmentFulfilled  CommitmentStatus = "fulfilled"
	CommitmentDeclined   CommitmentStatus = "declined"
	CommitmentCancelled  CommitmentStatus = "cancelled"
	CommitmentFailed     CommitmentStatus = "failed"
	CommitmentExpired    CommitmentStatus = "expired"
)

// Said is where something was said; never the text.
type Said struct {
	Channel    string `json:"channel"`
	Ref        string `json:"ref"`
	Visibility string `json:"visibility"`
}

// Verdict is why a commitment stands where it does.
type Verdict struct {
	Reason string           `json:"reason"`
	At     contract.Instant `json:"at"`
	TaskID string           `json:"taskId"`
	Facts  json.RawMessage  `json:"facts"` // what the decision rested on; null: nothing
}

// Commitment is a promise, with the host's own intent.
type Commitment[I any] struct {
	ID               string            `json:"id"`
	Kind             string            `json:"kind"`
	Status           CommitmentStatus  `json:"status"`
	CreatedAt        contract.Instant  `json:"createdAt"`
	UpdatedAt        contract.Instant  `json:"updatedAt"`
	ExpiresAt        contract.Instant  `json:"expiresAt"`
	NextReviewAt     *contract.Instant `json:"nextReviewAt"`
	Counterpart      string            `json:"counterpart"`
	Source           Said              `json:"source"`
	Intent           I                 `json:"intent"`
	AgendaID         *string           `json:"agendaId"`
	ChildTaskIDs     []string          `json:"childTaskIds"` // the last one owns it
	ExternalRef      *string           `json:"externalRef"`
	Decision         *Verdict          `json:"decision"`
	Reconsiderations int               `json:"reconsiderations"`
	TaskDueAt        contract.Instant  `json:"taskDueAt,omitempty"` // when its task is to run, if later than it was sent

	read       json.RawMessage
	unreadable error // why there is no Intent
}

// Unreadable says why a commitment has no Intent: I has changed so that what is stored is none any more. It stays in the book, and its
// task fails; a type that reads both forms brings it back.
func (c Commitment[I]) Unreadable() error { return c.unreadable }

// Open reports whether it counts towards the limits.
func (c Commitment[I]) Open() bool {
	return c.Status == CommitmentQueued || c.Status == CommitmentEvaluating || c.Status == CommitmentWaiting
}

// owner is the task that may move it.
func (c Commitment[I]) owner() string {
	if len(c.ChildTaskIDs) == 0 {
		return ""
	}
	return c.ChildTaskIDs[len(c.ChildTaskIDs)-1]
}

// CommitmentBook is an agent's commitments: open ones first, then settled ones, newest first. The zero value is empty.
type CommitmentBook[I any] struct {
	Commitments []Commitment[I]

	read json.RawMessage
}

// Find gives the commitment with an id.
func (b CommitmentBook[I]) Find(id string) (c Commitment[I], ok bool) {
	i := slices.IndexFunc(b.Commitments, func(c Commitment[I]) bool { return c.ID == id })
	if i < 0 {
		return c, false
	}
	return b.Commitments[i], true
}

// CommitmentLimits bounds a book. The zero value means DefaultCommitmentLimits; fields of any other count as they are, so change a copy
// of it.
type CommitmentLimits struct {
	Active              int           // open ones
	PerCounterpart      int           // open ones with one counterpart
	History             int           // settled ones that are kept
	ChildTasks          int           // tasks of one commitment
	StaleQueue          time.Duration // queued for so long, its task counts as lost
	ReconsiderCooldown  time.Duration
	MaxReconsiderations int
}

// DefaultCommitmentLimits are the limits unless others are given.
var DefaultCommitmentLimits = CommitmentLimits{
	Active: 3, PerCounterpart: 1, History: 12, ChildTasks: 4, StaleQueue: time.Hour, ReconsiderCooldown: 12 * time.Hour, MaxReconsiderations: 1,
}

func (l CommitmentLimits) orDefault() CommitmentLimits {
	if l == (CommitmentLimits{}) {
		return DefaultCommitmentLimits
	}
	return l
}

// AdvanceCommitment moves a commitment; applied is false, and the book as it was, for an event that does not apply: another task
// owns it, or it does not stand where the event begins. Pure.
func AdvanceCommitment[I any](b CommitmentBook[I], id string, e CommitmentEvent, at time.Time, l CommitmentLimits) (next CommitmentBook[I], applied bool) {
	l = l.orDefault()
	c, found := b.Find(id)
	if !found {
		return b, false
	}
	step, applied := e.move(standing{
		status: c.Status, owner: c.owner(), tasks: c.ChildTaskIDs, expiresAt: c.ExpiresAt, review: c.NextReviewAt, decision: c.Decision,
		reconsiderations: c.Reconsiderations, room: b.room(c.Counterpart, l), stale: c.stale(at, l.StaleQueue),
	}, at, l)
	if !applied {
		return b, false
	}
	c.Status, c.NextReviewAt, c.Decision, c.Reconsiderations = step.status, step.review, step.decision, step.reconsiderations
	c.ChildTaskIDs, c.UpdatedAt = step.tasks, contract.At(at)
	if step.externalRef != nil {
		c.ExternalRef = step.externalRef
	}
	if step.status != CommitmentQueued || step.owner != c.owner() {
		c.TaskDueAt = ""
	}
	return b.with(c, l), true
}

// ExpireCommitments settles looks that were not done by their deadline, and names them. What waits for its counterpart stays. Pure.
func ExpireCommitments[I any](b CommitmentBook[I], at time.Time, l CommitmentLimits) (next CommitmentBook[I], expired []string) {
	all := slices.Clone(b.Commitments)
	for i, c := range all {
		if c.Status != CommitmentQueued && c.Status != CommitmentEvaluating || c.before(at) {
			continue
		}
		c.Status, c.UpdatedAt, c.NextReviewAt, c.TaskDueAt = CommitmentExpired, contract.At(at), nil, ""
		c.Decision = &Verdict{Reason: "deadline_passed", At: contract.At(at), TaskID: c.owner()}
		all[i], expired = c, append(expired, c.ID)
	}
	if len(expired) == 0 {
		return b, nil
	}
	return b.arranged(all, l.orDefault()), expired
}

// before reports whether a time lies before the deadline; an unreadable one has passed.
func (c Commitment[I]) before(at time.Time) bool {
	deadline, ok := readTime(c.ExpiresAt)
	return ok && at.Truncate(time.Millisecond).Before(deadline)
}
