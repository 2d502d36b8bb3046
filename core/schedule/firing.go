package schedule

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Times of firings.
const (
	FiringLife  = 7 * 24 * time.Hour
	firingLease = 30 * time.Second // of a claim that has not started
	margin      = 5 * time.Second  // clocks may differ by this much
)

// FiringStatus is where a firing stands.
//
//	         claim              start             end
//	none ─────────▶ claimed ─────────▶ started ─────────▶ done
//	                 │   ▲                │ its lease is over: it may have done anything
//	                 └───┘                └──────────────▶ lost
//	         its lease is over: claimed again, or dropped if its reminder has ended or moved on
//
// A file's firing is done in the write that begins its session.
type FiringStatus string

// The statuses.
const (
	FiringClaimed FiringStatus = "claimed"
	FiringStarted FiringStatus = "started"
	FiringDone    FiringStatus = "done"
	FiringLost    FiringStatus = "lost"
	FiringDropped FiringStatus = "dropped"
)

// FiringRow is one instant of a schedule, or of a reminder that names a handler.
type FiringRow struct {
	ScheduleID string       `dynamodbav:"scheduleId,omitempty"` // or
	ReminderID string       `dynamodbav:"reminderId,omitempty"`
	At         int64        `dynamodbav:"at"` // ms
	Status     FiringStatus `dynamodbav:"status"`
	Manual     bool         `dynamodbav:"manual,omitempty"`
	Owner      string       `dynamodbav:"owner,omitempty"`      // random for each worker
	LeaseUntil int64        `dynamodbav:"leaseUntil,omitempty"` // ms
	ClaimedAt  int64        `dynamodbav:"claimedAt"`            // ms, first
	Sessions   []string     `dynamodbav:"sessions,omitempty"`   // that it began or wrote to
	Error      string       `dynamodbav:"error,omitempty"`      // of its handler
	Action     Action       `dynamodbav:"action,omitempty"`     // what a reminder's handler made of it
	ExpiresAt  int64        `dynamodbav:"expiresAt"`
	DuePK      string       `dynamodbav:"duePk,omitempty"`
	DueSK      string       `dynamodbav:"dueSk,omitempty"`
}

// Key is where the row lies.
func (f FiringRow) Key() key.Key {
	if f.ReminderID != "" {
		return key.ReminderFiring(f.ReminderID, f.At)
	}
	return key.Firing(f.ScheduleID, f.At)
}

// FiringChange is a transition: the row to be, and the condition under which it may be written.
type FiringChange struct {
	From, To FiringRow
	If       cond.Expr
}

// Began is the firing of a file, whose session is made in the same write.
func Began(scheduleID string, at time.Time, sessionID string, now time.Time) FiringRow {
	return FiringRow{
		ScheduleID: scheduleID, At: at.UnixMilli(), Status: FiringDone, ClaimedAt: now.UnixMilli(), Sessions: []string{sessionID},
		ExpiresAt: now.Add(FiringLife).Unix(),
	}
}

// ClaimFirst claims a firing of a handler that nobody has claimed. Of f count only whose it is, At and Manual.
func (f FiringRow) ClaimFirst(owner string, now time.Time) FiringRow {
	first := FiringRow{
		ScheduleID: f.ScheduleID, ReminderID: f.ReminderID, At: f.At, Manual: f.Manual, Status: FiringClaimed, Owner: owner,
		ClaimedAt: now.UnixMilli(), ExpiresAt: now.Add(FiringLife).Unix(),
	}
	return first.leased(now.Add(firingLease))
}

func (f FiringRow) leased(until time.Time) FiringRow {
	f.LeaseUntil = until.UnixMilli()
	return f.due(until.Add(margin + time.Millisecond)) // when it can be claimed
}

func (f FiringRow) due(at time.Time) FiringRow {
	f.DuePK, f.DueSK = key.DuePK(f.Key().PK), key.DueSK(at.UnixMilli())
	return f
}

func (f FiringRow) released() FiringRow {
	f.Owner, f.LeaseUntil, f.DuePK, f.DueSK = "", 0, "", ""
	return f
}

// Claim takes over a firing whose worker died before it started. ok is false when there is nothing to take.
func (f FiringRow) Claim(owner string, now time.Time) (c FiringChange, ok bool) {
	to := f
	to.Owner = owner
	return FiringChange{f, to.leased(now.Add(firingLease)), cond.And(
		cond.Eq("status", FiringClaimed), cond.Is("leaseUntil", cond.OpLt, now.Add(-margin).UnixMilli()),
	)}, f.Status == FiringClaimed && f.LeaseUntil < now.Add(-margin).UnixMilli()
}

// Start is written before the handler runs, which ends within lease.
func (f FiringRow) Start(lease time.Duration, now time.Time) FiringChange {
	to := f.leased(now.Add(lease))
	to.Status = FiringStarted
	return FiringChange{f, to, cond.And(cond.Eq("status", FiringClaimed), cond.Eq("owner", f.Owner))}
}

// End is written when the handler has returned.
func (f FiringRow) End(sessions []string, failure string) FiringChange {
	to := f.released()
	to.Status, to.Sessions, to.Error = FiringDone, sessions, failure
	return FiringChange{f, to, cond.And(cond.Eq("status", FiringStarted), cond.Eq("owner", f.Owner))}
}

// Ended is End with what a reminder's handler made of the firing.
func (f FiringRow) Ended(a Action, sessions []string, failure string) FiringChange {
	c := f.End(sessions, failure)
	c.To.Action = a
	return c
}

// Drop is for a firing that was claimed, and whose reminder has ended or moved on before it started.
func (f FiringRow) Drop() FiringChange {
	to := f.released()
	to.Status = FiringDropped
	return FiringChange{f, to, cond.And(cond.Eq("status", FiringClaimed), cond.Eq("owner", f.Owner))}
}

// FiringRemedy is what a sweep does about a firing.
type FiringRemedy string

// The remedies.
const (
	LeaveFiring     FiringRemedy = "leave"
	DeliverFiring   FiringRemedy = "deliver" // its worker died before it started
	DropFiring      FiringRemedy = "drop"    // a reminder's that has ended or moved on; Sweep does not know
	FiringCountLost FiringRemedy = "lost"    // its worker died in the middle: reported, never run again
)

// Sweep looks after a firing that is due. again is when the next look is.
func (f FiringRow) Sweep(now time.Time, again time.Duration) (FiringRemedy, FiringChange) {
	seen := cond.Eq("dueSk", f.DueSK)
	switch {
	case f.DueSK == "" || f.Status != FiringClaimed && f.Status != FiringStarted:
		return LeaveFiring, FiringChange{}
	case f.LeaseUntil >= now.Add(-margin).UnixMilli():
		return LeaveFiring, FiringChange{}
	case f.Status == FiringStarted:
		to := f.released()
		to.Status = FiringLost
		return FiringCountLost, FiringChange{f, to, cond.And(seen, cond.Eq("status", FiringStarted), cond.Eq("owner", f.Owner))}
	}
	return DeliverFiring, FiringChange{f, f.due(now.Add(again)), cond.And(seen, cond.Eq("status", FiringClaimed))}
}
