package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

func TestP02ParallelCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delays := map[string]time.Duration{"one": 2 * time.Second, "two": 3 * time.Second, "three": time.Second}
		look := fn("look", func(_ tool.Context, x string) (any, error) {
			time.Sleep(delays[x])
			if x == "two" {
				panic("index out of range")
			}
			return "found " + x, nil
		})
		m := newScript(t, calls(`look {"x":"one"}`, `look {"x":"two"}`, `look {"x":"three"}`), says(model.EndTurn, "done"))
		tr := &trace{}
		begin := time.Now()
		out, err := loop.Runner{Model: m, Tools: []tool.Tool{look}, Watch: tr.watch}.Run(t.Context(), tool.Context{}, history("go"))
		if err != nil || out.Final.PlainText() != "done" {
			t.Fatalf("Run = %+v, %v", out, err)
		}
		want := []string{`user: "go"`, `assistant: c1=look({"x":"one"}) c2=look({"x":"two"}) c3=look({"x":"three"})`,
			`user: c1:"found one" c2!"The tool look broke unexpectedly." c3:"found three"`}
		if diff := cmp.Diff(want, m.asked(1)); diff != "" {
			t.Errorf("second request (-want +got):\n%s", diff)
		}
		var finished []string
		for _, l := range tr.lines {
			if rest, ok := strings.CutPrefix(l, "finished "); ok {
				finished = append(finished, rest[:2])
			}
		}
		if diff := cmp.Diff([]string{"c3", "c1", "c2"}, finished); diff != "" || time.Since(begin) != 3*time.Second {
			t.Errorf("took %s; finished (-want +got):\n%s", time.Since(begin), diff)
		}
	})
}

func TestParallelIsBounded(t *testing.T) {
	for _, tt := range []struct{ limit, want int }{{0, 8}, {3, 3}, {1, 1}} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running, most atomic.Int32
				slow := fn("slow", func(tool.Context, string) (any, error) {
					n := running.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.Sleep(time.Second)
					running.Add(-1)
					return "ok", nil
				})
				m := newScript(t, calls(slices.Repeat([]string{"slow {}"}, 20)...), says(model.EndTurn, "done"))
				if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{slow}, Limits: loop.Limits{Parallel: tt.limit}}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
					t.Fatal(err)
				}
				if got := int(most.Load()); got != tt.want {
					t.Errorf("%d tools ran at once, want %d", got, tt.want)
				}
				if got := len(m.Requests()[1].Messages[2].Results()); got != 20 {
					t.Errorf("%d results, want 20", got)
				}
			})
		})
	}
}

func TestWhateverAToolDoesIsAResult(t *testing.T) {
	does := func(output any, err error) tool.Tool {
		return fn("work", func(tool.Context, string) (any, error) { return output, err })
	}
	huge := strings.Repeat("x", 100_000)
	tests := []struct {
		name string
		tool tool.Tool
		call string
		want string // the result starts with this
	}{
		{"text", does("hi", nil), "work {}", `c1:"hi"`},
		{"nothing", does(nil, nil), "work {}", `c1:"(no output)"`},
		{"no JSON form", does(func() {}, nil), "work {}", `c1!"The tool failed: something went wrong."`},
		{"a plain error", does(nil, errors.New("no order 7")), "work {}", `c1!"no order 7"`},
		{"a coded error, with its cause", does(nil, fault.Wrap(fault.NotFound, errors.New("row 7"), "no order")), "work {}", `c1!"no order: row 7"`},
		{"an internal fault is not told", does(nil, fmt.Errorf("get: %w", fault.New(fault.Internal, "password is x"))), "work {}", `c1!"The tool failed: something went wrong."`},
		{"an error without words", does(nil, errors.New("\n")), "work {}", `c1!"The tool failed."`},
		{"a broken error", does(nil, errors.New("a\xff")), "work {}", "c1!\"a\uFFFD\""},
		{"its own deadline", does(nil, context.DeadlineExceeded), "work {}", `c1!"context deadline exceeded"`},
		{"an endless error", does(nil, errors.New(huge)), "work {}", `c1!"xxxxx`},
		{"an endless result", does(huge, nil), "work {}", `c1:"xxxxx`},
		{"bad input", work(), `work {"x":5}`, `c1!"the input does not fit the tool work: /properties/x: type: 5 has type \"integer\", want \"string\""`},
		{"unknown tool", work(), "wrok {}", `c1!"There is no tool \"wrok\". The tools are: work."`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newScript(t, calls(tt.call), says(model.EndTurn, "done"))
			if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{tt.tool}}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
				t.Fatal(err)
			}
			got := briefResult(m.Requests()[1].Messages[2].Results()[0])
			if !strings.HasPrefix(got, tt.want) || len(got) > tool.DefaultMaxResult+200 {
				t.Errorf("result = %.200s (%d bytes), want %s", got, len(got), tt.want)
			}
		})
	}
}

func TestUnknownToolWithoutTools(t *testing.T) {
	m := newScript(t, calls("work {}"), says(model.EndTurn, "done"))
	if _, err := (loop.Runner{Model: m}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got := m.asked(1)[2]; !strings.Contains(got, "no other tool either") {
		t.Errorf("the model saw %s", got)
	}
}

func TestToolContext(t *testing.T) {
	var got []string
	probe := fn("probe", func(ctx tool.Context, _ string) (any, error) {
		tenant, err := tool.State[string](ctx)
		got = append(got, fmt.Sprint(ctx.ToolUseID, ctx.Principal, ctx.Session.ID, ctx.TaskID, tenant, err, ctx.Log != nil))
		return "", nil
	})
	m := newScript(t, calls("probe {}"), says(model.EndTurn, "done"))
	tc := tool.Context{Principal: task.User("u1"), Session: tool.Session{ID: "s1"}, TaskID: "t1"}.WithState("acme")
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{probe}}).Run(t.Context(), tc, history("go")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{fmt.Sprint("c1", task.User("u1"), "s1", "t1", "acme", nil, true)}, got); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
}

func TestToolRetryIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		flaky := tool.RetryReads(tool.ReadOnly(fn("read", func(tool.Context, string) (any, error) {
			if tries++; tries == 1 {
				return nil, fault.New(fault.Unavailable, "busy")
			}
			return "read", nil
		})), 0, time.Second)
		tr := &trace{}
		m := newScript(t, calls("read {}"), says(model.EndTurn, "done"))
		if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{flaky}, Watch: tr.watch}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
			t.Fatal(err)
		}
		want := []string{"started c1", "retry c1 1 1s: busy", `finished c1:"read" in 1s`}
		if diff := cmp.Diff(want, tr.lines[4:7]); diff != "" {
			t.Errorf("course of the call (-want +got):\n%s", diff)
		}
	})
}

func TestMayRunStopsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := fault.New(fault.Conflict, "the lease is over")
		tr := &trace{mayRun: func(c model.ToolUse) error {
			if c.ID == "c3" {
				return old
			}
			return nil
		}}
		waits := fn("work", func(ctx tool.Context, x string) (any, error) {
			if x == "quick" {
				return "quick", nil
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		m := newScript(t, calls(`work {"x":"slow"}`, `work {"x":"quick"}`, `work {}`, `work {}`))
		begin := time.Now()
		out, err := loop.Runner{Model: m, Tools: []tool.Tool{waits}, Journal: tr, Limits: loop.Limits{Parallel: 2}}.Run(t.Context(), tool.Context{}, history("go"))
		if !errors.Is(err, old) || len(out.Finished) != 1 || out.Finished[0].ID != "c2" {
			t.Errorf("Run = %+v, %v, want c2 finished and %v", out, err, old)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("Run took %s, want the running tool to be cancelled at once", took)
		}
		if slices.Contains(tr.lines, "may-run c4") {
			t.Error("a later call was asked for")
		}
	})
}

func TestCancelledWhileToolsRun(t *testing.T) {
	stop := errors.New("interrupted by a message")
	behaviours := map[string]func(ctx tool.Context) (any, error){
		"done":    func(tool.Context) (any, error) { return "done", nil },
		"listens": func(ctx tool.Context) (any, error) { <-ctx.Done(); return nil, fmt.Errorf("read: %w", ctx.Err()) },
		"cause":   func(ctx tool.Context) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) },
		"saves":   func(ctx tool.Context) (any, error) { <-ctx.Done(); time.Sleep(time.Second); return "saved", nil },
		"fails":   func(ctx tool.Context) (any, error) { <-ctx.Done(); return nil, errors.New("half written") },
		"late":    func(tool.Context) (any, error) { time.Sleep(time.Hour); return "late", nil },
	}
	work := fn("work", func(ctx tool.Context, x string) (any, error) { return behaviours[x](ctx) })
	tests := []struct {
		name     string
		calls    []string
		finished []string
		took     time.Duration // from the cancellation
	}{
		{"all listen", []string{"listens", "cause"}, nil, 0},
		{"one is done", []string{"listens", "done"}, []string{`c2:"done"`}, 0},
		{"the order is the calls'", []string{"saves", "done"}, []string{`c1:"saved"`, `c2:"done"`}, time.Second},
		{"what really failed is a result", []string{"fails"}, []string{`c1!"half written"`}, 0},
		{"one does not listen", []string{"late", "saves"}, []string{`c2:"saved"`}, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(stop) })
				var written []string
				for _, c := range tt.calls {
					written = append(written, fmt.Sprintf(`work {"x":%q}`, c))
				}
				tr := &trace{}
				begin := time.Now()
				out, err := loop.Runner{Model: newScript(t, calls(written...)), Tools: []tool.Tool{work}, Journal: tr, Watch: tr.watch}.Run(ctx, tool.Context{}, history("go"))
				if !errors.Is(err, stop) {
					t.Errorf("Run = %v, want %v", err, stop)
				}
				var finished []string
				for _, r := range out.Finished {
					finished = append(finished, briefResult(r))
				}
				if diff := cmp.Diff(tt.finished, finished); diff != "" {
					t.Errorf("finished (-want +got):\n%s", diff)
				}
				if took := time.Since(begin) - time.Minute; took != tt.took {
					t.Errorf("Run took %s after the cancellation, want %s", took, tt.took)
				}
				lines := len(tr.lines)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if len(tr.lines) != lines || slices.ContainsFunc(tr.lines, func(l string) bool { return strings.HasPrefix(l, "save-results") }) {
					t.Errorf("a tool left behind spoke, or results were saved: %q", tr.lines)
				}
			})
		})
	}
}

// TestNoGoroutineStaysBehind relies on synctest, which fails when a goroutine of the bubble is left blocked.
func TestNoGoroutineStaysBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		waits := fn("work", func(ctx tool.Context, _ string) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
		time.AfterFunc(time.Second, cancel)
		out, err := loop.Runner{Model: newScript(t, calls(slices.Repeat([]string{"work {}"}, 12)...)), Tools: []tool.Tool{waits}}.Run(ctx, tool.Context{}, history("go"))
		if !errors.Is(err, context.Canceled) || len(out.Finished) != 0 {
			t.Errorf("Run = %+v, %v", out, err)
		}
	})
}

// TestLateRetryIsNotShown: a tool left behind goes on trying, and nobody hears of it.
func TestLateRetryIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		deaf := deafTool{}
		tr := &trace{}
		if _, err := (loop.Runner{Model: newScript(t, calls("deaf {}")), Tools: []tool.Tool{deaf}, Watch: tr.watch}).Run(ctx, tool.Context{}, history("go")); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		time.Sleep(time.Hour)
		if last := tr.lines[len(tr.lines)-1]; last != "started c1" {
			t.Errorf("the last event is %q, want none of the tool left behind", last)
		}
	})
}

type deafTool struct{}

func (deafTool) Spec() tool.Spec {
	return tool.Spec{Name: "deaf", Description: "does not listen", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (deafTool) Call(ctx tool.Context, _ json.RawMessage) (any, error) {
	time.Sleep(time.Minute)
	ctx.Retried(1, time.Second, errors.New("busy"))
	return "late", nil
}

// waiting is a journal whose call c2 waits.
type waiting struct {
	trace
	parked []string
}

var errWaits = errors.New("waits")

func (w *waiting) MayRun(_ context.Context, call model.ToolUse) error {
	if call.ID == "c2" {
		return loop.ErrWait
	}
	return nil
}

func (w *waiting) Park(_ context.Context, step int, results []model.ToolResult, took []time.Duration, calls []model.ToolUse) error {
	for i, r := range results {
		w.parked = append(w.parked, fmt.Sprintf("step %d: %s in %s", step, briefResult(r), took[i]))
	}
	for _, c := range calls {
		w.parked = append(w.parked, "waits: "+c.ID)
	}
	return errWaits
}

func TestACallThatWaits(t *testing.T) {
	ran := 0
	look := tool.New("look", "Looks.", func(tool.Context, struct{}) (string, error) { ran++; return "seen", nil })
	j := &waiting{}
	r := loop.Runner{Model: newScript(t, calls("look {}", "look {}", "look {}")), Tools: []tool.Tool{look}, Journal: j, Limits: loop.Limits{Parallel: 1}}
	out, err := r.Run(t.Context(), tool.Context{Context: t.Context()}, []model.Message{model.Text(model.User, "go")})
	if !errors.Is(err, errWaits) || ran != 2 || len(out.Finished) != 2 {
		t.Errorf("Run = %v after %d runs, finished %v", err, ran, out.Finished)
	}
	if len(j.parked) != 3 || j.parked[2] != "waits: c2" || !strings.HasPrefix(j.parked[0], "step 1: c1") || !strings.HasPrefix(j.parked[1], "step 1: c3") {
		t.Errorf("parked: %q", j.parked)
	}
}

// TestNothingWaitsWithoutAParker: a journal that cannot park ends the run by letting a call wait.
func TestNothingWaitsWithoutAParker(t *testing.T) {
	look := tool.New("look", "Looks.", func(tool.Context, struct{}) (string, error) { return "seen", nil })
	j := &trace{mayRun: func(model.ToolUse) error { return loop.ErrWait }}
	r := loop.Runner{Model: newScript(t, calls("look {}")), Tools: []tool.Tool{look}, Journal: j}
	if _, err := r.Run(t.Context(), tool.Context{Context: t.Context()}, []model.Message{model.Text(model.User, "go")}); !errors.Is(err, loop.ErrWait) {
		t.Errorf("Run = %v", err)
	}
}

func TestWhereNobodyCanBeAskedNothingRuns(t *testing.T) {
	ran := 0
	pay := tool.RequireApproval(tool.New("pay", "Pays.", func(tool.Context, struct{}) (string, error) { ran++; return "paid", nil }))
	for name, journal := range map[string]loop.Journal{"without a journal": nil, "with one that cannot park": &trace{}} {
		script := newScript(t, calls("pay {}"), says(model.EndTurn, "I could not."))
		r := loop.Runner{Model: script, Tools: []tool.Tool{pay}, Journal: journal}
		out, err := r.Run(t.Context(), tool.Context{Context: t.Context()}, []model.Message{model.Text(model.User, "pay")})
		if err != nil || ran != 0 || out.Final.PlainText() != "I could not." {
			t.Errorf("%s: %v, %v, ran %d times", name, out.Final, err, ran)
		}
		results := script.Requests()[1].Messages[2].Results()
		if len(results) != 1 || !strings.Contains(results[0].Content[0].Text, "nobody can be asked") {
			t.Errorf("%s: the model reads %v", name, results)
		}
	}
}
