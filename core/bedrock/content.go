package bedrock

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/model"
)

// messages puts built messages into the service's types.
func messages(history []model.Message, p points) []types.Message {
	out := make([]types.Message, len(history))
	for i, m := range history {
		out[i] = types.Message{Role: types.ConversationRole(m.Role), Content: make([]types.ContentBlock, 0, len(m.Content)+1)}
		for j, b := range m.Content {
			if block := content(b); block != nil {
				out[i].Content = append(out[i].Content, block)
			}
			if p.after[place{i, j}] {
				out[i].Content = append(out[i].Content, &types.ContentBlockMemberCachePoint{Value: cachePoint()})
			}
		}
	}
	return out
}

// content gives the service's block; nil for a cache point, whose place is planned apart.
func content(b model.Block) types.ContentBlock {
	switch {
	case b.ToolUse != nil:
		u := *b.ToolUse
		return &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{ToolUseId: &u.ID, Name: &u.Name, Input: documentOf(u.Input)}}
	case b.ToolResult != nil:
		return &types.ContentBlockMemberToolResult{Value: result(*b.ToolResult)}
	case b.Reasoning != nil:
		return &types.ContentBlockMemberReasoningContent{Value: reasoning(*b.Reasoning)}
	case b.CachePoint:
		return nil
	}
	return &types.ContentBlockMemberText{Value: b.Text}
}

func result(r model.ToolResult) types.ToolResultBlock {
	block := types.ToolResultBlock{ToolUseId: &r.ID, Status: types.ToolResultStatus(r.Status)}
	for _, p := range r.Content {
		if p.JSON != nil {
			block.Content = append(block.Content, &types.ToolResultContentBlockMemberJson{Value: documentOf(p.JSON)})
			continue
		}
		block.Content = append(block.Content, &types.ToolResultContentBlockMemberText{Value: p.Text})
	}
	return block
}

// reasoning goes back as it came: its text and signature, or its opaque bytes.
func reasoning(r model.Reasoning) types.ReasoningContentBlock {
	if len(r.Redacted) > 0 {
		return &types.ReasoningContentBlockMemberRedactedContent{Value: r.Redacted}
	}
	return &types.ReasoningContentBlockMemberReasoningText{Value: types.ReasoningTextBlock{Text: &r.Text, Signature: &r.Signature}}
}

// rawDocument is JSON that is sent byte for byte. The SDK's own documents know no raw JSON: they would send a
// json.RawMessage as a list of numbers and a json.Number as text, and they lose the digits of large numbers.
type rawDocument struct {
	document.Interface // what the SDK asks of a document's type
	raw                json.RawMessage
}

// MarshalSmithyDocument gives the JSON.
func (d rawDocument) MarshalSmithyDocument() ([]byte, error) { return d.raw, nil }

// documentOf wraps valid JSON.
func documentOf(raw json.RawMessage) document.Interface {
	return rawDocument{Interface: document.NewLazyDocument(nil), raw: raw}
}
