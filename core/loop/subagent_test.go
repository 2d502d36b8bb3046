package loop_test

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

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// asPlanned answers as the instructions say: each line is a call, `name {json}`, of one step; then what the last result said.
func asPlanned(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	if results := last.Results(); len(results) > 0 {
		return fake.Say("it said: " + results[0].Content[0].Text)
	}
	var calls []model.ToolUse
	for n, line := range strings.Split(req.System, "\n") {
		if name, input, ok := strings.Cut(line, " "); ok && strings.HasPrefix(input, "{") {
			calls = append(calls, model.ToolUse{ID: fmt.Sprint("c", n), Name: name, Input: json.RawMessage(input)})
		}
	}
	if len(calls) == 0 {
		return fake.Say("heard " + last.PlainText())
	}
	return fake.Calls("", calls...)
}

const ask = ` {"request":"do it"}`

// trail notes what a run tells of subagents.
func trail(into *[]string) func(loop.Event) {
	return func(e loop.Event) {
		switch e := e.(type) {
		case loop.SubagentStarted:
			*into = append(*into, fmt.Sprintf("%d %s %s: %s", e.Depth, e.ID, e.Name, e.Request))
		case loop.SubagentEnded:
			*into = append(*into, fmt.Sprintf("%d %s ended after %d: %v", e.Depth, e.ID, e.Steps, e.Err))
		}
	}
}

func TestASubagentWorks(t *testing.T) {
	helper := loop.Subagent{Name: "helper", Description: "Helps.", Instructions: "expert" + ask, ModelID: "small", Tools: []tool.Tool{
		loop.Subagent{Name: "expert", Description: "Knows."},
	}}
	m := &fake.Model{Answer: asPlanned}
	var told []string
	out, err := loop.Runner{
		Model: m, Request: model.Request{System: "helper" + ask, ModelID: "large"}, Tools: []tool.Tool{helper}, Watch: trail(&told),
	}.Run(t.Context(), tool.Context{}, []model.Message{model.Text(model.User, "go")})
	if err != nil || out.Final.PlainText() != "it said: it said: heard do it" {
		t.Fatalf("Run = %q, %v", out.Final.PlainText(), err)
	}
	want := []string{"1 c0 helper: do it", "2 c0/", "2 c0/", "1 c0 ended after 2: <nil>"}
	if len(told) != 4 || told[0] != want[0] || told[3] != want[3] || !strings.HasPrefix(told[1], want[1]) || !strings.HasPrefix(told[2], want[2]) {
		t.Errorf("told %q", told)
	}
	var models []string
	var used model.Usage
	for _, req := range m.Requests() {
		models = append(models, req.ModelID)
	}
	if diff := cmp.Diff([]string{"large", "small", "small", "small", "large"}, models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	alone, err := loop.Runner{Model: &fake.Model{Answer: asPlanned}, Request: model.Request{System: "x"}}.Run(t.Context(), tool.Context{}, []model.Message{model.Text(model.User, "go")})
	if used = alone.Usage; err != nil || out.Usage.InputTokens < 3*used.InputTokens {
		t.Errorf("the run used %+v, one answer uses %+v: the subagents' is missing", out.Usage, used)
	}
}

// TestASubagentCostsWhatItsModelCosts: each call is priced by the model that was asked; where one has no price, neither has the turn.
func TestASubagentCostsWhatItsModelCosts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		prices money.Prices
		want   string
	}{
		{"both known", money.Prices{"large": {Input: 10}, "small": {Input: 1}}, "$0.00021"},
		{"the subagent's is not known", money.Prices{"large": {Input: 10}}, "not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newScript(t, append(calls("helper"+ask), used(10, 0)), append(says(model.EndTurn, "done"), used(10, 0)), append(says(model.EndTurn, "so it is"), used(10, 0)))
			out, err := loop.Runner{
				Model: loop.Meter{Model: m, ID: "large", Prices: tt.prices}, Tools: []tool.Tool{loop.Subagent{Name: "helper", Description: "Helps.", ModelID: "small"}},
			}.Run(t.Context(), tool.Context{}, []model.Message{model.Text(model.User, "go")})
			got := "not known"
			if cost := out.Usage.CostUSD(); cost != nil {
				got = money.Dollars(*cost).String()
			}
			if err != nil || got != tt.want || out.Usage.InputTokens != 30 {
				t.Errorf("cost %s for %+v, %v, want %s", got, out.Usage, err, tt.want)
			}
		})
	}
}

func TestSubagentsHaveLimits(t *testing.T) {
	leaf := func(name, instructions string, tools ...tool.Tool) loop.Subagent {
		return loop.Subagent{Name: name, Description: "Helps.", Instructions: instructions, Tools: tools}
	}
	deep := leaf("d", "")
	for _, name := range []string{"c", "b", "a"} {
		deep = leaf(name, deep.Name+ask, deep)
	}
	many := "a" + ask + strings.Repeat("\na"+ask, loop.MaxSubagents)
	tests := []struct{ name, instructions, want string }{
		{"deep", "a" + ask, "subagents may be 3 deep"},
		{"itself", "self" + ask, "the subagent self may not start itself"},
		{"many", many, "a turn may start 32 subagents"},
	}
	tools := []tool.Tool{deep, leaf("self", "self"+ask, leaf("self", "never"))}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "many" {
				tools = []tool.Tool{leaf("a", "")}
			}
			m := &fake.Model{Answer: asPlanned}
			_, err := loop.Runner{Model: m, Request: model.Request{System: tt.instructions}, Tools: tools}.Run(t.Context(), tool.Context{}, []model.Message{model.Text(model.User, "go")})
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for _, req := range m.Requests() {
				for _, r := range req.Messages[len(req.Messages)-1].Results() {
					if r.Status == model.Failure && strings.Contains(r.Content[0].Text, tt.want) {
						refused++
					}
				}
			}
			if refused != 1 {
				t.Errorf("%q was answered %d times, want once", tt.want, refused)
			}
		})
	}
}

func TestASubagentEndsWithItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		slow := tool.New("slow", "Waits.", func(ctx tool.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		helper := loop.Subagent{Name: "helper", Description: "Helps.", Instructions: "slow {}", Tools: []tool.Tool{slow}}
		var told []string
		go func() {
			time.Sleep(time.Minute)
			stop(stopped)
		}()
		_, err := loop.Runner{
			Model: &fake.Model{Answer: asPlanned}, Request: model.Request{System: "helper" + ask}, Tools: []tool.Tool{helper}, Watch: trail(&told),
		}.Run(ctx, tool.Context{}, []model.Message{model.Text(model.User, "go")})
		if !errors.Is(err, stopped) || len(told) != 2 {
			t.Errorf("Run = %v, told %q", err, told)
		}
	})
}

// TestWhoCallsWhatMustNotRunTwice must not run twice itself, and outside of a run there is nothing to run on.
func TestWhoCallsWhatMustNotRunTwice(t *testing.T) {
	once := tool.Once(tool.New("pay", "Pays.", func(tool.Context, struct{}) (string, error) { return "", nil }))
	if (loop.Subagent{Name: "a", Description: "Helps."}).Spec().Once || !(loop.Subagent{Name: "a", Description: "Helps.", Tools: []tool.Tool{once}}).Spec().Once {
		t.Error("Once is not that of its tools")
	}
	_, err := loop.Subagent{Name: "a", Description: "Helps."}.Call(tool.Context{Context: t.Context()}, json.RawMessage(`{"request":"x"}`))
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("Call = %v", err)
	}
}

// TestASubagentNeedsAModel: where a program calls it and no model is asked, it says what is missing.
func TestASubagentNeedsAModel(t *testing.T) {
	reader := loop.Subagent{Name: "reader", Description: "Reads."}
	result, _, err := loop.Runner{Tools: []tool.Tool{reader}}.Do(t.Context(), tool.Context{Context: t.Context()}, nil, model.ToolUse{
		ID: "c1", Name: "reader", Input: json.RawMessage(`{"request":"read it"}`),
	})
	if err != nil || result.Status != model.Failure || !strings.Contains(result.Content[0].Text, "reader is an agent and needs a model") {
		t.Errorf("Do = %+v, %v", result, err)
	}
}
