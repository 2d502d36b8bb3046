package agency

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// CommitmentEvent is something that moves a commitment: Start, Waiting, Closed, Settle or Redispatch.
type CommitmentEvent interface {
	move(s standing, at time.Time, l CommitmentLimits) (standing, bool)
}

// standing is what events look at and change.
type standing struct {
	status           CommitmentStatus
	owner            string
	tasks            []string
	expiresAt        contract.Instant
	review           *contract.Instant
	decision         *Verdict
	externalRef      *string
	reconsiderations int
	room, stale      bool // one more may be open; its task counts as lost
}

// Start says that the task began to look into it.
type Start struct{ TaskID string }

// Waiting says that the task produced something and the counterpart is to act.
type Waiting struct {
	TaskID      string
	ExternalRef string
	Reason      string // default "waiting"
	Facts       any
}

// Closed says that the task decided.
type Closed struct {
	TaskID     string
	Status     CommitmentStatus // a settled one
	Reason     string
	Facts      any
	Reconsider bool // a decline may be looked at again when facts change
}

// Settle says how the counterpart acted on what it waited for.
type Settle struct {
	Status CommitmentStatus
	Reason string
}

// RedispatchMode says why a commitment gets a new task.
type RedispatchMode string

// The modes.
const (
	Resume     RedispatchMode = "resume"     // its task was lost
	Reconsider RedispatchMode = "reconsider" // it was declined, and the facts changed
)

// Redispatch gives it a new task.
type Redispatch struct {
	TaskID string
	Mode   RedispatchMode
}

// requeue says that the task that had begun will run again.
type requeue struct{ TaskID string }

func (e requeue) move(s standing, _ time.Time, _ CommitmentLimits) (standing, bool) {
	ok := s.status == CommitmentEvaluating && s.owner == e.TaskID
	s.status = CommitmentQueued
	return s, ok
}

func (e Start) move(s standing, _ time.Time, _ CommitmentLimits) (standing, bool) {
	ok := s.status == CommitmentQueued && s.owner == e.TaskID
	s.status = CommitmentEvaluating
	return s, ok
}

func (s standing) looking(taskID string) bool {
	return (s.status == CommitmentQueued || s.status == CommitmentEvaluating) && s.owner == taskID
}

func (e Waiting) move(s standing, at time.Time, _ CommitmentLimits) (standing, bool) {
	facts, err := factsOf(e.Facts)
	if err != nil || !s.looking(e.TaskID) {
		return s, false
	}
	if e.Reason == "" {
		e.Reason = "waiting"
	}
	s.status, s.review, s.externalRef = CommitmentWaiting, nil, &e.ExternalRef
	s.decision = &Verdict{Reason: e.Reason, At: contract.At(at), TaskID: e.TaskID, Facts: facts}
	return s, true
}

func (e Closed) move(s standing, at time.Time, l CommitmentLimits) (standing, bool) {
	facts, err := factsOf(e.Facts)
	if err != nil || !s.looking(e.TaskID) || !e.Status.settles() {
		return s, false
	}
	s.status, s.review = e.Status, nil
	s.decision = &Verdict{Reason: e.Reason, At: contract.At(at), TaskID: e.TaskID, Facts: facts}
	if e.Status == CommitmentDeclined && e.Reconsider && s.reconsiderations < l.MaxReconsiderations {
		review := at.Add(l.ReconsiderCooldown)
		if deadline, ok := readTime(s.expiresAt); ok && review.Before(deadline) {
			s.review = new(contract.At(review))
		}
	}
	return s, true
}

func (e Settle) move(s standing, at time.Time, _ CommitmentLimits) (standing, bool) {
	if s.status != CommitmentWaiting || !e.Status.settles() {
		return s, false
	}
	verdict := Verdict{Reason: e.Reason, At: contract.At(at), TaskID: s.owner}
	if s.decision != nil {
		verdict.Facts = s.decision.Facts
	}
	s.status, s.review, s.decision = e.Status, nil, &verdict
	return s, true
}

func (e Redispatch) move(s standing, at time.Time, l CommitmentLimits) (standing, bool) {
	deadline, ok := readTime(s.expiresAt)
	if !ok || !at.Before(deadline) || e.TaskID == "" || slices.Contains(s.tasks, e.TaskID) || len(s.tasks) >= l.ChildTasks {
		return s, false
	}
	switch e.Mode {
	case Resume:
		if s.status != CommitmentQueued || !s.stale {
			return s, false
		}
	case Reconsider:
		if s.status != CommitmentDeclined || s.review == nil || !reached(*s.review, at) || !s.room {
			return s, false
		}
		s.reconsiderations++
	default:
		return s, false
	}
	s.status, s.review, s.owner = CommitmentQueued, nil, e.TaskID
	s.tasks = append(slices.Clone(s.tasks), e.TaskID)
	return s, true
}

func reached(i contract.Instant, at time.Time) bool {
	t, ok := readTime(i)
	return ok && !at.Before(t)
}

// settles reports whether a commitment with this status is over.
func (s CommitmentStatus) settles() bool {
	switch s {
	case CommitmentFulfilled, CommitmentDeclined, CommitmentCancelled, CommitmentFailed, CommitmentExpired:
		return true
	}
	return false
}

// factsOf gives facts as they are stored; nothing is null.
func factsOf(facts any) (json.RawMessage, error) {
	if facts == nil {
		return nil, nil
	}
	return encode(facts)
}
