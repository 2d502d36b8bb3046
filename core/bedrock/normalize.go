package bedrock

import (
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// normalizer turns the service's events into the model's. It is the one place bound to the SDK's event types. Blocks
// are numbered anew from 0, in the order in which they come; what is unknown is logged and left out, with all that
// belongs to it.
type normalizer struct {
	log        *slog.Logger
	emit       func(model.Event, error) bool
	blocks     map[int32]int  // the service's block numbers to ours
	ignored    map[int32]bool // blocks of a kind we do not know
	calls      map[int32]bool // blocks that are tool calls
	stopped    bool           // messageStop was seen
	intervened bool           // its reason is a guardrail, and what that did is not known yet
	failed     error          // a stop reason that is a failure
	left       bool           // the reader wants no more
}

func (n *normalizer) take(e types.ConverseStreamOutput) {
	switch e := e.(type) {
	case *types.ConverseStreamOutputMemberMessageStart:
	case *types.ConverseStreamOutputMemberContentBlockStart:
		n.start(number(e.Value.ContentBlockIndex), e.Value.Start)
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		n.delta(number(e.Value.ContentBlockIndex), e.Value.Delta)
	case *types.ConverseStreamOutputMemberContentBlockStop:
		n.blockStop(number(e.Value.ContentBlockIndex))
	case *types.ConverseStreamOutputMemberMessageStop:
		n.stop(e.Value.StopReason)
	case *types.ConverseStreamOutputMemberMetadata:
		if t := e.Value.Trace; t != nil {
			n.assessed(t.Guardrail)
		}
		n.usage(e.Value.Usage)
	case *types.UnknownUnionMember:
		n.unknown("event", e.Tag)
	default:
		n.unknown("event", fmt.Sprintf("%T", e))
	}
}

// end closes the answer: with err, the failed stop reason, or a cut if no end was seen. A failure that comes after a
// good end changes nothing: the answer is whole.
func (n *normalizer) end(err error) {
	n.assessed(nil)
	switch {
	case n.failed != nil:
		n.emit(nil, n.failed)
	case n.stopped:
		if err != nil {
			n.log.Warn("the stream failed after the answer was whole", "error", err)
		}
	case err != nil:
		n.emit(nil, err)
	default:
		n.emit(nil, fault.New(fault.Unavailable, "the model's answer was cut off").Because("stream_cut"))
	}
}

func (n *normalizer) send(e model.Event) {
	if !n.left && !n.emit(e, nil) {
		n.left = true
	}
}

// block gives our number of a block of the service.
func (n *normalizer) block(index int32) int {
	if n.blocks == nil {
		n.blocks = map[int32]int{}
	}
	if _, known := n.blocks[index]; !known {
		n.blocks[index] = len(n.blocks)
	}
	return n.blocks[index]
}

func (n *normalizer) start(index int32, start types.ContentBlockStart) {
	call, ok := start.(*types.ContentBlockStartMemberToolUse)
	if !ok || call.Value.Type == types.ToolUseTypeServerToolUse { // what the service runs itself is not for us to run
		n.ignore(index, fmt.Sprintf("%T", start))
		return
	}
	if n.calls == nil {
		n.calls = map[int32]bool{}
	}
	n.calls[index] = true
	n.send(model.ToolStart{Block: n.block(index), ID: text(call.Value.ToolUseId), Name: text(call.Value.Name)})
}

func (n *normalizer) ignore(index int32, kind string) {
	if n.ignored == nil {
		n.ignored = map[int32]bool{}
	}
	n.ignored[index] = true
	n.unknown("content block", kind)
}

func (n *normalizer) delta(index int32, delta types.ContentBlockDelta) {
	if n.ignored[index] || n.stopped {
		return
	}
	switch d := delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		if d.Value != "" {
			n.send(model.TextDelta{Block: n.block(index), Text: d.Value})
		}
	case *types.ContentBlockDeltaMemberToolUse:
		if !n.calls[index] {
			n.unknown("input of a call that never began, block", fmt.Sprint(index))
		} else if input := text(d.Value.Input); input != "" {
			n.send(model.ToolInput{Block: n.block(index), JSON: input})
		}
	case *types.ContentBlockDeltaMemberReasoningContent:
		n.reasoning(index, d.Value)
	default:
		n.unknown("content", fmt.Sprintf("%T", delta))
	}
}

func (n *normalizer) reasoning(index int32, delta types.ReasoningContentBlockDelta) {
	var e model.ReasoningDelta
	switch d := delta.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		e.Text = d.Value
	case *types.ReasoningContentBlockDeltaMemberSignature:
		e.Signature = d.Value
	case *types.ReasoningContentBlockDeltaMemberRedactedContent:
		e.Redacted = d.Value
	default:
		n.unknown("reasoning", fmt.Sprintf("%T", delta))
		return
	}
	e.Block = n.block(index)
	n.send(e)
}

func (n *normalizer) blockStop(index int32) {
	if _, known := n.blocks[index]; known && !n.stopped {
		n.send(model.BlockStop{Block: n.blocks[index]})
	}
}

func (n *normalizer) stop(reason types.StopReason) {
	if n.stopped {
		return
	}
	n.stopped, n.intervened = true, reason == types.StopReasonGuardrailIntervened
	if n.failed = badStop(reason); n.failed == nil && !n.intervened {
		n.send(model.Stop{Reason: model.StopReason(reason)})
	}
}

func (n *normalizer) usage(u *types.TokenUsage) {
	if n.assessed(nil); u != nil {
		n.send(model.UsageReport{Usage: model.Usage{
			InputTokens: count(u.InputTokens), OutputTokens: count(u.OutputTokens),
			CacheReadTokens: count(u.CacheReadInputTokens), CacheWriteTokens: count(u.CacheWriteInputTokens),
		}})
	}
}

func (n *normalizer) unknown(what, kind string) {
	n.log.Warn("the model sent something unknown, which is left out", "what", what, "kind", kind)
}

// badStop gives the failure that a stop reason is, nil for an end.
func badStop(reason types.StopReason) error {
	switch reason {
	case types.StopReasonEndTurn, types.StopReasonToolUse, types.StopReasonMaxTokens, types.StopReasonStopSequence,
		types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, types.StopReasonModelContextWindowExceeded:
		return nil
	case types.StopReasonMalformedModelOutput, types.StopReasonMalformedToolUse:
		return fault.New(fault.Unavailable, "the model's answer could not be read (%s)", reason).Because("malformed_output")
	}
	return fault.New(fault.Internal, "the model stopped for a reason nobody knows: %q", reason).Because("unknown_stop")
}

func number(index *int32) int32 {
	if index == nil {
		return 0
	}
	return *index
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func count(tokens *int32) int {
	if tokens == nil {
		return 0
	}
	return max(0, int(*tokens))
}
