package agency

import (
	"cmp"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

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

	// OpenTaken: the task that would keep it was made before, by another task, and the book does not know of it. It was promised so long ago
	// that history has forgotten it, or by another scope or agent type, from which NamespacedIDs keep apart. Of Context.Promise alone.
	OpenTaken OpenOutcome = "taken"
)

// Stands reports whether the promise may be said: it is recorded, now or before, or an open one says the same.
func (o OpenOutcome) Stands() bool {
	return o == OpenCreated || o == OpenExisting || o == OpenDuplicate
}

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
		if c.Open() && c.Counterpart == d.Counterpart && c.Kind == d.Kind && c.unreadable == nil && sameJSON(c.Intent, d.Intent) {
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
