package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// oneShot is one question to a model, without session and stack.
type oneShot struct {
	Input       string        `arg:"" help:"What to ask; - reads it from stdin."`
	Schema      string        `help:"JSON schema that the answer must fit; the answer is then printed as JSON." placeholder:"FILE"`
	Model       string        `help:"Which model: an id for steadfast dev (the default, with its model), offline, openai:<base-url>#<name>, bedrock:<id>." placeholder:"SPEC"`
	System      string        `help:"The system prompt." placeholder:"TEXT"`
	Tool        []string      `help:"A built-in tool that the model may call; may be repeated." placeholder:"NAME"`
	MaxSteps    int           `help:"Model calls at most." default:"25" placeholder:"N"`
	MaxTokens   int           `help:"Tokens of each reply at most." placeholder:"N"`
	Temperature *float64      `help:"From 0 to 1." placeholder:"N"`
	Timeout     time.Duration `help:"Of the whole run." default:"10m" placeholder:"DURATION"`
}

// ran is a run as --json prints it.
type ran struct {
	Output     json.RawMessage  `json:"output"`
	Structured bool             `json:"structured"`
	StopReason model.StopReason `json:"stopReason,omitempty"`
	Limit      string           `json:"limit,omitempty"`
	Steps      int              `json:"steps"`
	Usage      model.Usage      `json:"usage"`
	CostUSD    *float64         `json:"costUsd,omitempty"`
}

// Run implements the command.
func (o oneShot) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	once, err := o.once(ctx, s)
	if err != nil {
		return err
	}
	asked, stop, err := o.open(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	once.Model, once.Principal = o.priced(asked), task.User(c.who())
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if once.Schema == nil {
		return o.text(ctx, s, once)
	}
	res, err := loop.RunInto[json.RawMessage](ctx, once)
	out := ran{Output: res.Output, Structured: res.Structured, StopReason: res.StopReason, Limit: res.Limit, Steps: res.Steps, Usage: res.Usage, CostUSD: res.CostUSD}
	if err != nil {
		s.note("[%s%s]", spent(out.Usage, out.Steps), cost(out.CostUSD))
		return o.explain(ctx, err)
	}
	return s.ran(out, indented(res.Output))
}

// text answers in words.
func (o oneShot) text(ctx context.Context, s *surroundings, once loop.Once) error {
	res, err := loop.Run(ctx, once)
	if err != nil {
		return o.explain(ctx, err)
	}
	quoted, err := json.Marshal(res.Output)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	out := ran{Output: quoted, StopReason: res.StopReason, Limit: res.Limit, Steps: res.Steps, Usage: res.Usage, CostUSD: res.CostUSD}
	if res.Limit != "" {
		s.note("[cut short by the limit of %s]", res.Limit)
	}
	return s.ran(out, res.Output)
}

// explain says which limit of the command itself ended a run, or what the model's service said.
func (o oneShot) explain(ctx context.Context, err error) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return &client.Error{Code: string(fault.Unavailable), Message: fmt.Sprintf("no answer within %s (--timeout)", o.Timeout)}
	}
	var said smithy.APIError
	if errors.As(err, &said) {
		return &client.Error{Code: string(fault.CodeOf(err)), Message: fmt.Sprintf("the model did not answer: %s: %s", said.ErrorCode(), said.ErrorMessage())}
	}
	return err
}

// once is the run that the flags describe, but for its model.
func (o oneShot) once(ctx context.Context, s *surroundings) (once loop.Once, err error) {
	input, err := s.message(ctx, o.Input)
	if err != nil {
		return once, err
	}
	if o.MaxSteps < 1 {
		return once, &client.Error{Code: string(fault.Invalid), Message: "--max-steps must be at least 1"}
	}
	once = loop.Once{
		Input: input, SystemPrompt: o.System, MaxIterations: o.MaxSteps, MaxTokens: o.MaxTokens, Temperature: o.Temperature,
	}
	if once.Tools, err = s.tools(o.Tool); err != nil || o.Schema == "" {
		return once, err
	}
	once.Schema, err = readSchema(o.Schema)
	return once, err
}

// readSchema reads a JSON schema that a run can use.
func readSchema(path string) (*jsonschema.Schema, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("%s is no JSON schema: %v", path, err)}
	}
	if _, err := tool.ShapeFrom(&schema); err != nil {
		return nil, &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("%s: %v", path, err)}
	}
	return &schema, nil
}

// tools are the built-in tools of the names, told of when they ran.
func (s *surroundings) tools(names []string) ([]tool.Tool, error) {
	builtin := tool.Builtin()
	found, unknown := builtin.Pick(names...)
	if len(unknown) > 0 {
		return nil, &client.Error{Code: string(fault.Invalid),
			Message: fmt.Sprintf("there is no built-in tool %s: %s are", strings.Join(unknown, ", "), strings.Join(builtin.Names(), ", "))}
	}
	for i, t := range found {
		found[i] = tool.Audit(t, func(r tool.Record) {
			how := r.Took.Round(time.Millisecond).String()
			if r.Code != "" {
				how = "failed: " + string(r.Code)
			}
			s.note("[%s, %s]", r.Tool, how)
		})
	}
	return found, nil
}

// ran prints a run: its answer alone for people, with what it used on stderr.
func (s *surroundings) ran(out ran, answer string) error {
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	s.print(raw, "%s", answer)
	s.note("[%s%s]", spent(out.Usage, out.Steps), cost(out.CostUSD))
	return nil
}

// spent is what a run used, in words.
func spent(u model.Usage, steps int) string {
	return fmt.Sprintf("%d %s, %s", steps, plural(steps, "step"), tokens(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens))
}

// cost writes what a usage cost, where that is known.
func cost(dollars *float64) string {
	if dollars == nil {
		return ", price not known"
	}
	return ", " + money.Dollars(*dollars).String()
}

// tokens writes figures of a usage; those of a cache only where there are some.
func tokens(in, out, read, written int) string {
	text := fmt.Sprintf("%d tokens in, %d out", in, out)
	if read+written > 0 {
		text += fmt.Sprintf(", cache: %d read, %d written", read, written)
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
