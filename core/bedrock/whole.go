package bedrock

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// whole asks with Converse and yields the answer as events.
func (m Model) whole(ctx context.Context, in *bedrockruntime.ConverseStreamInput, yield func(model.Event, error) bool) {
	out, err := m.Client.Converse(ctx, forConverse(in), careful)
	if err != nil {
		yield(nil, failure(ctx, *in.ModelId, err))
		return
	}
	n := &normalizer{log: m.log().With("model", *in.ModelId), emit: yield}
	answer, ok := out.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		n.end(fault.New(fault.Unavailable, "the model service gave no message").Because("service_error"))
		return
	}
	for i, b := range known(answer.Value.Content, n) {
		if err := n.content(int32(i), b); err != nil {
			n.end(failure(ctx, *in.ModelId, err))
			return
		}
	}
	n.stop(out.StopReason)
	if out.Trace != nil {
		n.assessed(out.Trace.Guardrail)
	}
	n.usage(out.Usage)
	if !n.left {
		n.end(nil)
	}
}

// known leaves out the blocks of unknown kinds. The SDK decodes such a block as nothing when it is the first, else as
// the very block that came before it.
func known(blocks []types.ContentBlock, n *normalizer) []types.ContentBlock {
	var kept []types.ContentBlock
	for i, b := range blocks {
		if b == nil || i > 0 && b == blocks[i-1] {
			n.unknown("content block", fmt.Sprintf("number %d", i))
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// content hands one whole block on as the events of a stream.
func (n *normalizer) content(index int32, b types.ContentBlock) error {
	switch b := b.(type) {
	case *types.ContentBlockMemberText:
		n.delta(index, &types.ContentBlockDeltaMemberText{Value: b.Value})
	case *types.ContentBlockMemberToolUse:
		n.start(index, &types.ContentBlockStartMemberToolUse{Value: types.ToolUseBlockStart{ToolUseId: b.Value.ToolUseId, Name: b.Value.Name, Type: b.Value.Type}})
		input, err := inputOf(b.Value)
		if err != nil {
			return err
		}
		n.delta(index, &types.ContentBlockDeltaMemberToolUse{Value: types.ToolUseBlockDelta{Input: &input}})
	case *types.ContentBlockMemberReasoningContent:
		n.wholeReasoning(index, b.Value)
	default:
		n.ignore(index, fmt.Sprintf("%T", b))
	}
	n.blockStop(index)
	return nil
}

func (n *normalizer) wholeReasoning(index int32, r types.ReasoningContentBlock) {
	switch r := r.(type) {
	case *types.ReasoningContentBlockMemberReasoningText:
		n.send(model.ReasoningDelta{Block: n.block(index), Text: text(r.Value.Text), Signature: text(r.Value.Signature)})
	case *types.ReasoningContentBlockMemberRedactedContent:
		n.send(model.ReasoningDelta{Block: n.block(index), Redacted: r.Value})
	default:
		n.ignore(index, fmt.Sprintf("%T", r))
	}
}

// inputOf gives the JSON of a call's input. It is marshalled by the document itself: decoded into Go values, its numbers
// would come out as text.
func inputOf(call types.ToolUseBlock) (string, error) {
	if call.Input == nil {
		return "", nil
	}
	raw, err := call.Input.MarshalSmithyDocument()
	if err != nil {
		return "", fmt.Errorf("input of call %s: %w", text(call.ToolUseId), err)
	}
	if !json.Valid(raw) {
		return "", fmt.Errorf("input of call %s is no JSON", text(call.ToolUseId))
	}
	return string(raw), nil
}
