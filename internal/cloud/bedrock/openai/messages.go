package openai

import (
	"encoding/base64"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// messages writes one message: a user's tool results are messages of their own, before what the user says beside them.
func messages(m bedrock.Message) ([]openai.ChatCompletionMessage, error) {
	if m.Role == "assistant" {
		return assistant(m), nil
	}
	var out []openai.ChatCompletionMessage
	var rest []bedrock.Block
	for _, b := range m.Content {
		switch {
		case b.ToolResult != nil:
			out = append(out, openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: b.ToolResult.ID, Content: result(*b.ToolResult),
			})
		case b.Kind != "cachePoint":
			rest = append(rest, b)
		}
	}
	if len(rest) == 0 {
		return out, nil
	}
	said, err := user(rest)
	return append(out, said), err
}

// user writes what a user says: as plain text where it is no more, because some servers know nothing else.
func user(blocks []bedrock.Block) (openai.ChatCompletionMessage, error) {
	said := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser}
	if allText(blocks) {
		said.Content = joined(blocks)
		return said, nil
	}
	for _, b := range blocks {
		p, err := part(b)
		if err != nil {
			return said, err
		}
		said.MultiContent = append(said.MultiContent, p)
	}
	return said, nil
}

// assistant writes what the model said and called. Reasoning alone is nothing that can be sent.
func assistant(m bedrock.Message) []openai.ChatCompletionMessage {
	said := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: joined(m.Content)}
	for _, b := range m.Content {
		if b.ToolUse != nil {
			said.ToolCalls = append(said.ToolCalls, openai.ToolCall{
				ID: b.ToolUse.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: b.ToolUse.Name, Arguments: string(b.ToolUse.Input)},
			})
		}
	}
	if len(said.ToolCalls) == 0 && said.Content == "" {
		return nil
	}
	return []openai.ChatCompletionMessage{said}
}

// result is a tool's result as text, which is all that a tool message holds, and never nothing.
func result(r bedrock.ToolResult) string {
	var parts []string
	if r.Status == "error" {
		parts = append(parts, "The tool failed:")
	}
	for _, p := range r.Content {
		switch p.Kind {
		case "text":
			parts = append(parts, p.Text)
		case "json":
			parts = append(parts, string(p.JSON))
		default:
			parts = append(parts, "["+p.Kind+" left out]")
		}
	}
	text := strings.Join(parts, "\n")
	if text == "" {
		return "(no output)"
	}
	return text
}

// part writes one block of a user's message that is not text alone.
func part(b bedrock.Block) (openai.ChatMessagePart, error) {
	switch {
	case b.Kind == "text":
		return textPart(b.Text), nil
	case b.Kind == "image":
		url := "data:image/" + b.Media.Format + ";base64," + base64.StdEncoding.EncodeToString(b.Media.Source.Bytes)
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: url}}, nil
	case b.Kind == "document" && isText(b.Media.Format):
		return textPart(b.Media.Name + ":\n" + string(b.Media.Source.Bytes)), nil
	case b.Kind == "document":
		return openai.ChatMessagePart{}, invalid("a document of format " + b.Media.Format + " cannot be sent to this model's server")
	}
	return openai.ChatMessagePart{}, invalid("a block of kind " + b.Kind + " cannot be sent to this model's server")
}

func textPart(text string) openai.ChatMessagePart {
	return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text}
}

func isText(format string) bool {
	return format == "txt" || format == "md" || format == "csv" || format == "html"
}

func joined(blocks []bedrock.Block) string {
	var texts []string
	for _, b := range blocks {
		if b.Kind == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func allText(blocks []bedrock.Block) bool {
	for _, b := range blocks {
		if b.Kind != "text" {
			return false
		}
	}
	return true
}
