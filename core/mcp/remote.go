package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Limits of what a server says about one tool, in bytes. A longer description is cut; a tool with a larger schema is left out.
const (
	maxDescription = 4 * 1024
	maxSchema      = 32 * 1024
)

// remote is one tool of a server.
type remote struct {
	link *link
	name string // as the server knows it
	spec tool.Spec
}

// newRemote describes a tool. What the server says of its effects decides only whether a call may be repeated: reads are, and a call
// that destroys something is never begun a second time, also when its worker died.
func newRemote(l *link, t *sdk.Tool) (*remote, error) {
	if t.Name == "" {
		return nil, errors.New("it has no name")
	}
	schema, err := schemaOf(t.InputSchema)
	if err != nil {
		return nil, err
	}
	r := &remote{link: l, name: t.Name, spec: tool.Spec{Name: Name(l.label, t.Name), Description: describe(l.label, t), Schema: schema}}
	if a := t.Annotations; a != nil {
		r.spec.ReadOnly = a.ReadOnlyHint
		r.spec.Once = !a.ReadOnlyHint && !a.IdempotentHint && a.DestructiveHint != nil && *a.DestructiveHint
	}
	return r, nil
}

// plainLabel and plainTool are names that stand before and after the two underscores as they are, so that no two pairs of them
// become one name.
var (
	plainLabel = regexp.MustCompile(`^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$`)
	plainTool  = regexp.MustCompile(`^[a-zA-Z0-9-][a-zA-Z0-9_-]*$`)
)

// Name is the name under which the model knows a server's tool: label__tool, or, where that would be too long, unclear or refused by
// model services, the same cleaned, shortened and ended by a hash of both. It depends on nothing else.
func Name(label, toolName string) string {
	if name := label + "__" + toolName; plainLabel.MatchString(label) && plainTool.MatchString(toolName) && len(name) <= model.MaxToolName {
		return name
	}
	return model.ToolName(label + "\x00" + toolName)
}

func describe(label string, t *sdk.Tool) string {
	text := strings.TrimSpace(strings.ToValidUTF8(t.Description, "\uFFFD"))
	if text == "" {
		text = strings.TrimSpace(strings.ToValidUTF8(t.Title, "\uFFFD"))
	}
	if text == "" {
		text = fmt.Sprintf("The tool %s of the MCP server %s.", tool.Cut(t.Name, 80), label)
	}
	return tool.Cut(text, maxDescription)
}

// schemaOf is a schema that model services take.
func schemaOf(schema any) (json.RawMessage, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, errors.New("its schema is no JSON")
	}
	if string(raw) == "null" {
		raw = []byte(`{"type":"object"}`)
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes, the limit is %d", len(raw), maxSchema)
	}
	if raw = model.PlainSchema(raw); len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes once it is plain, the limit is %d", len(raw), maxSchema)
	}
	return raw, nil
}

// size is how much a model reads of the tool, in bytes.
func (r *remote) size() int { return len(r.spec.Description) + len(r.spec.Schema) }

// Spec describes the tool.
func (r *remote) Spec() tool.Spec { return r.spec }

// Call asks the server. A result that the tool itself calls an error is fault.Invalid with its text.
func (r *remote) Call(ctx tool.Context, input json.RawMessage) (any, error) {
	if trimmed := bytes.TrimSpace(input); len(trimmed) == 0 || string(trimmed) == "null" {
		input = json.RawMessage("{}")
	}
	result, err := r.link.call(ctx, r.name, input)
	if err != nil {
		return nil, err
	}
	if result.NeedsInput() {
		return nil, fault.New(fault.Invalid, "the MCP server %s asks for more input from a person, which nobody here can give", r.link.label)
	}
	parts := partsOf(result)
	if !result.IsError {
		return parts, nil
	}
	var said strings.Builder
	for _, p := range parts {
		said.WriteString(p.Text + string(p.JSON) + "\n")
	}
	text := strings.TrimSpace(said.String())
	if text == "" {
		text = "the tool failed and does not say why"
	}
	return nil, fault.New(fault.Invalid, "%s", text).Because("mcp_tool_error")
}
