package flow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// RunTask runs tasks with an agent of the caller's, in the caller's own function or program: claim, build, run, finish, tell. Whatever
// breaks on the way, a task runs at most once at a time, a run that ended is not run again by a duplicate, and its completion is
// told at least once. Required are Tasks, Bus and BuildAgent. It is a value, safe for concurrent use.
//
//	cached? ─▶ early? ─▶ claim ─▶ valid? ─▶ build ─▶ run ─▶ finish ─▶ tell ─▶ told ─▶ clean up
//	   │         │         │                  │ an error: given back if it may pass, else FAILED
//	 answer    again    stored answer, or RUNNING where another holds it
type RunTask struct {
	Tasks interface { // a store.Table
		StartTask(ctx context.Context, r task.Request, c task.Claim) (task.Task, error)
		RenewTask(ctx context.Context, claimed task.Task, lease time.Duration) error
		FinishTask(ctx context.Context, claimed task.Task, r task.Result) error
		GiveBackTask(ctx context.Context, claimed task.Task, reason string) error
		Announced(ctx context.Context, told task.Task) error
	}
	Bus interface { // a bus.Bus
		EmitTaskCompleted(ctx context.Context, t task.Task) error
	}

	// BuildAgent makes the agent, after the claim only: a duplicate builds nothing. cleanup, if not nil, runs once when the task is
	// over, also when the run or BuildAgent itself failed; its error is logged and changes nothing.
	BuildAgent func(ctx context.Context, r task.Request) (agent Agent, cleanup func() error, err error)

	Cache    *task.ResultCache // nil: every delivery asks the table
	Lease    time.Duration     // how long a dead run keeps others waiting; default 30 s, at least 15 s. It is renewed
	MaxDepth int               // how many tasks may start one another; default 8

	Now   func() time.Time                                 // default time.Now
	NewID func() string                                    // random, for each claim; default a UUID
	Sleep func(ctx context.Context, d time.Duration) error // before the time of a delayed task; default a timer
	Log   *slog.Logger                                     // nil: discard
}

// Agent is what runs a task. A loop.Assistant is one. It must return soon after ctx ends.
type Agent interface {
	// RunTask does what is asked and says what came of it, and what it used of models, where that is known: it goes onto the row and
	// into the completion, of a run that failed too. An error that fault.Retryable reports has the task run again.
	RunTask(ctx context.Context, request string) (output string, used *task.Usage, err error)
}

// RunTaskIn is a delivery of "Run Agent Task": its detail, and the id of the envelope it came in.
type RunTaskIn struct {
	Request    task.Request
	DeliveryID string // of the envelope; the detail's own, if it has one, counts instead
}

// Do runs the task. An error means: deliver again. Without one the delivery is done with: the result is final, or RUNNING when
// another run holds the task, whose end that run will tell. Faults: Unavailable, and what the agent reports as retryable.
func (f RunTask) Do(ctx context.Context, in RunTaskIn) (task.Result, error) {
	r := in.Request
	if err := contract.CheckID("taskId", r.TaskID); err != nil {
		return task.Result{TaskID: r.TaskID, Status: task.Failed, Error: fault.Public(err)}, nil // there is no row to say so in
	}
	f = f.filled()
	run := taskRun{RunTask: f, request: r, delivery: r.Delivery(in.DeliveryID), log: f.Log.With("task", r.TaskID)}
	if known, ok := f.Cache.Get(r.TaskID, run.delivery); ok {
		return known, nil
	}
	if err := waitFor(ctx, f.Now(), f.Sleep, r.NotBefore); err != nil {
		return task.Result{}, err
	}
	standing, err := run.claim(ctx)
	if fault.Is(err, fault.Conflict) {
		f.Cache.Put(standing)
		return run.answer(standing), nil
	}
	if err != nil {
		return task.Result{}, fmt.Errorf("claim task %s: %w", r.TaskID, err)
	}
	return run.work(ctx)
}

// shortestLease leaves time to renew a lease twice and to stop before it ends.
const shortestLease = 15 * time.Second

func (f RunTask) filled() RunTask {
	if f.Lease == 0 {
		f.Lease = task.Lease
	}
	f.Lease = max(f.Lease, shortestLease)
	if f.MaxDepth == 0 {
		f.MaxDepth = 8
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.NewID == nil {
		f.NewID = uuid.NewString
	}
	if f.Log == nil {
		f.Log = slog.New(slog.DiscardHandler)
	}
	return f
}

// taskRun is one delivery of one task.
type taskRun struct {
	RunTask
	request  task.Request
	delivery string
	claimed  task.Task
	sent     time.Time // when the claim was sent: its lease counts from then
	log      *slog.Logger
}

// claim takes the task up. A completion that is owed from an earlier run is told first. Faults: Conflict, and the record is as it
// stands, when another run holds it or it is over.
func (r *taskRun) claim(ctx context.Context) (standing task.Task, err error) {
	by := task.Claim{Owner: r.NewID(), DeliveryID: r.delivery, Lease: r.Lease}
	for range maxRaces {
		r.sent = r.Now()
		t, err := r.Tasks.StartTask(ctx, r.request, by)
		if err == nil || !fault.Is(err, fault.Conflict) {
			r.claimed = t
			return t, err
		}
		if t.CompletionOwed == 0 {
			return t, err
		}
		told, tellErr := r.tell(ctx, t)
		if tellErr != nil {
			return t, tellErr
		}
		if t.Status == task.Completed || t.Cancelled || t.FailedFor(r.delivery) {
			return told, err
		}
	}
	return task.Task{}, fault.New(fault.Unavailable, "too many others run the task, try again")
}

// answer is what a delivery gets that does not run.
func (r *taskRun) answer(t task.Task) task.Result {
	result := t.Result()
	result.TaskID = r.request.TaskID
	return result
}

// tell publishes a completion and notes that it was told. Only what the bus did not take is an error; one that it will never take
// stays owed, for the sweep to give up.
func (r *taskRun) tell(ctx context.Context, t task.Task) (task.Task, error) {
	if err := r.Bus.EmitTaskCompleted(ctx, t); err != nil {
		if fault.Retryable(err) {
			return t, fmt.Errorf("tell of task %s: %w", t.TaskID, err)
		}
		r.log.ErrorContext(ctx, "the bus refuses the completion", "error", err)
		return t, nil
	}
	if err := r.Tasks.Announced(ctx, t); err != nil {
		r.log.WarnContext(ctx, "the completion was told but not noted: it will be told again", "error", err)
		return t, nil
	}
	return t.Announced().To, nil
}

// finish stores the end of the run and tells it, also when the caller has just been told to stop.
func (r *taskRun) finish(ctx context.Context, end task.Result) (task.Result, error) {
	end.TaskID = r.request.TaskID
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), task.Margin)
		defer cancel()
	}
	err := r.insist(ctx, func() error { return r.Tasks.FinishTask(ctx, r.claimed, end) })
	if fault.Is(err, fault.Conflict) {
		return r.lost(ctx, err), nil
	}
	if err != nil {
		r.giveBack(ctx, err)
		return task.Result{}, fmt.Errorf("finish task %s: %w", r.request.TaskID, err)
	}
	told, err := r.tell(ctx, r.claimed.Finish(end, r.Now()).To)
	if err != nil {
		return task.Result{}, err
	}
	r.Cache.Put(told)
	return end, nil
}

// insist writes what must not be lost: an answer that may have cost a great deal.
func (r *taskRun) insist(ctx context.Context, write func() error) (err error) {
	for range 3 {
		if err = write(); err == nil || !fault.Retryable(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// lost is the answer of a run whose claim went to another, or whose task was cancelled: what it came to is discarded.
func (r *taskRun) lost(ctx context.Context, err error) task.Result {
	r.log.WarnContext(ctx, "the run is discarded", "error", err)
	if now, refused := store.RefusedTask(err, r.request.TaskID); refused && now.Final() {
		return r.answer(now)
	}
	return task.Result{TaskID: r.request.TaskID, Status: task.Running}
}

// giveBack lets the next delivery run the task. Where that cannot be written the lease ends by itself.
func (r *taskRun) giveBack(ctx context.Context, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), task.Margin)
	defer cancel()
	if err := r.Tasks.GiveBackTask(ctx, r.claimed, failure(cause)); err != nil {
		r.log.WarnContext(ctx, "the task was not given back, its lease will end", "error", err)
	}
}

// failure is what a task says of an error: the words of one that is meant for others, else all of it; an Internal one is only
// logged.
func failure(err error) string {
	var coded *fault.Error
	if errors.As(err, &coded) {
		return fault.Public(err)
	}
	return err.Error()
}
