package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// State is what decides how a run goes on. History ends with a message of the user, with results of tools, or with a reply.
type State struct {
	History []model.Message
	Stop    model.StopReason // why the model stopped, if History ends with a reply just received; empty for one from the store
	Spent   Spent
}

// Spent is what a turn has used so far.
type Spent struct {
	Steps int // model calls that count
	Usage model.Usage
}

// tokens is the sum that Limits.Tokens bounds.
func (s Spent) tokens() int {
	u := s.Usage
	return model.Usage{InputTokens: u.InputTokens}.Add(model.Usage{InputTokens: u.OutputTokens}).
		Add(model.Usage{InputTokens: u.CacheReadTokens}).Add(model.Usage{InputTokens: u.CacheWriteTokens}).InputTokens
}

// Action is what a run does next.
type Action string

// The actions.
const (
	Ask      Action = "ask"       // call the model with the history
	RunTools Action = "run_tools" // run Calls, then decide again
	Finish   Action = "finish"    // the turn ends with Final
	Fail     Action = "fail"      // Err; a retryable one fails only the attempt
)

// Decision is what Next decides.
type Decision struct {
	Action Action
	Calls  []model.ToolUse  // RunTools: the calls without a result, in the order requested
	Final  model.Message    // Finish: the message that ends the turn; never one with calls
	Stop   model.StopReason // Finish: the model's reason; empty if a limit of the run ended it before another call
	Limit  string           // Finish: the limit that cut the turn short, or ""
	Err    error            // Fail
}

// The limits that Decision and Outcome name.
const (
	LimitSteps     = "steps"
	LimitTokens    = "tokens"
	LimitMaxTokens = string(model.StopMaxTokens)
)

// Texts that stand in for an answer where there is none.
const (
	BlockedText = "The answer was withheld by a content filter."
	CutText     = "The answer was cut off: the output limit was reached before there was any text."
)

// Next decides how the run goes on. It only looks: the same state gives the same decision.
//
// A reply with complete calls has them run, whatever its stop reason says, unless it was cut (max_tokens: no call runs, the
// text stays), blocked (the text goes too) or unusable. Calls without a result are resumed only if nothing but results
// came after them; a history in which the user has spoken since asks the model, which is told that they were interrupted.
func Next(s State, l Limits) Decision {
	if len(s.History) == 0 {
		return Decision{Action: Fail, Err: fault.New(fault.Invalid, "the history is empty: there is nothing to answer")}
	}
	last := s.History[len(s.History)-1]
	if last.Role == model.Assistant && s.Stop != "" {
		return afterReply(model.Reply{Message: last, Stop: s.Stop})
	}
	if calls := unanswered(s.History); len(calls) > 0 {
		return Decision{Action: RunTools, Calls: calls}
	}
	if last.Role == model.Assistant {
		return Decision{Action: Finish, Final: last, Stop: model.EndTurn}
	}
	return mayAsk(s.Spent, l.filled())
}

func mayAsk(spent Spent, l Limits) Decision {
	switch {
	case spent.Steps >= l.Steps:
		return limited(LimitSteps, "Stopped before the work was finished: the limit of %d steps is reached.", l.Steps)
	case l.Tokens > 0 && spent.tokens() >= l.Tokens:
		return limited(LimitTokens, "Stopped before the work was finished: the limit of %d tokens is reached.", l.Tokens)
	}
	return Decision{Action: Ask}
}

func limited(limit, format string, n int) Decision {
	return Decision{Action: Finish, Limit: limit, Final: model.Text(model.Assistant, fmt.Sprintf(format, n))}
}

func afterReply(reply model.Reply) Decision {
	if err := verdict(reply); err != nil {
		return Decision{Action: Fail, Err: err}
	}
	calls := reply.Message.Calls()
	switch {
	case reply.Stop == model.StopGuardrail, reply.Stop == model.StopFiltered:
		return Decision{Action: Finish, Final: model.Text(model.Assistant, BlockedText), Stop: reply.Stop}
	case reply.Stop == model.StopMaxTokens:
		return Decision{Action: Finish, Final: withoutCalls(reply.Message), Stop: reply.Stop, Limit: LimitMaxTokens}
	case len(calls) > 0:
		return Decision{Action: RunTools, Calls: calls}
	}
	return Decision{Action: Finish, Final: reply.Message, Stop: reply.Stop}
}

// verdict gives the reason why a whole reply cannot be used, or nil. fault.Unavailable: another attempt may do better.
func verdict(reply model.Reply) error {
	switch reply.Stop {
	case model.EndTurn, model.StopSequence, model.StopMaxTokens, model.StopGuardrail, model.StopFiltered:
		return nil
	case model.StopToolUse:
		if len(reply.Message.Calls()) > 0 || strings.TrimSpace(reply.Message.PlainText()) != "" {
			return nil
		}
		return fault.New(fault.Unavailable, "the model announced a tool call and made none").Because("model_output")
	case model.StopContextFull:
		return fault.New(fault.Limit, "the conversation is too long for the model").Because("context_full")
	}
	return fault.New(fault.Unavailable, "the model stopped with %q: its reply cannot be used", reply.Stop).Because("model_output")
}

// withoutCalls drops the calls of a reply that was cut. Text that is left stays as it is.
func withoutCalls(m model.Message) model.Message {
	m.Content = slices.DeleteFunc(slices.Clone(m.Content), func(b model.Block) bool { return b.ToolUse != nil })
	if strings.TrimSpace(m.PlainText()) == "" {
		m.Content = append(m.Content, model.Block{Text: CutText})
	}
	return m
}

// unanswered gives the calls at the end of history that wait for a result and may be resumed.
func unanswered(history []model.Message) []model.ToolUse {
	answered := make(map[string]bool)
	onlyResults := true
	for _, m := range slices.Backward(history) {
		if m.Role == model.Assistant {
			missing := slices.DeleteFunc(m.Calls(), func(c model.ToolUse) bool { return answered[c.ID] })
			if !onlyResults {
				return nil
			}
			return missing
		}
		for _, b := range m.Content {
			if b.ToolResult == nil {
				onlyResults = false
			} else {
				answered[b.ToolResult.ID] = true
			}
		}
	}
	return nil
}

// endsWithResults reports whether the model is about to see results of tools.
func endsWithResults(history []model.Message) bool {
	for _, m := range slices.Backward(history) {
		if m.Role == model.Assistant {
			return false
		}
		if len(m.Results()) > 0 {
			return true
		}
	}
	return false
}
