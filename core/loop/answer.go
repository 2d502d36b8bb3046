package loop

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// answerTool takes the answer of a run. A nil one is that of a run whose answer is text.
type answerTool struct {
	shape tool.Shape
	take  func(raw json.RawMessage) error // keeps an answer that fits

	mu    sync.Mutex
	wrong []tool.Problem // of the last call
	calls int
	valid bool

	last []tool.Problem // of the attempt before
}

// Spec describes the tool.
func (a *answerTool) Spec() tool.Spec {
	return tool.Spec{
		Name: AnswerTool, Schema: a.shape.Schema(),
		Description: "Gives the final answer. Call it once, when everything else is done: only what it is called with counts as the answer.",
	}
}

// Call takes the answer, or tells the model what is wrong with it. Of several valid calls in one reply the first to come counts.
func (a *answerTool) Call(_ tool.Context, input json.RawMessage) (any, error) {
	wrong := a.check(input)
	a.mu.Lock()
	a.calls++
	a.mu.Unlock()
	if len(wrong) == 0 {
		return "The answer is taken.", nil
	}
	return nil, fault.New(fault.Invalid, "%s", refusal(wrong)).Because("tool_input")
}

// check judges an answer and keeps it if it fits.
func (a *answerTool) check(raw json.RawMessage) []tool.Problem {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.valid {
		return nil
	}
	clean, wrong := a.shape.Check(raw)
	if len(wrong) == 0 {
		if err := a.take(clean); err != nil {
			wrong = []tool.Problem{tool.Misfit(err)}
		}
	}
	a.wrong, a.valid = wrong, len(wrong) == 0
	return wrong
}

func (a *answerTool) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls, a.wrong, a.valid = 0, nil, false
}

// called reports whether the model has answered by a call.
func (a *answerTool) called() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls > 0
}

// counts reports whether a failed model call counts as an answer: it was one, broken.
func (a *answerTool) counts(err error) bool {
	if a == nil || err == nil {
		return false
	}
	switch fault.ReasonOf(err) {
	case "malformed_call", "malformed_output", "model_output":
		return true
	}
	return false
}

// judge gives what is wrong with the answer that out or err is. ended: it is none, and no other will come.
func (a *answerTool) judge(out Outcome, err error) (wrong []tool.Problem, ended bool) {
	switch {
	case err != nil:
		return []tool.Problem{{Text: "cut off or no valid JSON"}}, false
	case a.called():
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.wrong, false
	case out.Stop == model.StopGuardrail, out.Stop == model.StopFiltered, out.Limit == LimitSteps, out.Limit == LimitTokens:
		return nil, true
	case out.Limit == LimitMaxTokens:
		return []tool.Problem{{Text: "cut off at the limit of output tokens: it has to be shorter"}}, false
	}
	text := out.Final.PlainText()
	raw, found := jsonIn(text)
	if !found {
		return []tool.Problem{{Text: "text, and no call of " + AnswerTool}}, false
	}
	return a.check(raw), false
}

// jsonIn gives the JSON that a text consists of, bare or in a fence.
func jsonIn(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner, closed := strings.CutSuffix(inner, "```")
		_, body, split := strings.Cut(inner, "\n")
		if !closed || !split {
			return nil, false
		}
		text = strings.TrimSpace(body)
	}
	return json.RawMessage(text), json.Valid([]byte(text))
}
