package task_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

var (
	now     = fake.Start()
	request = task.Request{TaskID: "t", Principal: task.User("user-1"), Request: "do it", SessionID: "s", CreatedBy: "user-2", DeliveryID: "d1"}
)

const detail = `{"taskId":"t"}`

func ms(d time.Duration) int64 { return now.Add(d).UnixMilli() }

func due(t task.Task, d time.Duration) task.Task {
	t.DuePK, t.DueSK = key.DuePK("TASK#t"), key.DueSK(ms(d))
	return t
}

// state is one a task can be in, by the name under which a table shows it.
type state struct {
	name string
	task.Task
}

// states are one of each kind. All but the first were begun by delivery d1.
func states() []state {
	with := func(t task.Task, edit func(*task.Task)) task.Task {
		edit(&t)
		return t
	}
	pending := task.New(request, detail, now.Add(-time.Hour))
	running := due(with(pending, func(t *task.Task) {
		t.Status, t.Owner, t.Fence, t.LeaseUntil, t.Attempt = task.Running, "me", 1, ms(task.Lease), 1
	}), task.Lease)
	bound := with(running, func(t *task.Task) { t.Owner, t.LeaseUntil, t.DuePK, t.DueSK, t.Session = "", 0, "", "", "task-t" })
	ended := due(with(running, func(t *task.Task) { t.Owner, t.LeaseUntil, t.CompletionOwed = "", 0, 1 }), 0)
	told := with(ended, func(t *task.Task) { t.CompletionOwed, t.DuePK, t.DueSK = 0, "", "" })
	completed := func(t task.Task) task.Task {
		return with(t, func(t *task.Task) { t.Status, t.Output = task.Completed, "out" })
	}
	failed := func(t task.Task) task.Task {
		return with(t, func(t *task.Task) { t.Status, t.Error, t.FailedBy = task.Failed, "boom", []string{"d1"} })
	}
	return []state{
		{"absent", task.Task{}},
		{"pending", pending},
		{"pending, the package's", task.Task{TaskID: "t", Status: task.Pending, Principal: request.Principal, Request: "do it"}},
		{"running", running},
		{"running, lease over", with(running, func(t *task.Task) { t.LeaseUntil = ms(-5001 * time.Millisecond) })},
		{"running, within the margin", with(running, func(t *task.Task) { t.LeaseUntil = ms(-5 * time.Second) })},
		{"running, the package's", task.Task{TaskID: "t", Status: task.Running, Principal: request.Principal, Request: "do it"}},
		{"bound", bound},
		{"bound, turn open", with(bound, func(t *task.Task) { t.Turn = 4 })},
		{"completed, owed", completed(ended)},
		{"completed", completed(told)},
		{"failed, owed", failed(ended)},
		{"failed", failed(told)},
		{"failed, the package's", task.Task{TaskID: "t", Status: task.Failed, Principal: request.Principal, Request: "do it", Error: "boom"}},
		{"given back", due(with(told, func(t *task.Task) { t.Status, t.Error, t.Retryable = task.Failed, "Retrying: busy", true }), time.Minute)},
		{"cancelled", with(told, func(t *task.Task) { t.Status, t.Error, t.Cancelled, t.Fence = task.Failed, "cancelled", true, 2 })},
	}
}

// event is something that happens to a task. ok is false when the rules make no change of it.
type event struct {
	name string
	do   func(t task.Task) (c task.Change, ok bool)
	// allowed says from the row as it is, and the record that was read, whether the change may be written. It is written down anew
	// here, from the protocol.
	allowed func(row, read task.Task) bool
}

func sure(c task.Change) (task.Change, bool) { return c, true }

func events() []event { return append(beginnings(), endings()...) }

// claimable by a delivery: not after it failed, and free, given back or failed, or left by a dead owner.
func claimable(t task.Task, delivery string) bool {
	for _, failed := range t.FailedBy {
		if failed == delivery {
			return false
		}
	}
	switch t.Status {
	case "", task.Pending:
		return true
	case task.Running:
		return t.LeaseUntil != 0 && t.LeaseUntil < now.UnixMilli()-5000
	}
	return t.Status == task.Failed && !t.Cancelled && t.CompletionOwed == 0
}

func takes(delivery string) func(row, read task.Task) bool {
	return func(row, read task.Task) bool {
		return claimable(row, delivery) && row.Fence == read.Fence && (read.Status == "") == (row.Status == "")
	}
}

func beginnings() []event {
	return []event{
		{"claim by the same delivery", func(t task.Task) (task.Change, bool) {
			return sure(t.Claim(request, detail, "d1", "new", time.Minute, now))
		}, takes("d1")},
		{"claim by a new delivery", func(t task.Task) (task.Change, bool) {
			return sure(t.Claim(request, detail, "d2", "new", time.Minute, now))
		}, takes("d2")},
		{"bind", func(t task.Task) (task.Change, bool) {
			return sure(t.Bind(request, detail, "d2", "task-t.2", now.Add(time.Hour).Unix(), now))
		}, takes("d2")},
		{"refuse", func(t task.Task) (task.Change, bool) {
			return sure(t.Refuse(request, detail, "d2", "not your session", now))
		}, takes("d2")},
	}
}

func held(row, read task.Task) bool {
	return row.Status == task.Running && row.Owner == read.Owner && row.Owner != "" && row.Fence == read.Fence
}

func bound(row, read task.Task) bool {
	return row.Status == task.Running && row.Session == read.Session && row.Session != "" && row.Fence == read.Fence
}

func cancellable(t task.Task) bool {
	return t.Status == task.Pending || t.Status == task.Running || t.Status == task.Failed && t.Retryable
}

func waits(t task.Task) bool {
	return t.Status == task.Pending || t.Status == task.Failed && t.Retryable
}

// exhaustible: it waits, was given back, or its run is dead.
func exhaustible(t task.Task) bool {
	return t.Status == task.Pending || t.Status == task.Failed && t.Retryable ||
		t.Status == task.Running && t.LeaseUntil != 0 && t.LeaseUntil < now.UnixMilli()-5000
}

func endings() []event {
	done, failed := task.Result{Status: task.Completed, Output: "answer"}, task.Result{Status: task.Failed, Error: "broke"}
	return []event{
		{"renew", func(t task.Task) (task.Change, bool) { return sure(t.Renew(2*time.Minute, now)) }, held},
		{"finish, completed", func(t task.Task) (task.Change, bool) { return sure(t.Finish(done, now)) }, held},
		{"finish, failed", func(t task.Task) (task.Change, bool) { return sure(t.Finish(failed, now)) }, held},
		{"give back", func(t task.Task) (task.Change, bool) { return sure(t.GiveBack("busy", 90*time.Second, now)) }, held},
		{"its turn opens", func(t task.Task) (task.Change, bool) { return sure(t.OpenTurn(7)) }, bound},
		{"its turn completes", func(t task.Task) (task.Change, bool) { return sure(t.FinishTurn(task.Completed, "answer", "", now)) }, bound},
		{"its turn fails", func(t task.Task) (task.Change, bool) {
			return sure(t.FinishTurn(task.Failed, "", task.ReasonInterrupted, now))
		}, bound},
		{"announced", func(t task.Task) (task.Change, bool) { return sure(t.Announced()) },
			func(row, read task.Task) bool {
				return row.CompletionOwed == read.CompletionOwed && row.CompletionOwed != 0
			}},
		{"cancel", func(t task.Task) (task.Change, bool) { return t.Cancel(now) },
			func(row, read task.Task) bool {
				return cancellable(row) && row.Fence == read.Fence && row.Turn == read.Turn
			}},
		{"held back", func(t task.Task) (task.Change, bool) { return t.Keep(now.Add(5 * time.Minute)) },
			func(row, read task.Task) bool {
				return waits(row) && row.Fence == read.Fence && row.DueSK == read.DueSK
			}},
		{"given up, never taken", func(t task.Task) (task.Change, bool) { return sure(t.Exhausted(now)) },
			func(row, read task.Task) bool { return row.Status == task.Pending && row.Fence == read.Fence }},
		{"rejected by the bus", func(t task.Task) (task.Change, bool) { return sure(t.Rejected()) },
			func(row, read task.Task) bool { return row.Status != "" && row.Rejects == read.Rejects }},
	}
}

// written commits the change on a table that holds row, and gives the row afterwards.
func written(row task.Task, c task.Change) (after task.Task, accepted bool) {
	ctx := context.Background()
	table := store.Table{Name: "main", DynamoDB: fake.NewDynamo("main"), Now: fake.Start}
	if row.Status != "" {
		row.TaskID = "t"
		if err := table.Commit(ctx, store.ChangeTask(task.Change{To: row, If: cond.Absent("pk")})); err != nil {
			panic(err)
		}
	}
	err := table.Commit(ctx, store.ChangeTask(c))
	if err != nil && !fault.Is(err, fault.Conflict) {
		panic(err)
	}
	after, readErr := table.TaskOrNone(ctx, "t")
	if readErr != nil {
		panic(readErr)
	}
	return after, err == nil
}

// changes says in one line what differs between two records; times of now on are relative to it.
func changes(from, to task.Task) string {
	var list []string
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("dynamodbav"), ",")
		if name != "duePk" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			list = append(list, name+"="+shown(name, b.Field(i)))
		}
	}
	if list == nil {
		return "nothing"
	}
	return strings.Join(list, " ")
}

func shown(name string, v reflect.Value) string {
	if v.IsZero() {
		return "-"
	}
	switch name {
	case "leaseUntil", "createdAt", "updatedAt":
		return time.UnixMilli(v.Int()).Sub(now).String()
	case "expiresAt":
		return time.Unix(v.Int(), 0).Sub(now).String()
	case "dueSk":
		at, err := key.DueTime(v.String())
		if err != nil {
			panic(err)
		}
		return time.UnixMilli(at).Sub(now).String()
	}
	if v.Kind() == reflect.Slice {
		return fmt.Sprintf("%q", v.Interface())
	}
	return fmt.Sprint(v.Interface())
}
