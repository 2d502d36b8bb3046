package session

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
)

// Owes reports whether the session's channel has yet to be told what the log says. A session without a channel owes nothing.
func (s State) Owes() bool { return s.Channel != "" && s.PublishedTo < s.NextIndex }

// settled is s with nothing more to do but what it owes: then it stays due.
func (s State) settled() State {
	if s.Owes() {
		return s
	}
	return s.undue()
}

// Published notes that the channel was told everything before an index. A session at rest that owes nothing more is due no more; what
// came meanwhile keeps it due, and the note is refused.
func (s State) Published(to int64) Change {
	told := s
	told.PublishedTo = max(s.PublishedTo, to)
	switch {
	case s.Phase == Parked:
		told = told.due(time.UnixMilli(s.ApprovalUntil + 1))
	case !told.Owes():
		told = told.undue()
	}
	return Change{s, told, cond.And(cond.Eq("phase", s.Phase), cond.Eq("nextIndex", s.NextIndex), cond.Absent("owner"),
		nothingPendingOr(s.Phase), cond.EqOrAbsent("dueSk", s.DueSK))}
}

// nothingPendingOr is that nothing waits, where a turn is not parked: behind it messages may.
func nothingPendingOr(p Phase) cond.Expr {
	if p == Parked {
		return cond.Exists("approvalUntil")
	}
	return nothingPending
}

// Rests reports whether nobody owns the session and it has nothing to do but to tell its channel.
func (s State) Rests() bool {
	return s.Owner == "" && (s.Phase == Done || s.Phase == Idle && s.Pending() == 0 || s.Phase == Parked)
}
