package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// agentFunc is an agent made of a function.
type agentFunc func(ctx context.Context, request string) (string, error)

func (f agentFunc) RunTask(ctx context.Context, request string) (string, *task.Usage, error) {
	output, err := f(ctx, request)
	return output, usedByAll(), err
}

// usedByAll is what every run uses.
func usedByAll() *task.Usage { return &task.Usage{InputTokens: 7, CostUSD: new(0.5)} }

// workshop counts what is built, run and cleaned up.
type workshop struct {
	built, ran, cleaned int
	run                 agentFunc
	fails               error // of BuildAgent
}

func (w *workshop) build(_ context.Context, r task.Request) (flow.Agent, func() error, error) {
	w.built++
	run := agentFunc(func(ctx context.Context, request string) (string, error) {
		w.ran++
		if w.run != nil {
			return w.run(ctx, request)
		}
		return "did " + request, nil
	})
	return run, func() error { w.cleaned++; return errors.New("cleanup") }, w.fails
}

func (w *workshop) on(s *stage.Stage) flow.RunTask {
	return flow.RunTask{Tasks: s.Edges.Table, Bus: s.Edges.Bus, BuildAgent: w.build, Now: s.Edges.Now, NewID: s.Edges.NewID}
}

func (w *workshop) counts() string { return fmt.Sprint(w.built, w.ran, w.cleaned) }

// answers is an agent that fails in turn with each of errs and then does what is asked.
func answers(errs ...error) agentFunc {
	return func(_ context.Context, request string) (string, error) {
		if len(errs) == 0 {
			return "did " + request, nil
		}
		err := errs[0]
		errs = errs[1:]
		return "", err
	}
}

func TestRunTask(t *testing.T) {
	type step struct {
		delivery string
		want     task.Result
		fails    bool
	}
	done := task.Result{TaskID: "t", Status: task.Completed, Output: "did it", Usage: usedByAll()}
	refused := func(reason string) task.Result { return task.Result{TaskID: "t", Status: task.Failed, Error: reason} }
	failed := func(reason string) task.Result {
		r := refused(reason)
		r.Usage = usedByAll()
		return r
	}
	const chain = "depth: 9 tasks started one another, the limit is 8"
	for _, tt := range []struct {
		name   string
		more   func(r *task.Request)
		shop   func() workshop
		steps  []step
		counts string // built, ran, cleaned
		told   []string
	}{
		{"runs once", nil, func() workshop { return workshop{} },
			[]step{{"d1", done, false}, {"d1", done, false}, {"d2", done, false}}, "1 1 1", []string{"t COMPLETED did it"}},
		{"fails for good", nil, func() workshop { return workshop{run: answers(errors.New("not your session"))} },
			[]step{{"d1", failed("not your session"), false}, {"d1", failed("not your session"), false}}, "1 1 1", []string{"t FAILED not your session"}},
		{"a deliberate retry", nil, func() workshop { return workshop{run: answers(errors.New("broke"))} },
			[]step{{"d1", failed("broke"), false}, {"d2", done, false}, {"d1", done, false}}, "2 2 2", []string{"t FAILED broke", "t COMPLETED did it"}},
		{"fails for now", nil, func() workshop { return workshop{run: answers(fault.New(fault.Unavailable, "busy"))} },
			[]step{{"d1", task.Result{}, true}, {"d1", done, false}}, "2 2 2", []string{"t COMPLETED did it"}},
		{"what is not for others", nil, func() workshop {
			return workshop{run: answers(fault.Wrap(fault.Internal, errors.New("secret"), "look"))}
		}, []step{{"d1", failed("something went wrong"), false}}, "1 1 1", []string{"t FAILED something went wrong"}},
		{"a panic", nil, func() workshop {
			return workshop{run: func(context.Context, string) (string, error) { panic("secret") }}
		}, []step{{"d1", refused("something went wrong"), false}}, "1 1 1", []string{"t FAILED something went wrong"}},
		{"cannot be built", nil, func() workshop { return workshop{fails: errors.New("no such agent")} },
			[]step{{"d1", refused("no such agent"), false}}, "1 0 1", []string{"t FAILED no such agent"}},
		{"a long chain", func(r *task.Request) { r.Depth = 9 }, func() workshop { return workshop{} },
			[]step{{"d1", refused(chain), false}}, "0 0 0", []string{"t FAILED " + chain}},
		{"no request", func(r *task.Request) { r.Request = "" }, func() workshop { return workshop{} },
			[]step{{"d1", refused("request: must not be empty"), false}}, "0 0 0", []string{"t FAILED request: must not be empty"}},
		{"no id", func(r *task.Request) { r.TaskID = "" }, func() workshop { return workshop{} },
			[]step{{"d1", task.Result{Status: task.Failed, Error: "taskId: must not be empty"}, false}}, "0 0 0", nil},
		{"the detail's delivery counts", func(r *task.Request) { r.DeliveryID = "own" }, func() workshop { return workshop{run: answers(errors.New("broke"))} },
			[]step{{"d1", failed("broke"), false}, {"d2", failed("broke"), false}}, "1 1 1", []string{"t FAILED broke"}},
		{"far too early", func(r *task.Request) { r.NotBefore = contract.At(fake.Start().Add(time.Hour)) }, func() workshop { return workshop{} },
			[]step{{"d1", task.Result{}, true}}, "0 0 0", nil},
		{"a little early", func(r *task.Request) { r.NotBefore = contract.At(fake.Start().Add(time.Minute)) }, func() workshop { return workshop{} },
			[]step{{"d1", done, false}}, "1 1 1", []string{"t COMPLETED did it"}},
	} {
		for _, warm := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, warm %t", tt.name, warm), func(t *testing.T) {
				bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
					shop := tt.shop()
					f := shop.on(s)
					if warm {
						f.Cache = &task.ResultCache{}
					}
					r := task.Request{TaskID: "t", Principal: stage.User, Request: "it"}
					if tt.more != nil {
						tt.more(&r)
					}
					for i, step := range tt.steps {
						got, err := f.Do(ctx, flow.RunTaskIn{Request: r, DeliveryID: step.delivery})
						if diff := cmp.Diff(step.want, got); diff != "" || (err != nil) != step.fails {
							t.Errorf("delivery %d: %v (-want +got):\n%s", i+1, err, diff)
						}
					}
					if got := shop.counts(); got != tt.counts {
						t.Errorf("built, ran, cleaned: %s, want %s", got, tt.counts)
					}
					if diff := cmp.Diff(tt.told, completions(t, s)); diff != "" {
						t.Errorf("completions (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// TestARunSaysWhatItUsed: on the row and in the completion.
func TestARunSaysWhatItUsed(t *testing.T) {
	for _, run := range []agentFunc{nil, answers(errors.New("broke"))} {
		bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
			shop := workshop{run: run}
			if _, err := shop.on(s).Do(ctx, flow.RunTaskIn{Request: task.Request{TaskID: "t", Principal: stage.User, Request: "it"}, DeliveryID: "d1"}); err != nil {
				t.Fatal(err)
			}
			row, err := s.Edges.Table.Task(ctx, "t")
			if diff := cmp.Diff(usedByAll(), row.Usage); err != nil || diff != "" {
				t.Errorf("%s row: %v (-want +got):\n%s", row.Status, err, diff)
			}
			var told contract.TaskCompleted
			sent := s.Bus.Of(contract.AgentTaskCompleted)
			if len(sent) != 1 || json.Unmarshal(sent[0].Detail, &told) != nil {
				t.Fatalf("told %v", sent)
			}
			if diff := cmp.Diff(usedByAll(), told.Usage); diff != "" {
				t.Errorf("completion (-want +got):\n%s", diff)
			}
		})
	}
}
