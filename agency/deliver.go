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
//	valid? ─▶ paused? ─▶ time? ─▶ known? ─▶ claim ─▶ scope, cap, expire, load ─▶ handler ─▶ observe ─▶ finish ─▶ tell ─▶ told
//	   │         │ held,    │ waits,  │        │              │ any error from here on ends the claim:
//	 FAILED,     │ or       │ or      │ FAILED, stored        ├── retryable: given back, the delivery fails
//	unclaimed    │ FAILED   │ PENDING │ told    answer        └── else: FAILED, told

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
	if got, ok, err := a.ready(ctx, j); !ok {
		return got, err
	}
	run, err := a.open(ctx, r.Trigger.AgentID)
	if errors.Is(err, ErrUnknownAgent) {
		a.log.WarnContext(ctx, "rejected", "task", r.TaskID, "reason", "unknown agent", "agent", r.Trigger.AgentID)
		return a.drop(ctx, j, "Unknown "+a.name+" agent")
	}
	if err != nil {
		return task.Result{}, fmt.Errorf("profile of %s: %w", r.Trigger.AgentID, err)
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

// claim takes the task up. A completion that is owed from an earlier run is told first. Faults: Conflict, and the record is as it
// stands, when another run holds it or it is over.
func (a *Agent) claim(ctx context.Context, j *job) error {
	by := task.Claim{Owner: uuid.NewString(), DeliveryID: j.delivery, Lease: a.lease}
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
	end, err := a.guarded(ctx, j, run)
	if err != nil && a.again(err) && j.claimed.Attempt <= task.MaxAttempts {
		a.log.WarnContext(ctx, "retry", "task", j.request.TaskID, "error", err)
		a.handBack(ctx, j, err)
		return task.Result{}, err
	}
	r := task.Result{TaskID: j.request.TaskID, Status: task.Completed, Output: end.output}
	if err != nil {
		r = rejected(j.request, err.Error())
	}
	r.Usage = end.used
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
