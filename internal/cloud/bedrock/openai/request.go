package openai

import (
	"encoding/json"
	"math"

	"github.com/sashabaranov/go-openai"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// write writes a request as a chat completion.
func (b *Bridge) write(req bedrock.Request) (openai.ChatCompletionRequest, error) {
	out := openai.ChatCompletionRequest{Model: b.model, StreamOptions: &openai.StreamOptions{IncludeUsage: true}}
	if text := joined(req.System); text != "" {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: text})
	}
	for _, m := range req.Messages {
		written, err := messages(m)
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, written...)
	}
	b.limits(&out, req.Inference)
	return out, offer(&out, req)
}

// limits sets what the server takes of the sampling limits.
func (b *Bridge) limits(out *openai.ChatCompletionRequest, in bedrock.Inference) {
	if in.MaxTokens != nil {
		// Most servers know max_tokens alone; those that do not, refuse it and mean the other.
		if b.takes("max_tokens") {
			out.MaxTokens = *in.MaxTokens //lint:ignore SA1019 it is the name that other servers know
		} else {
			out.MaxCompletionTokens = *in.MaxTokens
		}
	}
	if in.Temperature != nil && b.takes("temperature") {
		out.Temperature = sampling(*in.Temperature)
	}
	if in.TopP != nil && b.takes("top_p") {
		out.TopP = sampling(*in.TopP)
	}
	if b.takes("stop") {
		out.Stop = in.StopSequences
	}
}

// sampling is v, or for zero, which the library would not send, as good as zero.
func sampling(v float64) float32 { return max(float32(v), math.SmallestNonzeroFloat32) }

// offer sets the tools and whether one must be called.
func offer(out *openai.ChatCompletionRequest, req bedrock.Request) error {
	for _, s := range req.Specs() {
		var schema map[string]json.RawMessage
		if err := json.Unmarshal(s.InputSchema.JSON, &schema); err != nil {
			return invalid("the schema of tool " + s.Name + " is not a JSON object")
		}
		f := &openai.FunctionDefinition{Name: s.Name, Parameters: s.InputSchema.JSON}
		if s.Description != nil {
			f.Description = *s.Description
		}
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: f})
	}
	if req.Tools == nil || req.Tools.Choice == nil {
		return nil
	}
	switch c := req.Tools.Choice; {
	case c.Tool != nil:
		out.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: c.Tool.Name}}
	case c.Any != nil:
		out.ToolChoice = "required"
	default:
		out.ToolChoice = "auto"
	}
	return nil
}

func invalid(message string) error {
	return &bedrock.Error{Type: "ValidationException", Message: message}
}
