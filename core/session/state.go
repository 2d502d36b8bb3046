package session

import (
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
)

// Times of the protocol.
const (
	Lease     = 30 * time.Second // how long an owner holds a session without renewing
	Margin    = 5 * time.Second  // clocks may differ by this much
	Heartbeat = 10 * time.Second // an owner renews this often
	Life      = 30 * 24 * time.Hour
	RowLife   = 400 * 24 * time.Hour // of history and events, written once
	Tombstone = 25 * time.Hour       // a deleted session is remembered this long
	MaxTries  = 5                    // claims without a saved step before a turn is given up
)

// Mode says whether a session takes follow-ups.
type Mode string

// The modes.
const (
	Chat    Mode = "chat"
	TaskRun Mode = "task"
)

// Phase is where a session stands.
type Phase string

// The phases.
const (
	Idle    Phase = "idle"
	Open    Phase = "open"    // a turn is open
	Parked  Phase = "parked"  // a turn waits for people
	Done    Phase = "done"    // a task session has ended
	Deleted Phase = "deleted" // a tombstone
)

// TaskRef names the run of a task that a message or turn belongs to.
type TaskRef struct {
	ID    string `dynamodbav:"id"`
	Fence int64  `dynamodbav:"fence"`
}

// Spent counts tokens and what they cost.
type Spent struct {
	In      int64 `dynamodbav:"in,omitempty"`
	Out     int64 `dynamodbav:"out,omitempty"`
	Read    int64 `dynamodbav:"read,omitempty"`    // from a cache
	Written int64 `dynamodbav:"written,omitempty"` // to a cache
	Cost    int64 `dynamodbav:"cost,omitempty"`    // billionths of a US dollar
	Priced  bool  `dynamodbav:"priced,omitempty"`  // Cost is that of all of it
}

func (s Spent) plus(t Spent) Spent {
	priced := s.Priced && t.Priced || s == Spent{} && t.Priced || t == Spent{} && s.Priced
	return Spent{s.In + t.In, s.Out + t.Out, s.Read + t.Read, s.Written + t.Written, s.Cost + t.Cost, priced}
}

// Doubt is where the first turn begins whose words no model has accepted yet: a content filter may still refuse them.
type Doubt struct {
	Opening string `dynamodbav:"opening"` // its first segment
	Prompt  int64  `dynamodbav:"prompt"`  // index of its message.received
}

// State is a session's STATE row. Numbers are never absent; every other field may be.
type State struct {
	SessionID  string             `dynamodbav:"sessionId"`
	Mode       Mode               `dynamodbav:"mode"`
	Phase      Phase              `dynamodbav:"phase"`
	Principal  contract.Principal `dynamodbav:"principal"`
	Channel    string             `dynamodbav:"channel,omitempty"`
	ChannelKey string             `dynamodbav:"channelKey,omitempty"` // the channel's own name of the conversation
	CreatedBy  string             `dynamodbav:"createdBy,omitempty"`  // token of the call that created it; absent: adopted
	CreatedAt  int64              `dynamodbav:"createdAt"`            // ms
	Token      string             `dynamodbav:"token,omitempty"`      // the HTTP continuation token

	Owner      string `dynamodbav:"owner,omitempty"` // random per claim
	Fence      int64  `dynamodbav:"fence"`
	LeaseUntil int64  `dynamodbav:"leaseUntil,omitempty"` // ms

	Admitted   int64    `dynamodbav:"admitted"`   // number of the last admission
	Taken      int64    `dynamodbav:"taken"`      // number of the last admission consumed
	TurnSeq    int64    `dynamodbav:"turnSeq"`    // highest admission in the opening prompt of the current or last turn
	Seen       int64    `dynamodbav:"seen"`       // admitted when that turn began
	StopSeq    int64    `dynamodbav:"stopSeq"`    // everything up to here is to be stopped
	PreemptSeq int64    `dynamodbav:"preemptSeq"` // the last admission that interrupts
	Step       int64    `dynamodbav:"step"`       // progress in the turn
	NextIndex  int64    `dynamodbav:"nextIndex"`  // lower bound of the next event's index
	Tries      int64    `dynamodbav:"tries"`      // claims since the last saved step
	Prompt     int64    `dynamodbav:"prompt"`     // index of the turn's message.received
	Tip        string   `dynamodbav:"tip,omitempty"`
	Opening    string   `dynamodbav:"opening,omitempty"`  // the segment that the turn's prompt was written with
	Task       *TaskRef `dynamodbav:"task,omitempty"`     // while the open turn is a task's
	Queued     bool     `dynamodbav:"queued,omitempty"`   // it was told that it waits for a place
	QueuedAt   int64    `dynamodbav:"queuedAt,omitempty"` // ms, since when: its place in the line
	QueuedIn   string   `dynamodbav:"queuedIn,omitempty"` // scope of the line
	Outcome    string   `dynamodbav:"outcome,omitempty"`  // completed or failed, of a task session

	Spent Spent `dynamodbav:"spent,omitempty"` // what the saved steps of the open turn used

	PublishedTo   int64 `dynamodbav:"publishedTo"`
	Followed      int64 `dynamodbav:"followed,omitempty"` // when somebody last asked to follow, ms: a running owner looks who
	ApprovalsOpen int64 `dynamodbav:"approvalsOpen"`
	ApprovalUntil int64 `dynamodbav:"approvalUntil,omitempty"` // ms
	Doubt         Doubt `dynamodbav:"doubt,omitempty"`         // what no model has accepted yet
	Withheld      bool  `dynamodbav:"withheld,omitempty"`      // a content filter blocked the open turn: it is only to be taken out
	Asked         bool  `dynamodbav:"asked,omitempty"`         // the open turn has asked people about calls

	ExpiresAt int64  `dynamodbav:"expiresAt"` // s
	DuePK     string `dynamodbav:"duePk,omitempty"`
	DueSK     string `dynamodbav:"dueSk,omitempty"`
}

// New is the state of a session that has just been made.
func New(id string, mode Mode, principal contract.Principal, now time.Time) State {
	return State{
		SessionID: id, Mode: mode, Phase: Idle, Principal: principal, CreatedAt: now.UnixMilli(), NextIndex: 1,
		ExpiresAt: now.Add(Life).Unix(),
	}
}

// With returns s with a first message admitted: it owes a turn.
func (s State) With(now time.Time) State {
	s.Admitted++
	return s.due(now.Add(Lease + Margin))
}

// Expired reports whether the session's time is over, whether or not its rows are still there.
func (s State) Expired(now time.Time) bool { return s.ExpiresAt <= now.Unix() }

// TurnID names the current or last turn.
func (s State) TurnID() string { return fmt.Sprintf("turn_%d", s.TurnSeq) }

// Pending counts the messages that no turn has taken.
func (s State) Pending() int64 { return s.Admitted - s.Taken }

// Stopped reports whether the turn is to end as cancelled. It means something only while a turn is open or parked.
func (s State) Stopped() bool { return s.StopSeq >= s.TurnSeq }

// Preempted reports whether a message admitted after the turn began interrupts it.
func (s State) Preempted() bool { return s.PreemptSeq > s.Seen }

// Mine reports whether the owner with this fence still holds the session.
func (s State) Mine(owner string, fence int64) bool { return s.Owner == owner && s.Fence == fence }

// Free reports whether nobody holds the session.
func (s State) Free(now time.Time) bool {
	return s.Owner == "" || s.LeaseUntil < now.Add(-Margin).UnixMilli()
}

// Work reports whether there is something for an owner to do.
func (s State) Work(now time.Time) bool {
	switch s.Phase {
	case Open:
		return true
	case Idle:
		return s.Admitted > s.Taken
	case Parked:
		return s.ApprovalsOpen == 0 || s.ApprovalUntil < now.UnixMilli() || s.Stopped() || s.Preempted()
	}
	return false
}

// Status is the public word for where the session stands.
func (s State) Status() string {
	switch {
	case s.Phase == Parked:
		return "waiting_approval"
	case s.Phase == Open, s.Phase == Idle && s.Admitted > s.Taken:
		return "running"
	case s.Phase == Done:
		return s.Outcome
	}
	return "waiting"
}

// due sets the time at which the sweep looks. It is never the one read: only what differs is written, and the row may have lost
// its due time since.
func (s State) due(at time.Time) State {
	sk := key.DueSK(at.UnixMilli())
	if sk == s.DueSK {
		sk = key.DueSK(at.UnixMilli() + 1)
	}
	s.DuePK, s.DueSK = key.DuePK(key.SessionPK(s.SessionID)), sk
	return s
}

func (s State) undue() State {
	s.DuePK, s.DueSK = "", ""
	return s
}

func (s State) released() State {
	s.Owner, s.LeaseUntil = "", 0
	return s
}
