package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// spared are tasks that warm the connections and are not counted.
const spared = 200

// round is what a number of tasks took.
type round struct {
	Ms    float64 `json:"ms"`
	CPUms float64 `json:"cpu_ms"`
	Won   int64   `json:"won"`
}

// claims claims and finishes n tasks, c at a time, then delivers all of them again.
func claims(ctx context.Context, command string, n, c int) error {
	do := ours(edges().Table)
	if command == "sdk-claims" {
		do = bare()
	}
	ids := make([]string, n+spared)
	for i := range ids {
		ids[i] = uuid.NewString()
	}
	if _, err := spread(ctx, ids[n:], c, do); err != nil {
		return err
	}
	first, err := spread(ctx, ids[:n], c, do)
	if err != nil {
		return err
	}
	again, err := spread(ctx, ids[:n], c, do)
	if err != nil {
		return err
	}
	return emit(struct {
		N         int   `json:"n"`
		C         int   `json:"c"`
		First     round `json:"first"`
		Duplicate round `json:"duplicate"`
	}{n, c, first, again})
}

// spread does something for every id, c at a time.
func spread(ctx context.Context, ids []string, c int, do func(context.Context, string) (won bool, err error)) (round, error) {
	var next, won atomic.Int64
	used, begun := cpu(), time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range c {
		group.Go(func() error {
			for {
				i := next.Add(1) - 1
				if i >= int64(len(ids)) {
					return nil
				}
				got, err := do(ctx, ids[i])
				if err != nil {
					return err
				}
				if got {
					won.Add(1)
				}
			}
		})
	}
	err := group.Wait()
	return round{Ms: float64(time.Since(begun).Microseconds()) / 1000, CPUms: float64((cpu() - used).Microseconds()) / 1000, Won: won.Load()}, err
}

// ours claims and finishes a task as a handler does.
func ours(t store.Table) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, id string) (bool, error) {
		r := task.Request{TaskID: id, Request: request, Principal: task.System("bench")}
		claimed, err := t.StartTask(ctx, r, task.Claim{Owner: uuid.NewString(), DeliveryID: "delivery-" + id, Lease: task.Lease})
		if fault.Is(err, fault.Conflict) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, t.FinishTask(ctx, claimed, task.Result{TaskID: id, Status: task.Completed, Output: "ok"})
	}
}
