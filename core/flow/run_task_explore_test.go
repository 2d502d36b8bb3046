package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// crew runs the stage's tasks with an agent of its own.
type crew struct {
	*stage.Stage
	shop workshop
	f    flow.RunTask
}

func newCrew(s *stage.Stage, run agentFunc) *crew {
	c := &crew{Stage: s, shop: workshop{run: run}}
	c.f = c.shop.on(s)
	c.f.Cache = &task.ResultCache{}
	return c
}

// handle runs what the bus delivers.
func (c *crew) handle(ctx context.Context, e fake.Event) error {
	if e.DetailType != contract.RunAgentTask {
		return nil
	}
	var r task.Request
	if err := json.Unmarshal(e.Detail, &r); err != nil {
		return err
	}
	_, err := c.f.Do(ctx, flow.RunTaskIn{Request: r, DeliveryID: e.ID})
	return err
}

func (c *crew) drain(ctx context.Context) error {
	_, err := c.Bus.Drain(ctx, c.handle)
	return err
}

// round is what follows a crash: deliver, let a lease end, sweep, deliver. The worker that comes then is a new process.
func (c *crew) round(ctx context.Context) error {
	c.f.Cache = &task.ResultCache{}
	if err := c.drain(ctx); err != nil {
		return err
	}
	c.Clock.Advance(time.Minute)
	if _, err := c.Sweep(ctx); err != nil {
		return err
	}
	return c.drain(ctx)
}

// task is the row as it stands; a disturbance that is left over may strike the first look.
func (c *crew) task() (t task.Task, err error) {
	for range 3 {
		ctx := fake.WithWorker(context.Background(), "look")
		if t, err = c.Edges.Table.Task(ctx, "t"); err == nil && !fake.Killed(ctx) {
			return t, nil
		}
	}
	return t, err
}

// end is the task, and what was told of it, once.
func (c *crew) end() string {
	var told []string
	for _, e := range c.Bus.Of(contract.AgentTaskCompleted) {
		var d contract.TaskCompleted
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err.Error()
		}
		if line := d.Status + " " + d.Output + d.Error; len(told) == 0 || told[len(told)-1] != line {
			told = append(told, line)
		}
	}
	t, err := c.task()
	return fmt.Sprint(t.Status, " ", t.Output, t.Error, " owed ", t.CompletionOwed, " told ", strings.Join(told, ", "), err)
}

// check: no run without a claim of its own, and all that was built is cleaned up, if its process lived.
func (c *crew) check() error {
	t, err := c.task()
	if err != nil {
		return err
	}
	if int64(c.shop.ran) > t.Fence {
		return fmt.Errorf("%d runs by %d claims", c.shop.ran, t.Fence)
	}
	if c.shop.built != c.shop.cleaned {
		return fmt.Errorf("%d built, %d cleaned up", c.shop.built, c.shop.cleaned)
	}
	if c.shop.ran == 0 {
		return errors.New("it never ran")
	}
	return nil
}

// TestExploreRunTask: wherever a delivery dies, an answer is lost or a call fails, the task comes to its one end and that is told.
func TestExploreRunTask(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func() agentFunc
		want string
	}{
		{"completed", func() agentFunc { return nil }, "COMPLETED did it owed 0 told COMPLETED did it"},
		{"failed", func() agentFunc {
			return func(context.Context, string) (string, error) { return "", errors.New("broke") }
		}, "FAILED broke owed 0 told FAILED broke"},
		{"given back, then completed", func() agentFunc {
			n := 0
			return func(context.Context, string) (string, error) {
				if n++; n == 1 {
					return "", fault.New(fault.Unavailable, "busy")
				}
				return "did it", nil
			}
		}, "COMPLETED did it owed 0 told COMPLETED did it"},
		{"two renewals", func() agentFunc {
			return func(ctx context.Context, _ string) (string, error) {
				select {
				case <-ctx.Done():
					return "", context.Cause(ctx)
				case <-time.After(25 * time.Second):
					return "did it", nil
				}
			}
		}, "COMPLETED did it owed 0 told COMPLETED did it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake.Explore(t, fake.Flow{Name: "run a task: " + tt.name, Pairs: 60, Seed: 1, New: func() *fake.Run {
				c := newCrew(stage.New(&fake.Model{}), tt.run())
				asked := false
				do := func(ctx context.Context) error {
					r := task.Request{TaskID: "t", Principal: stage.User, Request: "it", DeliveryID: "dlv_t"}
					if _, err := c.Edges.Table.CreateTask(ctx, r); err != nil {
						return err
					}
					if _, err := c.Edges.Bus.RequestTask(ctx, r); err != nil {
						return err
					}
					asked = true
					return c.drain(ctx)
				}
				return &fake.Run{World: c.World, Do: do, End: c.end, Check: func() error {
					if diff := cmp.Diff(tt.want, strings.TrimSuffix(c.end(), "<nil>")); diff != "" {
						return errors.New(diff)
					}
					return c.check()
				}, Recover: func(ctx context.Context) error {
					if !asked {
						return do(ctx)
					}
					return c.round(ctx)
				}}
			}})
		})
	}
}

// TestRunTaskLosesItsClaim: a task that is cancelled, or taken over, while it runs ends by the next renewal; what it came to counts
// for nothing.
func TestRunTaskLosesItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(&fake.Model{})
		var began, ended time.Time
		c := newCrew(s, func(ctx context.Context, _ string) (string, error) {
			began = time.Now()
			<-ctx.Done()
			ended = time.Now()
			return "too late", nil
		})
		ctx := t.Context()
		go func() {
			time.Sleep(time.Second)
			_, err := flow.CancelTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: "t", Caller: stage.User.ID})
			if err != nil {
				t.Error(err)
			}
		}()
		got, err := c.f.Do(ctx, flow.RunTaskIn{Request: task.Request{TaskID: "t", Principal: stage.User, Request: "it"}, DeliveryID: "d"})
		want := task.Result{TaskID: "t", Status: task.Failed, Error: "cancelled"}
		if got != want || err != nil {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if took := ended.Sub(began); took != task.Lease/3 {
			t.Errorf("it ran on for %s, want %s", took, task.Lease/3)
		}
		if diff := cmp.Diff([]string{"t FAILED cancelled"}, completions(t, s)); diff != "" {
			t.Errorf("completions (-want +got):\n%s", diff)
		}
	})
}

// deaf is a table on which no lease is renewed: it refuses, or says nothing.
type deaf struct {
	store.Table
	silent bool
}

func (d deaf) RenewTask(ctx context.Context, _ task.Task, _ time.Duration) error {
	if d.silent {
		<-ctx.Done()
	}
	return fault.New(fault.Unavailable, "the table does not answer")
}

// TestRunTaskStopsBeforeItsLeaseEnds: a worker that cannot renew its lease stops by its own clock while nobody else may run yet.
func TestRunTaskStopsBeforeItsLeaseEnds(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { stopsBeforeItsLeaseEnds(t, silent) })
	}
}

func stopsBeforeItsLeaseEnds(t *testing.T, silent bool) {
	s := stage.New(&fake.Model{})
	c := newCrew(s, func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "too late", nil
	})
	c.f.Tasks = deaf{s.Edges.Table, silent}
	began := time.Now()
	in := flow.RunTaskIn{Request: task.Request{TaskID: "t", Principal: stage.User, Request: "it"}, DeliveryID: "d"}
	got, err := c.f.Do(t.Context(), in)
	if took := time.Since(began); took != task.Lease-task.Margin || !fault.Retryable(err) {
		t.Errorf("%+v, %v after %s, want a fault to retry after %s", got, err, took, task.Lease-task.Margin)
	}
	there, err := s.Edges.Table.Task(t.Context(), "t")
	if err != nil || there.Status != task.Failed || !there.Retryable {
		t.Errorf("the row is %s, retryable %t, %v; want it given back", there.Status, there.Retryable, err)
	}
}

// TestRunTaskWhileAnotherRuns: a duplicate builds nothing and is told that the task runs.
func TestRunTaskWhileAnotherRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(&fake.Model{})
		free := make(chan struct{})
		c := newCrew(s, func(context.Context, string) (string, error) { <-free; return "did it", nil })
		in := flow.RunTaskIn{Request: task.Request{TaskID: "t", Principal: stage.User, Request: "it"}, DeliveryID: "d"}
		first := make(chan task.Result)
		go func() {
			r, err := c.f.Do(t.Context(), in)
			if err != nil {
				t.Error(err)
			}
			first <- r
		}()
		synctest.Wait()
		if r, err := c.f.Do(t.Context(), in); err != nil || r.Status != task.Running || c.shop.built != 1 {
			t.Errorf("the duplicate: %+v, %v, %d built", r, err, c.shop.built)
		}
		close(free)
		if r := <-first; r.Output != "did it" {
			t.Errorf("the first: %+v", r)
		}
	})
}
