package loop

import (
	"context"
	"log/slog"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Once is one question to a model with tools: nothing is stored and nothing is streamed. Model and Input are required.
type Once struct {
	Model         Model
	Input         string
	SystemPrompt  string // default DefaultSystemPrompt
	Tools         []tool.Tool
	MaxIterations int            // model calls; 0: 25, at least 1
	MaxTokens     int            // of each reply; default the model's own if it is Defaulted, else DefaultMaxTokens
	Temperature   *float64       // default as that of MaxTokens, DefaultTemperature; new(0.0) is a real zero
	State         any            // trusted values for the tools, read with tool.State; the model never sees them
	Principal     task.Principal // who the tools act for
	Log           *slog.Logger   // nil: discard

	// Schema is what the answer of RunInto must fit, instead of the schema of its type. Run does not look at it.
	Schema *jsonschema.Schema
}

// Result is what a one-shot run gave.
type Result[T any] struct {
	Output     T
	Structured bool             // Output fits the schema; false for text, and with an error
	StopReason model.StopReason // the model's; guardrail_intervened or content_filtered: Output is BlockedText. Empty: Limit ended it
	Limit      string           // which limit cut the run short: LimitSteps, LimitMaxTokens, or ""
	Usage      model.Usage
	CostUSD    *float64 // what Usage cost; nil where the model is not a Meter, or its price is not known
	Steps      int
	State      any // Once.State, with what the tools did to it
}

// Answer is the result of a run that answers in text.
type Answer = Result[string]

// Run asks the model, runs the tools it calls for, and gives its answer. A run that is cut short is no error: see
// Result.Limit.
//
// Faults: Invalid (no model, no input, a negative MaxIterations), Limit (the input is too long for the model), the model's own after
// three tries.
func Run(ctx context.Context, once Once) (Answer, error) {
	if err := once.check(); err != nil {
		return Answer{}, err
	}
	out, err := once.runner().Run(ctx, once.context(), once.history())
	answer := resultOf[string](once, out)
	if err != nil {
		return answer, err
	}
	answer.Output = out.Final.PlainText()
	return answer, nil
}

func (o Once) check() error {
	switch {
	case o.Model == nil || strings.TrimSpace(o.Input) == "":
		return fault.New(fault.Invalid, "a run needs a model and an input")
	case o.MaxIterations < 0:
		return fault.New(fault.Invalid, "maxIterations: must be at least 1")
	}
	return nil
}

func (o Once) context() tool.Context {
	return tool.Context{Principal: o.Principal, Log: o.Log}.WithState(o.State)
}

func (o Once) history() []model.Message { return []model.Message{model.Text(model.User, o.Input)} }

// resultOf is the outcome without its answer.
func resultOf[T any](o Once, out Outcome) Result[T] {
	return Result[T]{StopReason: out.Stop, Limit: out.Limit, Usage: out.Usage, CostUSD: out.Usage.CostUSD(), Steps: out.Steps, State: o.State}
}

func (o Once) runner() Runner {
	req := model.Request{System: o.SystemPrompt, MaxTokens: o.MaxTokens, Temperature: o.Temperature}
	if strings.TrimSpace(req.System) == "" {
		req.System = DefaultSystemPrompt
	}
	tokens, temperature := defaultsOf(o.Model)
	req.MaxTokens = or(req.MaxTokens, tokens)
	if req.Temperature == nil {
		req.Temperature = temperature
	}
	return Runner{Model: o.Model, Request: req, Tools: o.Tools, Limits: Limits{Steps: o.MaxIterations}, Log: o.Log}
}
