package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

const taskEntity = "AgentTask"

// Task reads a task, with its whole output. Faults: NotFound, Unavailable.
func (t Table) Task(ctx context.Context, taskID string) (task.Task, error) {
	row, err := t.get(ctx, key.Task(taskID))
	if err != nil {
		return task.Task{}, err
	}
	r, err := t.readTask(ctx, row, taskID)
	if err == nil && (row == nil || r.Expired(t.now())) {
		err = fault.New(fault.NotFound, "no such task")
	}
	return r, err
}

// TaskOrNone is Task that gives the zero record of that id when there is no row, and an expired one as it stands.
func (t Table) TaskOrNone(ctx context.Context, taskID string) (task.Task, error) {
	row, err := t.get(ctx, key.Task(taskID))
	if err != nil {
		return task.Task{}, err
	}
	return t.readTask(ctx, row, taskID)
}

func (t Table) readTask(ctx context.Context, row item, taskID string) (task.Task, error) {
	if row == nil {
		return task.Task{}, nil
	}
	var r task.Task
	if err := decode(row, &r); err != nil {
		return r, err
	}
	if r.OutputParts > 0 {
		output, err := t.body(ctx, row, "output")
		if err != nil {
			return r, err
		}
		r.Output = output
	}
	if r.TaskID == "" { // rows of the TypeScript package that began with its claim do not name it
		r.TaskID = taskID
	}
	return r, nil
}

// CreateTask records a task that waits for its run, and the run as owed to the bus. Idempotent for the same delivery. Faults:
// Conflict when the id is another task's, Invalid, Unavailable.
func (t Table) CreateTask(ctx context.Context, r task.Request) (task.Task, error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	created := task.New(r, string(detail), t.now())
	err = t.Commit(ctx, create(key.Task(r.TaskID), taskEntity, created), newDispatch(r, t.now()))
	if _, refused := refusal(err); refused {
		there, readErr := t.Task(ctx, r.TaskID)
		if readErr == nil && r.DeliveryID != "" && there.LastDelivery == r.DeliveryID {
			return there, nil
		}
		return task.Task{}, fault.New(fault.Conflict, "task %s exists already", r.TaskID)
	}
	return created, err
}

// ChangeTask is the write of a transition. A large output goes into parts.
func ChangeTask(c task.Change) Write {
	from, to := c.From, c.To
	k := key.Task(to.TaskID)
	if to.Output == from.Output {
		from.Output, to.Output = "", "" // where it is, it stays
	}
	output := to.Output
	large := len(output) > MaxItemBytes/4
	if large {
		to.Output = ""
	}
	if from.OutputParts > 0 {
		from.Output = ""
	}
	if from.Status == "" && from.TaskID == "" {
		return createdBy(k, to, c.If)
	}
	w := change(k, taskEntity, from, to, c.If)
	if !large {
		return w
	}
	return spread(w, output, int(to.Fence), to.ExpiresAt)
}

// createdBy writes a whole row, where there may be none, or one that the condition names.
func createdBy(k key.Key, to task.Task, c cond.Expr) Write {
	row, err := encode(k, taskEntity, to)
	return Write{key: k, put: row, cond: &c, err: err}
}

// spread puts a large output into parts, whose numbers are this fence's own.
func spread(w Write, output string, fence int, expires int64) Write {
	if w.err != nil {
		return w
	}
	pieces := splitText(output)
	first := fence % 1000 * 100_000
	for i, piece := range pieces {
		p, err := encode(key.Part(w.key, first+i), "Part", part{Data: piece, ExpiresAt: expires})
		if err != nil {
			w.err = err
			return w
		}
		w.parts = append(w.parts, p)
	}
	w.set["parts"], w.set["firstPart"], w.set["outputParts"] = number(len(pieces)), number(first), number(len(pieces))
	return w
}

// RefusedTask gives the record that refused a Commit; the zero record when there is no row.
func RefusedTask(err error, taskID string) (r task.Task, refused bool) {
	f, ok := refusal(err)
	if !ok || !f.By(key.Task(taskID)) {
		return r, false
	}
	if row := f.rows[key.Task(taskID)]; len(row) > 0 {
		_ = decode(row, &r)
		r.TaskID = taskID
	}
	return r, true
}

// StartTask claims a task for a handler that runs it itself. The same owner again has the claim. Faults: Conflict when another
// run holds it or it is over, Invalid, Unavailable.
func (t Table) StartTask(ctx context.Context, r task.Request, c task.ClaimBy) (task.Task, error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	there, err := t.TaskOrNone(ctx, r.TaskID)
	if err != nil {
		return task.Task{}, err
	}
	if there.Owner == c.Owner && there.Status == task.Running {
		return there, nil
	}
	change := there.Claim(r, string(detail), c.DeliveryID, c.Owner, c.Lease, t.now())
	err = t.Commit(ctx, ChangeTask(change))
	if now, refused := RefusedTask(err, r.TaskID); refused {
		if now.Owner == c.Owner && now.Status == task.Running {
			return now, nil
		}
		return now, fault.New(fault.Conflict, "task %s is %s", r.TaskID, now.Status)
	}
	return change.To, err
}

// RenewTask extends a handler's claim. Faults: Conflict when it is lost, Unavailable.
func (t Table) RenewTask(ctx context.Context, claimed task.Task, lease time.Duration) error {
	return t.Commit(ctx, ChangeTask(claimed.Renew(lease, t.now())))
}

// FinishTask ends a run that StartTask began; the completion is owed from then on. Idempotent. Faults: Conflict when the fence
// moved or the task was cancelled, Unavailable.
func (t Table) FinishTask(ctx context.Context, claimed task.Task, r task.Result) error {
	err := t.Commit(ctx, ChangeTask(claimed.Finish(r, t.now())))
	if now, refused := RefusedTask(err, claimed.TaskID); refused && now.Fence == claimed.Fence && now.Status == r.Status && !now.Cancelled {
		return nil
	}
	return err
}

// GiveBackTask ends a run that may succeed later: the next delivery takes it up. Faults: Conflict, Unavailable.
func (t Table) GiveBackTask(ctx context.Context, claimed task.Task, reason string) error {
	return t.Commit(ctx, ChangeTask(claimed.GiveBack(reason, task.Backoff(claimed.Attempt-1), t.now())))
}

// Announced clears the debt of a completion that the bus has taken. Idempotent. Faults: Unavailable.
func (t Table) Announced(ctx context.Context, told task.Task) error {
	err := t.Commit(ctx, ChangeTask(told.Announced()))
	if _, refused := RefusedTask(err, told.TaskID); refused {
		return nil
	}
	return err
}
