package agency

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Due is what a check-in should look after.
type Due[I any] struct {
	Resume     []Commitment[I] // queued for so long that the task counts as lost
	Reconsider []Commitment[I] // declined, and the facts changed
}

// Len is how many there are.
func (d Due[I]) Len() int { return len(d.Resume) + len(d.Reconsider) }

// All gives them with the mode each calls for: those to reconsider, then those to resume.
func (d Due[I]) All() iter.Seq2[RedispatchMode, Commitment[I]] {
	return func(yield func(RedispatchMode, Commitment[I]) bool) {
		for _, c := range d.Reconsider {
			if !yield(Reconsider, c) {
				return
			}
		}
		for _, c := range d.Resume {
			if !yield(Resume, c) {
				return
			}
		}
	}
}

// DueCommitments gives what should get a new task, oldest first. changed says of a declined one whether its facts changed; nil: never.
// A queued one is stale from when its task was to run. One that is Unreadable is not due. Pure.
func DueCommitments[I any](b CommitmentBook[I], now time.Time, changed func(Commitment[I]) bool, l CommitmentLimits) Due[I] {
	l = l.orDefault()
	var d Due[I]
	for _, c := range b.Commitments {
		if !c.before(now) || len(c.ChildTaskIDs) >= l.ChildTasks || c.unreadable != nil {
			continue
		}
		switch c.Status {
		case CommitmentQueued:
			if c.stale(now, l.StaleQueue) {
				d.Resume = append(d.Resume, c)
			}
		case CommitmentDeclined:
			if c.NextReviewAt != nil && reached(*c.NextReviewAt, now) && changed != nil && changed(c) {
				d.Reconsider = append(d.Reconsider, c)
			}
		}
	}
	oldest := func(a, b Commitment[I]) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) }
	slices.SortStableFunc(d.Resume, oldest)
	slices.SortStableFunc(d.Reconsider, oldest)
	return d
}

func (c Commitment[I]) stale(now time.Time, after time.Duration) bool {
	since, ok := readTime(max(c.UpdatedAt, c.TaskDueAt))
	return ok && now.Sub(since) >= after
}
