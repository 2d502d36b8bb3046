package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

func TestRunStepByStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fn("slow", func(_ tool.Context, x string) (any, error) {
			time.Sleep(2 * time.Second)
			return map[string]string{"x": x}, nil
		})
		m := newScript(t,
			append(attempt{model.TextDelta{Block: 0, Text: "Let me "}, model.TextDelta{Block: 0, Text: "see."}, model.BlockStop{},
				model.ToolStart{Block: 1, ID: "c1", Name: "slow"}, model.ToolInput{Block: 1, JSON: `{"x":`}, model.ToolInput{Block: 1, JSON: `"one"}`}, model.BlockStop{Block: 1},
				model.ToolStart{Block: 2, ID: "c2", Name: "work"}, model.BlockStop{Block: 2}, model.Stop{Reason: model.StopToolUse}}, used(10, 5)),
			append(says(model.EndTurn, "Done", "."), used(20, 7)),
		)
		tr := &trace{nudge: "and hurry"}
		out, err := loop.Runner{Model: m, Tools: []tool.Tool{slow, work()}, Journal: tr, Watch: tr.watch,
			Request: model.Request{System: "Be brief.", MaxTokens: 100}}.Run(t.Context(), tool.Context{}, history("go"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"step 1", "attempt 1.1", "text Let me ", "text see.", "tool-use c1 slow", "tool-use c2 work",
			`replied 1 tool_use assistant: "Let me see." c1=slow({"x":"one"}) c2=work({})`,
			`save-calls 1 assistant: "Let me see." c1=slow({"x":"one"}) c2=work({})`,
			"may-run c1", "started c1", "may-run c2", "started c2",
			`finished c2:"worked on " in 0s`, `finished c1:"{\"x\":\"one\"}" in 2s`,
			`save-results 1 c1:"{\"x\":\"one\"}" in 2s, c2:"worked on " in 0s`,
			"boundary", "step 2", "attempt 2.1", "text Done", "text .", `replied 2 end_turn assistant: "Done."`,
		}
		if diff := cmp.Diff(want, tr.lines); diff != "" {
			t.Errorf("course of the run (-want +got):\n%s", diff)
		}
		wantOut := loop.Outcome{Final: model.Text(model.Assistant, "Done."), Stop: model.EndTurn, Steps: 2, Usage: model.Usage{InputTokens: 30, OutputTokens: 12}}
		if diff := cmp.Diff(wantOut, out); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		wantAsked := []string{`user: "go"`, `assistant: "Let me see." c1=slow({"x":"one"}) c2=work({})`, `user: c1:"{\"x\":\"one\"}" c2:"worked on " "and hurry"`}
		if diff := cmp.Diff(wantAsked, m.asked(1)); diff != "" {
			t.Errorf("second request (-want +got):\n%s", diff)
		}
		if req := m.Requests()[1]; req.System != "Be brief." || req.MaxTokens != 100 || len(req.Tools) != 2 || req.Tools[0].Name != "slow" {
			t.Errorf("request = %+v", req)
		}
	})
}

func TestRunResumes(t *testing.T) {
	tests := []struct {
		name  string
		h     []model.Message
		ran   string
		asked string // the last message the model sees
	}{
		{"nothing ran", history("go", called("a", "b")), "a b", `user: a:"new a" b:"new b"`},
		{"one is answered", history("go", called("a", "b", "c"), answered("b")), "a c", `user: a:"new a" b:"old b" c:"new c"`},
		{"answered in pieces", history("go", called("a", "b", "c"), answered("c"), answered("a")), "b", `user: a:"old a" b:"new b" c:"old c"`},
		{"all are answered", history("go", called("a", "b"), answered("a", "b")), "", `user: a:"old a" b:"old b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace{}
			m := newScript(t, says(model.EndTurn, "done"))
			again := fn("work", func(ctx tool.Context, _ string) (any, error) { return "new " + ctx.ToolUseID, nil })
			before := len(tt.h)
			out, err := loop.Runner{Model: m, Tools: []tool.Tool{again}, Journal: tr, Spent: loop.Spent{Steps: 3, Usage: model.Usage{InputTokens: 9}}}.Run(t.Context(), tool.Context{}, tt.h)
			if err != nil || out.Steps != 4 || out.Usage.InputTokens != 9 || out.Final.PlainText() != "done" {
				t.Errorf("Run = %+v, %v", out, err)
			}
			var ran []string
			for _, l := range tr.lines {
				if id, ok := strings.CutPrefix(l, "may-run "); ok {
					ran = append(ran, id)
				}
			}
			if got := strings.Join(ran, " "); got != tt.ran {
				t.Errorf("ran %q, want %q", got, tt.ran)
			}
			if got := m.asked(0); got[len(got)-1] != tt.asked {
				t.Errorf("the model saw %s, want %s", got[len(got)-1], tt.asked)
			}
			if len(tt.h) != before || slices.ContainsFunc(tr.lines, func(l string) bool { return strings.HasPrefix(l, "save-calls") }) {
				t.Errorf("the history was changed or the calls saved again: %q", tr.lines)
			}
			if tr.lines[len(tr.lines)-1] != "boundary" {
				t.Errorf("lines = %q, want a boundary before the model is asked", tr.lines)
			}
		})
	}
}

func TestP01AnOpenCallIsNotRunOnceTheUserSpoke(t *testing.T) {
	m := newScript(t, says(model.EndTurn, "fine"))
	never := fn("work", func(tool.Context, string) (any, error) { t.Error("the tool ran"); return nil, nil })
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{never}}).Run(t.Context(), tool.Context{}, history("go", called("a"), "never mind")); err != nil {
		t.Fatal(err)
	}
	last := m.Requests()[0].Messages[2]
	if r := last.Results(); len(r) != 1 || r[0].ID != "a" || r[0].Status != model.Failure || last.PlainText() != "never mind" {
		t.Errorf("the model saw %s, want an error result for a and the new text", brief(last))
	}
}

func TestRunLimits(t *testing.T) {
	again := func() attempt { return append(calls(`work {"x":"it"}`), used(50, 10)) }
	tests := []struct {
		name     string
		attempts []attempt
		limits   loop.Limits
		limit    string
		steps    int
	}{
		{"steps", []attempt{again(), again()}, loop.Limits{Steps: 2}, loop.LimitSteps, 2},
		{"tokens", []attempt{again(), again()}, loop.Limits{Tokens: 100}, loop.LimitTokens, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace{}
			m := newScript(t, tt.attempts...)
			out, err := loop.Runner{Model: m, Tools: []tool.Tool{work()}, Limits: tt.limits, Journal: tr}.Run(t.Context(), tool.Context{}, history("go"))
			if err != nil || out.Limit != tt.limit || out.Steps != tt.steps || out.Stop != "" || out.Final.PlainText() == "" {
				t.Errorf("Run = %+v, %v, want limit %s after %d steps", out, err, tt.limit, tt.steps)
			}
			if last := tr.lines[len(tr.lines)-1]; !strings.HasPrefix(last, "save-results 2 call-2-1") {
				t.Errorf("the last line is %q, want the results saved and nothing taken after them", last)
			}
		})
	}
}

func TestJournalErrorsEndTheRun(t *testing.T) {
	lost := fault.New(fault.Conflict, "the lease is lost")
	tests := []struct {
		name     string
		failing  string
		requests int
		finished string
		last     string
	}{
		{"calls", "save-calls", 1, "", "save-calls"},
		{"may run", "may-run", 1, "", "may-run"},
		{"results", "save-results", 1, `c1:"worked on it"`, "save-results"},
		{"boundary", "boundary", 1, "", "boundary"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace{failing: map[string]error{tt.failing: lost}}
			m := newScript(t, calls(`work {"x":"it"}`))
			out, err := loop.Runner{Model: m, Tools: []tool.Tool{work()}, Journal: tr}.Run(t.Context(), tool.Context{}, history("go"))
			if !errors.Is(err, lost) || !fault.Is(err, fault.Conflict) {
				t.Errorf("Run = %v, want %v", err, lost)
			}
			var finished []string
			for _, r := range out.Finished {
				finished = append(finished, briefResult(r))
			}
			if got := strings.Join(finished, " "); got != tt.finished || len(m.Requests()) != tt.requests || len(out.Final.Content) != 0 {
				t.Errorf("Finished = %s, %d requests, Final %v, want %s, %d, none", got, len(m.Requests()), out.Final, tt.finished, tt.requests)
			}
			if last := tr.lines[len(tr.lines)-1]; !strings.HasPrefix(last, tt.last) {
				t.Errorf("the last line is %q, want nothing after %s", last, tt.last)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := (loop.Runner{}).Run(t.Context(), tool.Context{}, history("go")); !fault.Is(err, fault.Invalid) {
		t.Errorf("no model: %v, want Invalid", err)
	}
	if _, err := (loop.Runner{Model: newScript(t)}).Run(t.Context(), tool.Context{}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no history: %v, want Invalid", err)
	}
	hot := loop.Runner{Model: newScript(t), Request: model.Request{Temperature: new(7.0)}}
	if _, err := hot.Run(t.Context(), tool.Context{}, history("go")); !fault.Is(err, fault.Invalid) {
		t.Errorf("a request that cannot be made valid: %v, want Invalid", err)
	}
}

func TestRunOnADoneContext(t *testing.T) {
	stop := errors.New("handed off")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	for name, h := range map[string][]model.Message{"a question": history("go"), "open calls": history("go", called("a"))} {
		if _, err := (loop.Runner{Model: newScript(t), Tools: []tool.Tool{work()}, Journal: &trace{}}).Run(ctx, tool.Context{}, h); !errors.Is(err, stop) {
			t.Errorf("%s: Run = %v, want %v and nothing done", name, err, stop)
		}
	}
}

func TestP03BlankBlocksInAReply(t *testing.T) {
	blank := attempt{model.TextDelta{Block: 0, Text: " \n"}, model.ToolStart{Block: 1, ID: "c1", Name: "work"}, model.BlockStop{Block: 1}, model.Stop{Reason: model.StopToolUse}}
	m := newScript(t, blank, says(model.EndTurn, "done")) // every request is checked
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{work()}}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got, want := m.asked(1)[1], `assistant: c1=work({})`; got != want {
		t.Errorf("the model saw %s, want %s", got, want)
	}
}

func TestP07ReasoningComesBackUnchanged(t *testing.T) {
	m := newScript(t,
		attempt{
			model.ReasoningDelta{Block: 0, Text: "hm, "}, model.ReasoningDelta{Block: 0, Text: "well"}, model.ReasoningDelta{Block: 0, Signature: "sig/+="},
			model.ReasoningDelta{Block: 1, Redacted: []byte("\x00opaque")},
			model.ToolStart{Block: 2, ID: "c1", Name: "work"}, model.BlockStop{Block: 2}, model.Stop{Reason: model.StopToolUse},
		},
		says(model.EndTurn, "done"))
	tr := &trace{}
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{work()}, Watch: tr.watch}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got, want := m.asked(1)[1], "assistant: reasoning(hm, well|sig/+=|) reasoning(||\x00opaque) c1=work({})"; got != want {
		t.Errorf("the model saw %q, want %q", got, want)
	}
	if !slices.Contains(tr.lines, "reasoning hm, ") || !slices.Contains(tr.lines, "reasoning well") {
		t.Errorf("lines = %q, want the reasoning shown", tr.lines)
	}
}

func TestToolNamesAsTheModelKnowsThem(t *testing.T) {
	odd := fn("files.read all", func(tool.Context, string) (any, error) { return "read", nil })
	name := model.ToolName("files.read all")
	m := newScript(t, calls(name+" {}"), says(model.EndTurn, "done"))
	twice := fn("files.read all", func(tool.Context, string) (any, error) { return "another", nil })
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{odd, twice}}).Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if got, want := m.asked(1)[2], `user: c1:"read"`; got != want || len(m.Requests()[0].Tools) != 1 {
		t.Errorf("the model saw %s and %d tools, want %s and 1", got, len(m.Requests()[0].Tools), want)
	}
}

func TestHistoryIsNotChanged(t *testing.T) {
	h := history("go", called("a", "b"), answered("b"))
	h = append(make([]model.Message, 0, 10), h...) // room that a careless append would write into
	before, _ := json.Marshal(h[:cap(h)][:4])
	m := newScript(t, says(model.EndTurn, "done"))
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{work()}, Journal: &trace{nudge: "hurry"}}).Run(t.Context(), tool.Context{}, h); err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(h[:cap(h)][:4]); string(after) != string(before) {
		t.Errorf("history is\n%s, was\n%s", after, before)
	}
}

func TestToolChoiceCountsUntilThereAreResults(t *testing.T) {
	m := newScript(t, calls("work {}"), says(model.EndTurn, "done"))
	r := loop.Runner{Model: m, Tools: []tool.Tool{work()}, Request: model.Request{ToolChoice: model.ToolChoice{Name: "work"}}}
	if _, err := r.Run(t.Context(), tool.Context{}, history("go")); err != nil {
		t.Fatal(err)
	}
	if first, second := m.Requests()[0].ToolChoice, m.Requests()[1].ToolChoice; first.Name != "work" || second != (model.ToolChoice{}) {
		t.Errorf("tool choices = %+v, %+v, want work, none", first, second)
	}
}

func TestBoundaryAfterAMessageTakenEarlier(t *testing.T) {
	tr := &trace{nudge: "and hurry"}
	m := newScript(t, says(model.EndTurn, "done"))
	h := history("go", called("a"), answered("a"), model.Text(model.User, "also this"))
	if _, err := (loop.Runner{Model: m, Tools: []tool.Tool{work()}, Journal: tr}).Run(t.Context(), tool.Context{}, h); err != nil {
		t.Fatal(err)
	}
	if got, want := m.asked(0)[2], `user: a:"old a" "also this" "and hurry"`; got != want {
		t.Errorf("the model saw %s, want %s", got, want)
	}
}
