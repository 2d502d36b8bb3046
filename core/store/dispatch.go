package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Dispatch is the outbox row of a task: its run is owed to the bus until it is marked sent.
type Dispatch struct {
	TaskID     string `dynamodbav:"taskId"`
	Status     string `dynamodbav:"status"` // owed, sent, exhausted
	DeliveryID string `dynamodbav:"deliveryId"`
	CreatedAt  int64  `dynamodbav:"createdAt"` // ms
	Attempts   int64  `dynamodbav:"attempts"`
	ExpiresAt  int64  `dynamodbav:"expiresAt"`
	DuePK      string `dynamodbav:"duePk,omitempty"`
	DueSK      string `dynamodbav:"dueSk,omitempty"`
}

const (
	owed = "owed"
	sent = "sent"
)

func newDispatch(r task.Request, now time.Time) Write {
	return create(key.Dispatch(r.TaskID), "Dispatch", Dispatch{
		TaskID: r.TaskID, Status: owed, DeliveryID: r.DeliveryID, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(task.Life).Unix(),
		DuePK: key.DuePK(key.TaskPK(r.TaskID)), DueSK: key.DueSK(now.Add(time.Minute).UnixMilli()),
	})
}

// OwedTask is the writes of a task that is to run at a time and of its run as owed to the bus; both are refused if they are there. The
// dispatch is remembered for life: as long as what asked for it may ask again.
func (t Table) OwedTask(r task.Request, at time.Time, life time.Duration) []Write {
	now := t.now()
	detail, err := json.Marshal(r)
	waiting := task.New(r, string(detail), now)
	if at.After(now) {
		waiting.DueSK, waiting.ExpiresAt = key.DueSK(at.Add(time.Minute).UnixMilli()), at.Add(task.Life).Unix()
	}
	put := putTask(waiting, absentOrExpired(now.Unix()))
	if err != nil {
		put.err = fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	owed := newDispatch(r, now)
	expires, err := attribute(now.Add(max(life, at.Sub(now)+task.Life)).Unix())
	if owed.put[key.ExpiresAt] = expires; err != nil {
		owed.err = err
	}
	return []Write{put, owed}
}

// TaskSent is MarkSent for callers that have not read the dispatch. Idempotent. Faults: Unavailable.
func (t Table) TaskSent(ctx context.Context, taskID string) error {
	k := key.Dispatch(taskID)
	to, err := attribute(sent)
	err = t.Commit(ctx, Write{key: k, set: item{"status": to}, remove: []string{key.DuePKName, key.DueSKName}, cond: new(cond.Eq("status", owed)), err: err})
	if RefusedBy(err, k) {
		return nil
	}
	return err
}

// Dispatch reads a task's outbox row. Faults: NotFound, Unavailable.
func (t Table) Dispatch(ctx context.Context, taskID string) (Dispatch, error) {
	var d Dispatch
	found, err := t.getInto(ctx, key.Dispatch(taskID), &d)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "nothing is dispatched for task %s", taskID)
	}
	return d, err
}

// MarkSent notes that the bus has taken the task. Idempotent. Faults: Unavailable.
func (t Table) MarkSent(ctx context.Context, d Dispatch) error {
	to := d
	to.Status, to.DuePK, to.DueSK = sent, "", ""
	return t.unlessMoved(ctx, d, to, cond.Eq("status", owed))
}

// Rearm moves the time at which the sweep looks at an owed dispatch again. moved is true when another sweep was faster.
func (t Table) Rearm(ctx context.Context, d Dispatch, at time.Time) (moved bool, err error) {
	to := d
	to.DueSK = key.DueSK(at.UnixMilli())
	err = t.Commit(ctx, change(key.Dispatch(d.TaskID), d, to, cond.And(cond.EqOrAbsent("dueSk", d.DueSK), cond.Eq("status", owed))))
	if RefusedBy(err, key.Dispatch(d.TaskID)) {
		return true, nil
	}
	return false, err
}

// Reject counts a refusal of the entry by the bus.
func (t Table) Reject(ctx context.Context, d Dispatch) error {
	to := d
	to.Attempts++
	return t.unlessMoved(ctx, d, to, cond.And(cond.Eq("attempts", d.Attempts), cond.Eq("status", owed)))
}

// Exhaust gives an owed dispatch up together with its task, which must still be waiting: a copy may have arrived although
// every answer said no. arrived is true when it did. Faults: Unavailable.
func (t Table) Exhaust(ctx context.Context, d Dispatch, c task.Change) (arrived bool, err error) {
	to := d
	to.Status, to.DuePK, to.DueSK = "exhausted", "", ""
	err = t.Commit(ctx, change(key.Dispatch(d.TaskID), d, to, cond.Eq("status", owed)), ChangeTask(c))
	if _, refused := RefusedTask(err, d.TaskID); refused {
		return true, t.MarkSent(ctx, d)
	}
	return false, err
}

func (t Table) unlessMoved(ctx context.Context, from, to Dispatch, c cond.Expr) error {
	err := t.Commit(ctx, change(key.Dispatch(from.TaskID), from, to, c))
	if RefusedBy(err, key.Dispatch(from.TaskID)) {
		return nil
	}
	return err
}

// Due reads the keys of rows of one shard that owe something since before the given time, oldest first, at most limit. The index
// lags: the row itself decides. Faults: Unavailable.
func (t Table) Due(ctx context.Context, shard int, before time.Time, limit int) ([]key.Key, error) {
	s := scope{
		pk: key.DueShard(shard), pkName: key.DuePKName, index: key.DueIndex, keys: upTo(key.DueSK(before.UnixMilli())), pageSize: int32(limit),
	}
	var keys []key.Key
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", shard, err)
		}
		if keys = append(keys, keyOf(row)); len(keys) == limit {
			break
		}
	}
	return keys, nil
}
