package loop_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

func TestOnce(t *testing.T) {
	search := fn("search", func(ctx tool.Context, x string) (any, error) {
		tenant, err := tool.State[string](ctx)
		return x + " of " + tenant + " for " + ctx.Principal.ID, err
	})
	m := newScript(t, append(calls(`search {"x":"posts"}`), used(10, 1)), append(says(model.EndTurn, "Three posts."), used(20, 2)))
	got, err := loop.Run(t.Context(), loop.Once{Model: m, Input: "How many posts?", Tools: []tool.Tool{search}, State: "acme", Principal: task.User("u1")})
	want := loop.Answer{Output: "Three posts.", StopReason: model.EndTurn, Steps: 2, State: "acme", Usage: model.Usage{InputTokens: 30, OutputTokens: 3}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Run = %v (-want +got):\n%s", err, diff)
	}
	if got, want := m.asked(1)[2], `user: c1:"posts of acme for u1"`; got != want {
		t.Errorf("the tool's result is %s, want %s", got, want)
	}
	if req := m.Requests()[0]; req.System != loop.DefaultSystemPrompt || req.MaxTokens != loop.DefaultMaxTokens || *req.Temperature != loop.DefaultTemperature {
		t.Errorf("request = %+v, want the defaults", req)
	}
}

func TestOnceSettings(t *testing.T) {
	m := newScript(t, calls("work {}"))
	got, err := loop.Run(t.Context(), loop.Once{Model: m, Input: "go", SystemPrompt: "Be brief.", MaxTokens: 7, Temperature: new(0.0), MaxIterations: 1, Tools: []tool.Tool{work()}})
	if err != nil || got.Limit != loop.LimitSteps || got.StopReason != "" || got.Steps != 1 || got.Output == "" {
		t.Errorf("Run = %+v, %v, want the limit of steps", got, err)
	}
	if req := m.Requests()[0]; req.System != "Be brief." || req.MaxTokens != 7 || *req.Temperature != 0 {
		t.Errorf("request = %+v", req)
	}
}

func TestOnceBlocked(t *testing.T) {
	got, err := loop.Run(t.Context(), loop.Once{Model: newScript(t, says(model.StopGuardrail, "bad")), Input: "go"})
	if err != nil || got.StopReason != model.StopGuardrail || got.Output != loop.BlockedText {
		t.Errorf("Run = %+v, %v", got, err)
	}
}

func TestOnceFails(t *testing.T) {
	for name, once := range map[string]loop.Once{"no model": {Input: "go"}, "blank input": {Model: newScript(t), Input: " \n"}} {
		if _, err := loop.Run(t.Context(), once); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: Run = %v, want Invalid", name, err)
		}
	}
	gone := fault.New(fault.Denied, "no access")
	got, err := loop.Run(t.Context(), loop.Once{Model: newScript(t, attempt{used(3, 0), gone}), Input: "go"})
	if !errors.Is(err, gone) || got.Output != "" || got.Usage.InputTokens != 3 {
		t.Errorf("Run = %+v, %v, want %v and what was used", got, err, gone)
	}
}

// inclined is a model with defaults of its own.
type inclined struct {
	*fixed
	tokens      int
	temperature *float64
}

func (i inclined) Defaults() (int, *float64) { return i.tokens, i.temperature }

// TestDefaults: the run's own settings count before the model's, those before the package's, under a meter too.
func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		name        string
		model       inclined
		once        loop.Once
		tokens      int
		temperature float64
	}{
		{"the package's", inclined{}, loop.Once{}, loop.DefaultMaxTokens, loop.DefaultTemperature},
		{"the model's", inclined{tokens: 9000, temperature: new(0.0)}, loop.Once{}, 9000, 0},
		{"the run's", inclined{tokens: 9000, temperature: new(0.0)}, loop.Once{MaxTokens: 5, Temperature: new(0.3)}, 5, 0.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.model.fixed = &fixed{say: []model.Event{model.TextDelta{Text: "yes"}, model.Stop{Reason: model.EndTurn}}}
			for _, asked := range []loop.Model{tt.model, loop.Meter{Model: tt.model}} {
				tt.once.Model, tt.once.Input = asked, "well?"
				if _, err := loop.Run(t.Context(), tt.once); err != nil {
					t.Fatal(err)
				}
				if got := tt.model.last; got.MaxTokens != tt.tokens || *got.Temperature != tt.temperature {
					t.Errorf("asked with %d tokens at %v, want %d at %v", got.MaxTokens, *got.Temperature, tt.tokens, tt.temperature)
				}
			}
		})
	}
}
