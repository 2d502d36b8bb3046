package bedrock

import (
	"fmt"
	"strings"
)

// conversation checks roles, blocks and the pairing of calls and results.
func (c checker) conversation() *Error {
	messages := c.req.Messages
	if len(messages) == 0 {
		return invalid("The messages field must contain at least one message.")
	}
	if messages[0].Role != "user" {
		return invalid("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	for i, m := range messages {
		if e := checkMessage(i, m); e != nil {
			return e
		}
		if i > 0 && m.Role == messages[i-1].Role {
			return invalid("A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
		}
		if e := checkResults(i, messages); e != nil {
			return e
		}
	}
	if messages[len(messages)-1].Role != "user" {
		return invalid("The conversation must end with a user message. The model does not support assistant message prefill.")
	}
	return checkCallIDs(messages)
}

func checkMessage(i int, m Message) *Error {
	if m.Role != "user" && m.Role != "assistant" {
		return constraint(m.Role, fmt.Sprintf("messages.%d.member.role", i+1), "Member must satisfy enum value set: [user, assistant]")
	}
	if len(m.Content) == 0 {
		return invalid("The content field in the Message object at messages.%d is empty. Add a ContentBlock object to the content field and try again.", i)
	}
	for j, b := range m.Content {
		if e := checkBlock(fmt.Sprintf("messages.%d.content.%d", i, j), m.Role, b); e != nil {
			return e
		}
	}
	if last := len(m.Content) - 1; m.Content[last].Kind == "reasoningContent" {
		return invalid("messages.%d.content.%d: The final block in an assistant message cannot be `thinking`.", i, last)
	}
	return nil
}

func checkBlock(at, role string, b Block) *Error {
	switch b.Kind {
	case "":
		return union(at)
	case "text":
		if blank(b.Text) {
			return blankText("ContentBlock", at)
		}
	case "toolUse":
		return checkCall(at, role, *b.ToolUse)
	case "toolResult":
		return checkResult(at, role, *b.ToolResult)
	case "reasoningContent":
		return checkReasoning(at, role, *b.Reasoning)
	}
	return nil
}

func checkCall(at, role string, call ToolUse) *Error {
	switch {
	case role != "assistant":
		return invalid("The toolUse block at %s is only allowed in assistant messages.", at)
	case !toolUseID.MatchString(call.ID):
		return constraint(call.ID, at+".toolUse.toolUseId", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+")
	case !toolName.MatchString(call.Name):
		return constraint(call.Name, at+".toolUse.name", "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
	case !isObject(call.Input):
		return invalid("The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)
	}
	return nil
}

func checkResult(at, role string, result ToolResult) *Error {
	switch {
	case role != "user":
		return invalid("The toolResult block at %s is only allowed in user messages.", at)
	case !toolUseID.MatchString(result.ID):
		return constraint(result.ID, at+".toolResult.toolUseId", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+")
	case result.Status != "" && result.Status != "success" && result.Status != "error":
		return constraint(result.Status, at+".toolResult.status", "Member must satisfy enum value set: [success, error]")
	case len(result.Content) == 0:
		return invalid("The content field in the ToolResultBlock object at %s.toolResult is empty.", at)
	}
	for k, p := range result.Content {
		place := fmt.Sprintf("%s.toolResult.content.%d", at, k)
		switch {
		case p.Kind == "":
			return union(place)
		case p.Kind == "text" && blank(p.Text):
			return blankText("ToolResultContentBlock", place)
		case p.Kind == "json" && !isObject(p.JSON):
			return invalid("The format of the value at %s.json is invalid. Provide a json object for the field and try again.", place)
		}
	}
	return nil
}

func checkReasoning(at, role string, r ReasoningContent) *Error {
	switch {
	case role != "assistant":
		return invalid("The reasoningContent block at %s is only allowed in assistant messages.", at)
	case (r.Text == nil) == (len(r.Redacted) == 0):
		return union(at + ".reasoningContent")
	case r.Text != nil && r.Text.Signature == "":
		return invalid("%s.reasoningContent.reasoningText.signature: Field required", at)
	}
	return nil
}

// checkResults: a user message answers exactly the calls of the assistant message before it, before anything else.
func checkResults(i int, messages []Message) *Error {
	if messages[i].Role != "user" {
		return nil
	}
	at := fmt.Sprintf("messages.%d.content", i)
	owed := map[string]bool{}
	var missing []string
	if i > 0 {
		for _, b := range messages[i-1].Content {
			if b.ToolUse != nil {
				owed[b.ToolUse.ID] = true
				missing = append(missing, b.ToolUse.ID)
			}
		}
	}
	called, other := len(owed), false
	for _, b := range messages[i].Content {
		switch {
		case b.ToolResult == nil:
			other = true
		case called == 0:
			return invalid("The number of toolResult blocks at %s exceeds the number of toolUse blocks of previous turn.", at)
		case !owed[b.ToolResult.ID]:
			return invalid("The toolResult blocks at %s contain an Id that is duplicate or was not requested: %s", at, b.ToolResult.ID)
		case other:
			return invalid("The toolResult blocks at %s must come before other content.", at)
		default:
			delete(owed, b.ToolResult.ID)
		}
	}
	if len(owed) > 0 {
		return invalid("Expected toolResult blocks at %s for the following Ids: %s", at, strings.Join(unanswered(missing, owed), ", "))
	}
	return nil
}

func unanswered(ids []string, owed map[string]bool) []string {
	var left []string
	for _, id := range ids {
		if owed[id] {
			left = append(left, id)
		}
	}
	return left
}

// checkCallIDs: an id names one call of the whole conversation.
func checkCallIDs(messages []Message) *Error {
	seen := map[string]bool{}
	for i, m := range messages {
		for _, b := range m.Content {
			if b.ToolUse == nil {
				continue
			}
			if seen[b.ToolUse.ID] {
				return invalid("The toolUse blocks at messages.%d.content contain duplicate Ids: %s", i, b.ToolUse.ID)
			}
			seen[b.ToolUse.ID] = true
		}
	}
	return nil
}
