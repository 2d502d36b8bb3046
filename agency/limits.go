package agency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// unmarshal reads JSON into v.
func unmarshal(data json.RawMessage, v any) error { return json.Unmarshal(data, v) }

// passing are the names and codes of errors that are worth another try.
var passing = []string{
	"ThrottlingException", "Throttling", "TooManyRequestsException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
	"LimitExceededException", "SlowDown", "ServiceUnavailable", "ServiceUnavailableException", "InternalServerException", "InternalServerError",
	"InternalFailure", "InternalError", "ModelTimeoutException", "ModelNotReadyException", "ModelErrorException", "TimeoutError", "RequestTimeout",
	"RequestTimeoutException", "TransactionConflictException", "AgentStateConflictError", "PutEventsEntryError",
	"ECONNRESET", "ECONNREFUSED", "ETIMEDOUT", "EPIPE", "EAI_AGAIN",
}

// IsRetryable reports whether an error is worth another try: throttles, time-outs, network resets, status 429 and from 500 on, documents
// that others changed every time, and everything that says so itself.
func IsRetryable(err error) bool {
	var marked interface{ RetryableError() bool }
	if errors.As(err, &marked) && marked.RetryableError() {
		return true
	}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) && slices.Contains(passing, coded.ErrorCode()) {
		return true
	}
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) && (answer.HTTPStatusCode() == 429 || answer.HTTPStatusCode() >= 500) {
		return true
	}
	return fault.Retryable(err) || network(err)
}

// network reports whether the network failed.
func network(err error) bool {
	var broken net.Error
	var name *net.DNSError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.EPIPE) || errors.As(err, &name) && name.IsTemporary || errors.As(err, &broken) && broken.Timeout()
}

// usage counts an agent's tasks.
type usage struct {
	Tasks []counted `json:"tasks"`
}

type counted struct {
	ID string `json:"id"`
	At int64  `json:"at"` // ms
}

// How the errors of tasks that are kept back begin.
const (
	overCap    = "Task cap reached"
	overBudget = "Over budget"
)

// admit counts a task against its agent's cap, each id once, and asks the budget. Faults: Limit with reason "task_cap" or "budget", those
// of UpdateState and the budget.
func (a *Agent) admit(ctx context.Context, j job) error {
	if err := a.withinCap(ctx, j); err != nil || a.budget == nil {
		return err
	}
	err := a.budget.Admit(ctx, Spender{AgentType: a.name, AgentID: j.agentID(), TaskID: j.request.TaskID})
	if fault.Is(err, fault.Limit) {
		a.log.WarnContext(ctx, "budget", "task", j.request.TaskID, "agent", j.agentID())
		return fault.New(fault.Limit, "%s: %v", overBudget, err).Because("budget")
	}
	if err != nil {
		return fmt.Errorf("budget of %s: %w", j.agentID(), err)
	}
	return nil
}

func (a *Agent) withinCap(ctx context.Context, j job) error {
	if a.cap == NoTaskCap {
		return nil
	}
	full := false
	k := StateKey{AgentID: j.agentID(), Name: a.name + ".usage"}
	_, err := UpdateState(ctx, a.store, k, func(u usage) (usage, error) {
		u, full = u.count(j.request.TaskID, j.now, a.cap, a.capWindow)
		return u, nil
	})
	if err != nil || !full {
		return err
	}
	a.log.WarnContext(ctx, "task_cap", "task", j.request.TaskID, "agent", j.agentID())
	text := fmt.Sprintf(overCap+": at most %d tasks per %d minutes for one %s agent", a.cap, int(a.capWindow.Round(time.Minute).Minutes()), a.name)
	return fault.New(fault.Limit, "%s", text).Because("task_cap")
}

// count adds a task unless it is counted already or the cap is reached.
func (u usage) count(id string, now time.Time, limit int, window time.Duration) (next usage, full bool) {
	next.Tasks = []counted{}
	known := false
	for _, t := range u.Tasks {
		if now.UnixMilli()-t.At < window.Milliseconds() {
			next.Tasks = append(next.Tasks, t)
			known = known || t.ID == id
		}
	}
	if known {
		return next, false
	}
	if len(next.Tasks) >= limit {
		return next, true
	}
	next.Tasks = append(next.Tasks, counted{id, now.UnixMilli()})
	return next, false
}
