package agency

import (
	"cmp"
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

	read json.RawMessage
}

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

// CommitmentLimits bounds a book. The zero value means DefaultCommitmentLimits.
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

// CommitmentDraft is a promise to be recorded.
type CommitmentDraft[I any] struct {
	Kind        string
	At          time.Time
	TaskID      string    // the task that will own it
	TaskDueAt   time.Time // when that task runs; zero: at once
	Counterpart string
	Source      Said
	Intent      I
	ExpiresAt   time.Time // later than At
	AgendaID    string
}

// OpenOutcome says what became of a draft.
type OpenOutcome string

// The outcomes: only Created calls for a task.
const (
	OpenCreated   OpenOutcome = "created"
	OpenExisting  OpenOutcome = "existing"  // the same kind and source are in the book: sent again
	OpenDuplicate OpenOutcome = "duplicate" // the counterpart has an open one of this kind and intent
	OpenLimit     OpenOutcome = "limit"     // say so instead of promising
	OpenInvalid   OpenOutcome = "invalid"   // no counterpart, no task, or a deadline that is not in the future
)

// OpenCommitment records a promise, once per kind and source. Pure; the book given stays as it is.
func OpenCommitment[I any](b CommitmentBook[I], d CommitmentDraft[I], l CommitmentLimits) (CommitmentBook[I], OpenOutcome) {
	next, outcome, _ := open(b, d, l.orDefault())
	return next, outcome
}

// open also gives the id of the commitment that stands for the draft.
func open[I any](b CommitmentBook[I], d CommitmentDraft[I], l CommitmentLimits) (CommitmentBook[I], OpenOutcome, string) {
	id := d.Kind + ":" + d.Source.Ref
	if _, found := b.Find(id); found {
		return b, OpenExisting, id
	}
	if d.Counterpart == "" || d.TaskID == "" || !d.ExpiresAt.After(d.At) {
		return b, OpenInvalid, ""
	}
	for _, c := range b.Commitments {
		if c.Open() && c.Counterpart == d.Counterpart && c.Kind == d.Kind && sameJSON(c.Intent, d.Intent) {
			return b, OpenDuplicate, c.ID
		}
	}
	if !b.room(d.Counterpart, l) {
		return b, OpenLimit, ""
	}
	c := Commitment[I]{
		ID: id, Kind: d.Kind, Status: CommitmentQueued, CreatedAt: contract.At(d.At), UpdatedAt: contract.At(d.At), ExpiresAt: contract.At(d.ExpiresAt),
		Counterpart: d.Counterpart, Source: d.Source, Intent: d.Intent, ChildTaskIDs: []string{d.TaskID},
	}
	if d.AgendaID != "" {
		c.AgendaID = &d.AgendaID
	}
	if d.TaskDueAt.After(d.At) {
		c.TaskDueAt = contract.At(d.TaskDueAt)
	}
	return b.with(c, l), OpenCreated, id
}

// room reports whether one more may be open with a counterpart.
func (b CommitmentBook[I]) room(counterpart string, l CommitmentLimits) bool {
	all, theirs := 0, 0
	for _, c := range b.Commitments {
		if c.Open() {
			all++
			if c.Counterpart == counterpart {
				theirs++
			}
		}
	}
	return all < l.Active && theirs < l.PerCounterpart
}

// with is the book with one commitment added or replaced.
func (b CommitmentBook[I]) with(touched Commitment[I], l CommitmentLimits) CommitmentBook[I] {
	all := []Commitment[I]{touched}
	for _, c := range b.Commitments {
		if c.ID != touched.ID {
			all = append(all, c)
		}
	}
	return b.arranged(all, l)
}

// arranged is the book of these: open ones as they stand, then settled ones, newest first, as many as are kept.
func (b CommitmentBook[I]) arranged(all []Commitment[I], l CommitmentLimits) CommitmentBook[I] {
	next := CommitmentBook[I]{read: b.read}
	var history []Commitment[I]
	for _, c := range all {
		if c.Open() {
			next.Commitments = append(next.Commitments, c)
		} else {
			history = append(history, c)
		}
	}
	slices.SortStableFunc(history, func(a, b Commitment[I]) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	next.Commitments = append(next.Commitments, history[:min(len(history), max(0, l.History))]...)
	return next
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
