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
	if err := t.joinTexts(ctx, row, &r); err != nil {
		return r, err
	}
	if r.TaskID == "" { // rows of the TypeScript package that began with its claim do not name it
		r.TaskID = taskID
	}
	return r, nil
}

// CreateTask records a task that waits for its run, and the run as owed to the bus. Idempotent for the same delivery, also when
// another has run it since. Faults: Conflict when the id is another task's, Invalid, Unavailable.
func (t Table) CreateTask(ctx context.Context, r task.Request) (task.Task, error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	created := task.New(r, string(detail), t.now())
	free := absentOrExpired(t.now().Unix())
	err = t.Commit(ctx, putTask(created, free), newDispatch(r, t.now()))
	if _, refused := refusal(err); refused {
		return t.createdBefore(ctx, r)
	}
	return created, err
}

// createdBefore gives the task that an earlier call made for the same delivery.
func (t Table) createdBefore(ctx context.Context, r task.Request) (task.Task, error) {
	d, err := t.Dispatch(ctx, r.TaskID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return task.Task{}, err
	}
	if err == nil && r.DeliveryID != "" && d.DeliveryID == r.DeliveryID {
		return t.Task(ctx, r.TaskID)
	}
	return task.Task{}, fault.New(fault.Conflict, "task %s exists already", r.TaskID)
}

// ChangeTask is the write of a task's transition. A record that began as none is written only where there is none, any other only where
// there is one: a row that has gone since it was read does not come back in part.
func ChangeTask(c task.Change) Write {
	from, to := c.From, c.To
	if from.Status == "" && from.TaskID == "" {
		return putTask(to, cond.And(c.If, cond.Absent(key.PK)))
	}
	was, is := cutTexts(&from), cutTexts(&to)
	w := change(key.Task(to.TaskID), from, to, cond.And(c.If, cond.Exists(key.PK)))
	for i, x := range is {
		if *was[i].text != *x.text {
			w = w.withText(x.name, *x.text, to.ExpiresAt)
		}
	}
	return w
}

// putTask writes a whole row.
func putTask(t task.Task, c cond.Expr) Write {
	texts := cutTexts(&t)
	k := key.Task(t.TaskID)
	row, err := encode(k, taskEntity, t)
	w := Write{key: k, put: row, cond: &c, err: err}
	for _, x := range texts {
		w = w.withText(x.name, *x.text, t.ExpiresAt)
	}
	return w
}

// RefusedTask gives the record that refused a Commit, without texts that lie in parts; the zero record when there is no row.
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

// maxRaced bounds how often a claim is made again because the row moved and is still to be had.
const maxRaced = 8

// StartTask claims a task for a handler that runs it itself. The same owner again has the claim. Faults: Conflict when another
// run holds it or it is over, and the record is as it stands then; Invalid, Unavailable.
func (t Table) StartTask(ctx context.Context, r task.Request, c task.Claim) (task.Task, error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	var there task.Task // unless the row says otherwise, the delivery is the first that is heard of the task
	for try := 0; ; try++ {
		if there.Owner == c.Owner && there.Status == task.Running {
			return there, nil
		}
		if !there.Claimable(c.DeliveryID, t.now()) || try > maxRaced {
			return there, fault.New(fault.Conflict, "task %s is %s", r.TaskID, there.Status)
		}
		change := there.Claim(r, string(detail), c.DeliveryID, c.Owner, c.Lease, t.now())
		err := t.Commit(ctx, ChangeTask(change))
		refused, ok := refusal(err)
		if !ok {
			return change.To, err
		}
		row := refused.rows[key.Task(r.TaskID)]
		if len(row) == 0 { // gone since, or the table does not tell
			if row, err = t.get(ctx, key.Task(r.TaskID)); err != nil {
				return task.Task{}, err
			}
		}
		if there, err = t.readTask(ctx, row, r.TaskID); err != nil {
			return task.Task{}, err
		}
	}
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

// KeepTask lets a task that is held back outlive its wait: see task.Task.Keep. Idempotent; a task that moved on meanwhile is left
// alone. Faults: Unavailable.
func (t Table) KeepTask(ctx context.Context, taskID string, at time.Time) error {
	there, err := t.TaskOrNone(ctx, taskID)
	if err != nil {
		return err
	}
	change, ok := there.Keep(at)
	if !ok {
		return nil
	}
	err = t.Commit(ctx, ChangeTask(change))
	if _, refused := RefusedTask(err, taskID); refused {
		return nil
	}
	return err
}

// Announced clears the debt of a completion that the bus has taken. Idempotent. Faults: Unavailable.
func (t Table) Announced(ctx context.Context, told task.Task) error {
	err := t.Commit(ctx, ChangeTask(told.Announced()))
	if _, refused := RefusedTask(err, told.TaskID); refused {
		return nil
	}
	return err
}
