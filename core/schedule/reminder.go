package schedule

import (
	"strconv"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Status is how a reminder stands.
//
//	        fired, more to come
//	           ┌───┐
//	           ▼   │    fired the last time, or stopped by its handler
//	new ───▶ active ──▶ done
//	           ├──────▶ cancelled     by a person, a model, a program
//	           └──────▶ lost          its handler or its conversation is gone
type Status string

// The statuses.
const (
	Active    Status = "active"
	Done      Status = "done"
	Cancelled Status = "cancelled"
	Lost      Status = "lost"
)

// Why a reminder is lost; and what a reminder says of its last firing, while it goes on.
const (
	HandlerLost   = "handler_lost"
	SessionEnded  = "session_ended"
	HandlerFailed = "handler_failed" // or its process died in the middle
)

// Limits of reminders.
const (
	MaxReminders    = 50      // active ones of one conversation
	MaxReminderText = 8 << 10 // bytes of prompt and of until
	reminderEnds    = 24 * time.Hour
	reminderLate    = time.Minute         // after its time it is due for the sweep
	reminderLook    = 14 * 24 * time.Hour // and this often before: the conversation is kept until then
)

// ReminderRow is a reminder: the one truth about it.
type ReminderRow struct {
	ReminderID string             `dynamodbav:"reminderId"`
	SessionID  string             `dynamodbav:"sessionId"`
	Owner      contract.Principal `dynamodbav:"owner"`
	Purpose    string             `dynamodbav:"purpose"`
	Every      string             `dynamodbav:"every,omitempty"`
	Cron       string             `dynamodbav:"cron,omitempty"`
	TimeZone   string             `dynamodbav:"timezone,omitempty"`
	Prompt     string             `dynamodbav:"prompt,omitempty"`
	Run        string             `dynamodbav:"run,omitempty"`
	Until      string             `dynamodbav:"until,omitempty"`
	MaxFires   int64              `dynamodbav:"maxFires,omitempty"`
	Status     Status             `dynamodbav:"status"`
	Reason     string             `dynamodbav:"reason,omitempty"`
	FireCount  int64              `dynamodbav:"fireCount"`
	NextFireAt int64              `dynamodbav:"nextFireAt"` // ms
	CreatedAt  int64              `dynamodbav:"createdAt"`  // ms
	ExpiresAt  int64              `dynamodbav:"expiresAt,omitempty"`
	DuePK      string             `dynamodbav:"duePk,omitempty"`
	DueSK      string             `dynamodbav:"dueSk,omitempty"`
}

// ReminderChange is a transition: the row to be, and the condition under which it may be written.
type ReminderChange struct {
	From, To ReminderRow
	If       cond.Expr
}

// Remind makes the reminder that was asked for, with a first time that is now or ahead. Faults: Invalid, naming the field.
func Remind(id, sessionID string, owner contract.Principal, n contract.NewReminder, now time.Time) (ReminderRow, error) {
	if err := checkReminder(n); err != nil {
		return ReminderRow{}, err
	}
	plan, err := When{Delay: string(n.Delay), At: n.At, Every: string(n.Every), Cron: n.Cron, TimeZone: n.TimeZone}.Read(now)
	if err != nil {
		return ReminderRow{}, err
	}
	first := plan.First(now)
	switch {
	case first.IsZero():
		return ReminderRow{}, fault.New(fault.Invalid, "cron: %q never comes", n.Cron)
	case first.Before(now.Add(-reminderLate)):
		return ReminderRow{}, fault.New(fault.Invalid, "at: %q is past", n.At)
	case !plan.Recurring() && n.MaxFires > 1:
		return ReminderRow{}, fault.New(fault.Invalid, "maxFires: only goes with every and cron")
	}
	r := ReminderRow{
		ReminderID: id, SessionID: sessionID, Owner: owner, Purpose: n.Purpose, Every: string(n.Every), Cron: n.Cron, TimeZone: n.TimeZone,
		Prompt: n.Prompt, Run: n.Run, Until: n.Until, MaxFires: n.MaxFires, Status: Active, CreatedAt: now.UnixMilli(),
	}
	return r.at(first, now), nil
}

func checkReminder(n contract.NewReminder) error {
	switch {
	case (strings.TrimSpace(n.Prompt) == "") == (n.Run == ""):
		return fault.New(fault.Invalid, "exactly one of prompt and run is due")
	case len(n.Prompt) > MaxReminderText:
		return fault.New(fault.Invalid, "prompt: %d bytes, the limit is %d", len(n.Prompt), MaxReminderText)
	case len(n.Until) > MaxReminderText:
		return fault.New(fault.Invalid, "until: %d bytes, the limit is %d", len(n.Until), MaxReminderText)
	case n.MaxFires < 0:
		return fault.New(fault.Invalid, "maxFires: %d is less than 0", n.MaxFires)
	case n.Run != "":
		if err := contract.CheckID("run", n.Run); err != nil {
			return err
		}
	}
	return contract.CheckID("purpose", n.Purpose)
}

// at sets the next time.
func (r ReminderRow) at(t, now time.Time) ReminderRow {
	r.NextFireAt = t.UnixMilli()
	look := t.Add(reminderLate)
	if often := now.Add(reminderLook); often.Before(look) {
		look = often
	}
	r.DuePK, r.DueSK = key.DuePK(key.Reminder(r.ReminderID).PK), key.DueSK(look.UnixMilli())
	return r
}

func (r ReminderRow) end(s Status, reason string, now time.Time) ReminderRow {
	r.Status, r.Reason = s, reason
	r.DuePK, r.DueSK, r.ExpiresAt = "", "", now.Add(reminderEnds).Unix()
	return r
}

// Next is when it fires, zero when it does not.
func (r ReminderRow) Next() time.Time {
	if r.Status != Active {
		return time.Time{}
	}
	return time.UnixMilli(r.NextFireAt).UTC()
}

// stands is the condition that nothing has happened to the reminder since it was read.
func (r ReminderRow) stands() cond.Expr {
	return cond.And(cond.Eq("status", Active), cond.Eq("nextFireAt", r.NextFireAt))
}

// Fire counts a firing and sets the next time, or ends a reminder that has none. Only an active one fires.
func (r ReminderRow) Fire(now time.Time) ReminderChange {
	to := r
	to.FireCount++
	plan, err := When{Every: r.Every, Cron: r.Cron, TimeZone: r.TimeZone}.Read(now)
	next := time.Time{}
	if err == nil { // else it has one time only
		next = plan.Next(r.Next(), now)
	}
	if next.IsZero() || r.MaxFires > 0 && to.FireCount >= r.MaxFires {
		return ReminderChange{r, to.end(Done, "", now), r.stands()}
	}
	return ReminderChange{r, to.at(next, now), r.stands()}
}

// Ran is Fire for a reminder whose handler has run: firing is that firing, which has ended or was lost.
func (r ReminderRow) Ran(firing FiringRow, now time.Time) ReminderChange {
	c := r.Fire(now)
	if firing.Action == Stop {
		to := r
		to.FireCount++
		c.To = to.end(Done, "", now)
	}
	if firing.Status == FiringLost || firing.Error != "" {
		c.To.Reason = HandlerFailed
	} else {
		c.To.Reason = ""
	}
	return c
}

// Firing is which firing of a handler comes next.
func (r ReminderRow) Firing(manual bool) FiringRow {
	return FiringRow{ReminderID: r.ReminderID, At: r.NextFireAt, Manual: manual}
}

// Lose ends a reminder that cannot fire any more.
func (r ReminderRow) Lose(reason string, now time.Time) ReminderChange {
	return ReminderChange{r, r.end(Lost, reason, now), r.stands()}
}

// Cancel ends an active reminder; ok is false if it has ended.
func (r ReminderRow) Cancel(now time.Time) (c ReminderChange, ok bool) {
	return ReminderChange{r, r.end(Cancelled, "", now), cond.Eq("status", Active)}, r.Status == Active
}

// Late moves the time at which the sweep looks again; ok is false if it is not due.
func (r ReminderRow) Late(now time.Time, wait time.Duration) (c ReminderChange, ok bool) {
	to := r
	to.DueSK = key.DueSK(now.Add(wait).UnixMilli())
	return ReminderChange{r, to, cond.And(r.stands(), cond.Eq("dueSk", r.DueSK))}, r.Status == Active && r.DueSK <= key.DueSK(now.UnixMilli())
}

// Far moves the time at which the sweep looks again at a reminder whose time is ahead, while its conversation is kept; ok is false if that
// is not due.
func (r ReminderRow) Far(now time.Time) (c ReminderChange, ok bool) {
	to := r.at(r.Next(), now)
	return ReminderChange{r, to, cond.And(r.stands(), cond.Eq("dueSk", r.DueSK))},
		r.Status == Active && r.Next().After(now) && r.DueSK <= key.DueSK(now.UnixMilli())
}

// Message is what a firing of the prompt form sends; count is the firing's own number.
func (r ReminderRow) Message(count int64) string {
	if r.Every == "" && r.Cron == "" && r.Until == "" {
		return r.Prompt
	}
	var b strings.Builder
	b.WriteString(r.Prompt)
	b.WriteString("\n\n[Reminder ")
	b.WriteString(r.ReminderID)
	b.WriteString(", firing ")
	b.WriteString(strconv.FormatInt(count, 10))
	if r.Until != "" {
		b.WriteString(". It goes on until: ")
		b.WriteString(r.Until)
		b.WriteString(" If that is so, cancel it")
	}
	b.WriteString(".]")
	return b.String()
}

// View is the reminder as its owner sees it.
func (r ReminderRow) View() contract.Reminder {
	v := contract.Reminder{
		ReminderID: r.ReminderID, SessionID: r.SessionID, Purpose: r.Purpose, Status: string(r.Status), Reason: r.Reason, FireCount: r.FireCount,
		MaxFires: r.MaxFires, Every: r.Every, Cron: r.Cron, TimeZone: r.TimeZone, Prompt: r.Prompt, Run: r.Run, Until: r.Until,
		CreatedAt: contract.At(time.UnixMilli(r.CreatedAt)),
	}
	if next := r.Next(); !next.IsZero() {
		v.NextFireAt = contract.At(next)
	}
	return v
}
