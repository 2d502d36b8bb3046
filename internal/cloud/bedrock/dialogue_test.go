package bedrock_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// dialogue is a conversation with the offline model.
type dialogue struct {
	t        *testing.T
	tools    string // JSON of the tool list's entries
	choice   string // JSON of the tool choice
	system   string
	limits   string // JSON of inferenceConfig
	guard    string // id of the guardrail
	messages []string
}

// spoken is a reply, put together.
type spoken struct {
	Text, Thought string
	Calls         []string // "name {input}"
	IDs           []string
	Stop          string
	Err           error
	Pieces        int
	message       []string // content blocks
}

// says adds the user's words and gives the reply, which becomes part of the conversation.
func (d *dialogue) says(blocks ...string) spoken {
	d.t.Helper()
	for i, b := range blocks {
		if !strings.HasPrefix(b, "{") {
			blocks[i] = quote("text", b)
		}
	}
	d.messages = append(d.messages, `{"role":"user","content":[`+strings.Join(blocks, ",")+`]}`)
	r := listen(d.t, d.request())
	if len(r.message) > 0 {
		d.messages = append(d.messages, `{"role":"assistant","content":[`+strings.Join(r.message, ",")+`]}`)
	}
	return r
}

func (d *dialogue) request() bedrock.Request {
	d.t.Helper()
	body := `{"messages":[` + strings.Join(d.messages, ",") + `]`
	if d.guard != "" {
		body += `,"guardrailConfig":{"guardrailIdentifier":"` + d.guard + `","guardrailVersion":"1"}`
	}
	if d.tools != "" {
		body += `,"toolConfig":{"tools":[` + d.tools + `]`
		if d.choice != "" {
			body += `,"toolChoice":` + d.choice
		}
		body += `}`
	}
	if d.system != "" {
		body += `,"system":[` + quote("text", d.system) + `]`
	}
	if d.limits != "" {
		body += `,"inferenceConfig":` + d.limits
	}
	req := bedrock.Request{ModelID: "m", Body: []byte(body + `}`)}
	if err := json.Unmarshal(req.Body, &req); err != nil {
		d.t.Fatal(err)
	}
	if err := bedrock.Check(req); err != nil {
		d.t.Fatalf("the conversation is not valid: %v", err)
	}
	return req
}

func quote(name, text string) string {
	data, _ := json.Marshal(map[string]string{name: text})
	return string(data)
}

func toolResult(id, text string) string {
	return `{"toolResult":{"toolUseId":"` + id + `","status":"success","content":[` + quote("text", text) + `]}}`
}

func listen(t *testing.T, req bedrock.Request) spoken {
	t.Helper()
	var r spoken
	var signature string
	var inputs []string
	for p, err := range (bedrock.Offline{}).Respond(context.Background(), req) {
		if err != nil {
			r.Err = err
			return r
		}
		r.Pieces++
		switch p := p.(type) {
		case bedrock.Text:
			r.Text += string(p)
		case bedrock.Reasoning:
			r.Thought += p.Text
			signature += p.Signature
			if p.Redacted != nil {
				data, _ := json.Marshal(p.Redacted)
				r.message = append(r.message, `{"reasoningContent":{"redactedContent":`+string(data)+`}}`)
			}
		case bedrock.ToolCall:
			r.Calls, r.IDs, inputs = append(r.Calls, p.Name), append(r.IDs, p.ID), append(inputs, "")
		case bedrock.ToolInput:
			inputs[len(inputs)-1] += string(p)
		case bedrock.Stop:
			r.Stop = string(p)
		}
	}
	if r.Thought != "" {
		data, _ := json.Marshal(map[string]string{"text": r.Thought, "signature": signature})
		r.message = append(r.message, `{"reasoningContent":{"reasoningText":`+string(data)+`}}`)
	}
	if r.Text != "" {
		r.message = append(r.message, quote("text", r.Text))
	}
	for i, name := range r.Calls {
		r.Calls[i] = name + " " + inputs[i]
		r.message = append(r.message, fmt.Sprintf(`{"toolUse":{"toolUseId":%q,"name":%q,"input":%s}}`, r.IDs[i], name, inputs[i]))
	}
	return r
}

// spoil changes one character of the thought or the opaque bytes in a message.
func spoil(t *testing.T, message string) string {
	t.Helper()
	for _, start := range []string{`"text":"`, `"redactedContent":"`} {
		if i := strings.Index(message, start); i >= 0 {
			i += len(start) + 20
			letter := "A"
			if message[i] == 'A' {
				letter = "B"
			}
			return message[:i] + letter + message[i+1:]
		}
	}
	t.Fatalf("no reasoning in %s", message)
	return ""
}
