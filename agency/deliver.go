package agency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// A delivery:
//
//	valid? ─▶ paused? ─▶ known? ─▶ claim ─▶ scope, cap, expire, load ─▶ handler ─▶ observe ─▶ finish ─▶ tell ─▶ told
//	   │         │          │        │              │ any error from here on ends the claim:
//	 FAILED,  unclaimed   FAILED   stored           ├── retryable: given back, the delivery fails
//	unclaimed                      answer           └── else: FAILED, told

// job is a task in the hands of a delivery.
type job struct {
	request  task.Request
	delivery string
	claimed  task.Task
	sent     time.Time // when the claim was: its lease counts from then
	now      time.Time // when the run began
	scope    string
}

func (j job) agentID() string { return j.request.Trigger.AgentID }
func (j job) kind() string    { return j.request.Trigger.Kind }

// Deliver runs a task that was delivered, without an envelope: for tests and local dispatch. It runs at most once per claim; a duplicate
// gets the stored answer, and one that comes while it runs gets RUNNING. An error asks for another delivery. Faults: those of look-ups
// and of handlers that are worth another try, Unavailable.
func (a *Agent) Deliver(ctx context.Context, r task.Request, deliveryID string) (task.Result, error) {
	r.Source = a.source
	if reason := a.refuse(r); reason != "" {
		a.log.WarnContext(ctx, "rejected", "task", r.TaskID, "reason", reason)
		return rejected(r, reason), nil
	}
	j := job{request: r, delivery: r.Delivery(deliveryID)}
	if paused, err := a.pause.on(ctx); err != nil || paused {
		return a.paused(ctx, j, err)
	}
	run, err := a.open(ctx, r.Trigger.AgentID)
	if errors.Is(err, ErrUnknownAgent) {
		a.log.WarnContext(ctx, "rejected", "task", r.TaskID, "reason", "unknown agent", "agent", r.Trigger.AgentID)
		return rejected(r, "Unknown "+a.name+" agent"), nil
	}
	if err != nil {
		return task.Result{}, fmt.Errorf("profile of %s: %w", r.Trigger.AgentID, err)
	}
	if early, err := a.await(ctx, r); early || err != nil {
		return task.Result{TaskID: r.TaskID, Status: task.Pending}, err
	}
	if err = a.claim(ctx, &j); err != nil {
		if fault.Is(err, fault.Conflict) {
			return j.standing(), nil
		}
		return task.Result{}, err
	}
	return a.work(ctx, j, run)
}

func rejected(r task.Request, reason string) task.Result {
	return task.Result{TaskID: r.TaskID, Status: task.Failed, Error: reason}
}

// refuse says why a task is none of this type's; "" if it is.
func (a *Agent) refuse(r task.Request) string {
	switch t := r.Trigger; {
	case r.TaskID == "":
		return "Run Agent Task needs a taskId"
	case t == nil || t.Kind == "" || t.AgentID == "":
		return "Run Agent Task for a persistent agent needs a trigger with kind and agentId"
	case !a.kinds[t.Kind]:
		return fmt.Sprintf("No task handler for kind %q", t.Kind)
	case r.Principal != a.principal(t.AgentID):
		return "The task principal does not match the agent"
	}
	return ""
}

// paused drops a task, or holds it.
func (a *Agent) paused(ctx context.Context, j job, err error) (task.Result, error) {
	r := j.request
	if err != nil {
		return task.Result{}, fmt.Errorf("is %s paused: %w", a.name, err)
	}
	a.log.InfoContext(ctx, "paused", "task", r.TaskID)
	if a.onPause == DropTasks {
		return a.drop(ctx, j)
	}
	if _, err := a.store.CreateTask(ctx, r); err != nil && !fault.Is(err, fault.Conflict) {
		return task.Result{}, fmt.Errorf("hold %s: %w", r.TaskID, err)
	}
	return task.Result{TaskID: r.TaskID, Status: task.Pending}, nil
}

// soon is how long a delivery waits for the time of a delayed task; who sends it is not exact.
const soon = 2 * time.Minute

// await waits until a task is to run. early is true when that is too long to wait and its row will have it sent then.
func (a *Agent) await(ctx context.Context, r task.Request) (early bool, err error) {
	at, ok := readTime(r.NotBefore)
	left := at.Sub(a.now())
	switch {
	case !ok || left <= 0:
		return false, nil
	case left <= soon:
		err = pause(ctx, left)
	case a.store.Sweeps():
		_, err = a.store.CreateTask(ctx, r)
		early = true
	}
	if err != nil && !fault.Is(err, fault.Conflict) {
		return early, fmt.Errorf("wait for the time of %s: %w", r.TaskID, err)
	}
	return early, nil
}

// drop gives a task up unclaimed; where a sweep would deliver it again, it ends.
func (a *Agent) drop(ctx context.Context, j job) (r task.Result, err error) {
	if r = rejected(j.request, "paused"); !a.store.Sweeps() {
		return r, nil
	}
	if err = a.claim(ctx, &j); err == nil {
		return a.finish(ctx, j, r)
	}
	if fault.Is(err, fault.Conflict) {
		return j.standing(), nil
	}
	return task.Result{}, err
}

// claim takes the task up. A completion that is owed from an earlier run is told first. Faults: Conflict, and the record is as it
// stands, when another run holds it or it is over.
func (a *Agent) claim(ctx context.Context, j *job) error {
	by := task.ClaimBy{Owner: uuid.NewString(), DeliveryID: j.delivery, Lease: a.lease}
	for {
		var err error
		j.sent = time.Now()
		j.claimed, err = a.store.StartTask(ctx, j.request, by)
		if err == nil || !fault.Is(err, fault.Conflict) {
			return err
		}
		t := j.claimed
		blocked := t.Status == task.Failed && t.CompletionOwed != 0 && !t.Cancelled && !t.FailedFor(j.delivery)
		if t.CompletionOwed != 0 {
			if err := a.tell(ctx, *j); err != nil {
				return err
			}
		}
		if !blocked {
			return err
		}
	}
}

// standing is what a duplicate gets.
func (j job) standing() task.Result {
	r := j.claimed.Result()
	r.TaskID = j.request.TaskID
	return r
}

// tell publishes the completion of a task that is final, and notes that it was told.
func (a *Agent) tell(ctx context.Context, j job) error {
	if err := a.publish(ctx, j); err != nil {
		return err
	}
	return a.told(ctx, j)
}

func (a *Agent) publish(ctx context.Context, j job) error {
	err := a.complete(ctx, Completion{Task: j.claimed, AgentID: j.agentID(), Kind: j.kind()})
	if err != nil {
		return fmt.Errorf("completion of %s: %w", j.request.TaskID, err)
	}
	return nil
}

func (a *Agent) told(ctx context.Context, j job) error {
	if err := a.store.Announced(ctx, j.claimed); err != nil {
		return fmt.Errorf("note the completion of %s: %w", j.request.TaskID, err)
	}
	return nil
}

// work runs a claimed task to its end.
func (a *Agent) work(ctx context.Context, j job, run runner) (task.Result, error) {
	output, err := a.guarded(ctx, j, run)
	if err != nil && a.again(err) && j.claimed.Attempt <= task.MaxAttempts {
		a.log.WarnContext(ctx, "retry", "task", j.request.TaskID, "error", err)
		a.handBack(ctx, j, err)
		return task.Result{}, err
	}
	r := task.Result{TaskID: j.request.TaskID, Status: task.Completed, Output: output}
	if err != nil {
		r = rejected(j.request, err.Error())
	}
	return a.finish(ctx, j, r)
}

// handBack lets another delivery run the task, also when this one's time is over. What fails is left to the lease: it ends by itself.
func (a *Agent) handBack(ctx context.Context, j job, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), task.Margin)
	defer cancel()
	if err := a.store.GiveBackTask(ctx, j.claimed, cause.Error()); err != nil {
		a.log.ErrorContext(ctx, "hand_back_failed", "task", j.request.TaskID, "error", err)
	}
}

// again reports whether a run that failed with err is to be had once more.
func (a *Agent) again(err error) bool { return errors.Is(err, errLeaseOver) || a.retryable(err) }

// finish stores how a run ended and tells it.
func (a *Agent) finish(ctx context.Context, j job, r task.Result) (task.Result, error) {
	err := a.store.FinishTask(ctx, j.claimed, r)
	if fault.Is(err, fault.Conflict) { // cancelled, or another run took it over
		a.log.WarnContext(ctx, "discarded", "task", r.TaskID, "error", err)
		return task.Result{TaskID: r.TaskID, Status: task.Running}, nil
	}
	if err != nil {
		a.handBack(ctx, j, err)
		return task.Result{}, fmt.Errorf("finish %s: %w", r.TaskID, err)
	}
	j.claimed = j.claimed.Finish(r, a.now()).To
	if err := a.publish(ctx, j); err != nil {
		a.log.WarnContext(ctx, "completion_undelivered", "task", j.request.TaskID, "error", err)
		return task.Result{}, err
	}
	if err := a.told(ctx, j); err != nil {
		return task.Result{}, err
	}
	return r, nil
}
