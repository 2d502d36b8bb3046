package agency

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/task"
)

// Store keeps everything an agent type needs to remember: documents, claims, gates and what is owed to the bus. MemoryStore and
// TableStore are the two.
type Store interface {
	StateStore
	Tasks
	Gates
	Outbox
	// Paused reports whether an agent type is paused. Faults: Unavailable.
	Paused(ctx context.Context, agentType string) (bool, error)
}

// Tasks are claims on tasks; a store.Table has them. Faults as there.
type Tasks interface {
	CreateTask(ctx context.Context, r task.Request) (task.Task, error)
	StartTask(ctx context.Context, r task.Request, c task.Claim) (task.Task, error)
	RenewTask(ctx context.Context, claimed task.Task, lease time.Duration) error
	FinishTask(ctx context.Context, claimed task.Task, r task.Result) error
	GiveBackTask(ctx context.Context, claimed task.Task, reason string) error
	KeepTask(ctx context.Context, taskID string, at time.Time) error
	Announced(ctx context.Context, told task.Task) error
}

// Outbox makes sure that what was decided is sent.
type Outbox interface {
	// Reserve writes a task as owed to the bus, together with the gates it passes and the documents that tell of it: all or none.
	// A task that is reserved already is answered as such, and nothing is touched. Faults: Conflict when a document has moved,
	// Limit, Unavailable.
	Reserve(ctx context.Context, r Reservation) (Reserved, error)
	// Look reads a gate; ok is false when it was never passed, or so long ago that it is forgotten. Faults: Unavailable.
	Look(ctx context.Context, prefix, slot string) (p Passed, ok bool, err error)
	// Owes reports whether a task that the delivery reserved is still to be sent. Faults: Unavailable.
	Owes(ctx context.Context, taskID, delivery string) (bool, error)
	// Sent notes that the task was taken by the bus. Idempotent. Faults: Unavailable.
	Sent(ctx context.Context, taskID string) error
	// Sweeps reports whether what is owed is sent by a sweep. If not, who reserved must send, or fail.
	Sweeps() bool
}

// Reservation is a task that is decided.
type Reservation struct {
	Request   task.Request // NotBefore, if it is delayed
	Gates     []Entry
	Prefix    string // of the gates
	Documents []DocumentChange
	Now       time.Time
}

// DocumentChange is the next revision of a document, as WriteState takes it.
type DocumentChange struct {
	Key      StateKey
	Document Document
}

// Reserved is what became of a reservation.
type Reserved struct {
	Before bool   // the same delivery had reserved the task before
	Other  bool   // another delivery had: the id is taken
	Owed   bool   // it is still to be sent
	Shut   *Entry // the gate that refused; nothing was written
}
