package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// AnswerTool is the name of the tool by which RunInto has the model answer. No other tool of the run may have it.
const AnswerTool = "final_answer"

// AnswerAttempts is how often RunInto lets the model answer.
const AnswerAttempts = 3

// StructuredOutputError says that a run came to no valid answer. Its fault code is Limit, its reason "structured_output".
type StructuredOutputError struct {
	Attempts   int              // answers that were given; fewer than AnswerAttempts if something else ended the run
	Problems   []tool.Problem   // of the last answer
	StopReason model.StopReason // why the model stopped: max_tokens, or guardrail_intervened, which no further attempt would change
	Limit      string           // the limit that ended the run, or ""
}

// Paths lists where the last answer does not fit, as "lines[2].price"; "" is the whole answer.
func (e *StructuredOutputError) Paths() []string {
	paths := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		paths[i] = p.Path
	}
	return paths
}

// Error names every problem of the last answer.
func (e *StructuredOutputError) Error() string {
	var why []string
	for _, p := range e.Problems {
		why = append(why, p.String())
	}
	if e.Limit != "" {
		why = append(why, "the limit of "+e.Limit+" is reached")
	}
	if len(why) == 0 {
		why = append(why, fmt.Sprintf("the model stopped with %s", e.StopReason))
	}
	attempts := "attempts"
	if e.Attempts == 1 {
		attempts = "attempt"
	}
	return fmt.Sprintf("no valid answer in %d %s: %s", e.Attempts, attempts, strings.Join(why, "; "))
}

// Unwrap gives the fault.
func (e *StructuredOutputError) Unwrap() error {
	return fault.New(fault.Limit, "the model gave no valid answer").Because("structured_output")
}

// RunInto is Run for an answer of type T: the model answers by calling a tool whose input has T's schema, or by text that fits it
// where the service can see to that. T's tags are those of tool.New; with Once.Schema that schema counts and T is what it is
// decoded into (json.RawMessage keeps it as it came). An answer that does not fit is shown to the model with what is wrong, at
// most AnswerAttempts answers in all; the later ones are forced. Other tools may be called before, and all calls of the model
// together are at most MaxIterations.
//
// A nil error means that Output fits. With an error the result says what was used. Faults: those of Run, Invalid (no schema can
// be made, a tool called AnswerTool), *StructuredOutputError (Limit).
func RunInto[T any](ctx context.Context, once Once) (Result[T], error) {
	if err := once.check(); err != nil {
		return Result[T]{}, err
	}
	shape, err := once.shape(tool.ShapeOf[T])
	if err != nil {
		return Result[T]{}, err
	}
	var output T
	answer := &answerTool{shape: shape, take: func(raw json.RawMessage) error {
		var fresh T
		if err := json.Unmarshal(raw, &fresh); err != nil {
			return err
		}
		output = fresh
		return nil
	}}
	out, err := once.answering(ctx, answer)
	result := resultOf[T](once, out)
	if err == nil {
		result.Output, result.Structured = output, true
	}
	return result, err
}

func (o Once) shape(infer func() (tool.Shape, error)) (tool.Shape, error) {
	if o.Schema != nil {
		return tool.ShapeFrom(o.Schema)
	}
	return infer()
}

// answering runs until answer was taken.
func (o Once) answering(ctx context.Context, answer *answerTool) (Outcome, error) {
	for _, t := range o.Tools {
		if model.ToolName(t.Spec().Name) == AnswerTool {
			return Outcome{}, fault.New(fault.Invalid, "tools: the name %s is kept for the answer", AnswerTool)
		}
	}
	runner := o.runner()
	runner.Request.AnswerTool = AnswerTool
	if len(o.Tools) == 0 {
		runner.Request.ToolChoice.Name = AnswerTool
	}
	runner.Tools = append([]tool.Tool{answer}, o.Tools...)
	run := runner.begin(o.context(), o.history())
	defer run.watcher.close()
	run.answer = answer
	out, err := run.answering(ctx)
	out.Usage, out.Steps = run.state.Spent.Usage, run.state.Spent.Steps
	return out, err
}

// answering lets the model answer until it is right or has had its attempts.
func (r *run) answering(ctx context.Context) (Outcome, error) {
	for n := 1; ; n++ {
		r.answer.reset()
		out, err := r.loop(ctx)
		if err != nil && !r.answer.counts(err) {
			return out, err
		}
		wrong, ended := r.answer.judge(out, err)
		if len(wrong) == 0 && !ended {
			return out, nil
		}
		if n == AnswerAttempts || ended {
			if ended {
				n-- // it was no answer
				wrong = r.answer.last
			}
			return out, &StructuredOutputError{Attempts: n, Problems: wrong, StopReason: out.Stop, Limit: out.Limit}
		}
		r.answer.last = wrong
		r.correct(out, err, wrong)
	}
}

// correct tells the model what was wrong, unless the result of its call does, and has it answer by the tool.
func (r *run) correct(out Outcome, err error, wrong []tool.Problem) {
	r.Request.ToolChoice.Name = AnswerTool
	if err != nil || r.answer.called() {
		return
	}
	last := len(r.state.History) - 1
	r.state.History[last], r.state.Stop = out.Final, ""
	r.state.History = append(r.state.History, model.Text(model.User, refusal(wrong)))
}

// refusal is what the model reads about an answer that was none.
func refusal(wrong []tool.Problem) string {
	var b strings.Builder
	b.WriteString("This is not a valid answer:\n")
	for _, p := range wrong {
		fmt.Fprintf(&b, "- %s\n", p)
	}
	b.WriteString("Answer again, by calling " + AnswerTool + ", with input that fits its schema.")
	return b.String()
}
