package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Limits of the service, as its API model and documentation state them.
const (
	MaxCachePoints   = 4
	MaxDocuments     = 5
	MaxDocumentBytes = 4_500_000
	MaxImages        = 20
	MaxImageBytes    = 3_750_000
)

// Check holds a request against the rules of the service and gives the first breach as a ValidationException that names
// the place. It is at least as strict as the service is for the strictest model: roles alternate, user first and last;
// no blank text; every call answered in the next user message, results before other content, nothing else answered; a tool list
// whenever there are tool blocks; signed reasoning only; cache points, and schemas for the text, only where a model supports them.
func Check(req Request) error {
	c := checker{req: req}
	for _, rule := range []func() *Error{c.inference, c.system, c.tools, c.choice, c.conversation, c.needsTools, c.cachePoints, c.media, c.format} {
		if e := rule(); e != nil {
			return e
		}
	}
	return nil
}

type checker struct{ req Request }

// constraint is the text of a breach of the API model.
func constraint(value any, at, rule string) *Error {
	return invalid("1 validation error detected: Value '%v' at '%s' failed to satisfy constraint: %s", value, at, rule)
}

// Models that take no temperature, and models that cannot be made to call a tool.
var (
	unsampled = regexp.MustCompile(`anthropic\.claude-(?:opus-4-[7-9]|[a-z]+-[5-9])`)
	unforced  = regexp.MustCompile(`anthropic\.claude-(?:fable|mythos|[a-z]+-5-5)`)
)

func (c checker) inference() *Error {
	inf := c.req.Inference
	switch {
	case inf.MaxTokens != nil && *inf.MaxTokens < 1:
		return constraint(*inf.MaxTokens, "inferenceConfig.maxTokens", "Member must have value greater than or equal to 1")
	case inf.Temperature != nil && (*inf.Temperature < 0 || *inf.Temperature > 1):
		return constraint(*inf.Temperature, "inferenceConfig.temperature", "Member must have value between 0 and 1, inclusive")
	case inf.Temperature != nil && unsampled.MatchString(c.req.ModelID):
		return invalid("The model returned the following errors: `temperature` is deprecated for this model.")
	case inf.TopP != nil && (*inf.TopP < 0 || *inf.TopP > 1):
		return constraint(*inf.TopP, "inferenceConfig.topP", "Member must have value between 0 and 1, inclusive")
	}
	for i, s := range inf.StopSequences {
		if s == "" {
			return constraint(s, fmt.Sprintf("inferenceConfig.stopSequences.%d.member", i+1), "Member must have length greater than or equal to 1")
		}
	}
	return nil
}

func (c checker) system() *Error {
	for i, b := range c.req.System {
		at := fmt.Sprintf("system.%d", i)
		switch {
		case b.Kind == "text" && blank(b.Text):
			return blankText("SystemContentBlock", at)
		case b.Kind != "text" && b.Kind != "cachePoint" && b.Kind != "guardContent":
			return union(at)
		}
	}
	return nil
}

// needsTools: history with tool blocks is refused without a tool list.
func (c checker) needsTools() *Error {
	if c.req.Tools != nil {
		return nil
	}
	for _, m := range c.req.Messages {
		for _, b := range m.Content {
			if b.ToolUse != nil || b.ToolResult != nil {
				return invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
			}
		}
	}
	return nil
}

// cachePoints: only where the model takes them, and not too many.
func (c checker) cachePoints() *Error {
	nova, claude := strings.Contains(c.req.ModelID, "amazon.nova"), strings.Contains(c.req.ModelID, "anthropic.claude")
	n, inTools := 0, 0
	for _, b := range c.req.System {
		n += one(b.Kind == "cachePoint")
	}
	for i, m := range c.req.Messages {
		for j, b := range m.Content {
			if b.Kind != "cachePoint" {
				continue
			}
			n++
			if e := cacheable(i, j, m, nova); e != nil {
				return e
			}
		}
	}
	if c.req.Tools != nil {
		for _, t := range c.req.Tools.Tools {
			inTools += one(t.Kind == "cachePoint")
		}
	}
	switch {
	case n+inTools > 0 && !nova && !claude:
		return &Error{Type: "AccessDeniedException", Message: "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information."}
	case inTools > 0 && nova:
		return invalid("The model returned the following errors: Malformed input request: #/toolConfig/tools: extraneous key [cachePoint] is not permitted, please reformat your input and try again.")
	case n+inTools > MaxCachePoints:
		return invalid("A maximum of %d blocks with cache_control may be provided. Found %d.", MaxCachePoints, n+inTools)
	}
	return nil
}

// cacheable refuses a cache point with nothing before it that can be cached.
func cacheable(i, j int, m Message, nova bool) *Error {
	if j == 0 || m.Content[j-1].Kind == "reasoningContent" || m.Content[j-1].Kind == "cachePoint" {
		return invalid("The cachePoint at messages.%d.content.%d must follow a content block that can be cached.", i, j)
	}
	if before := m.Content[j-1].Kind; nova && (before == "toolUse" || before == "toolResult") {
		return invalid("The model returned the following errors: Malformed input request: #/messages/%d/content/%d: extraneous key [cachePoint] is not permitted, please reformat your input and try again.", i, j)
	}
	return nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

var documentName = regexp.MustCompile(`^[\w\-()\[\]]+( [\w\-()\[\]]+)*$`)

func (c checker) media() *Error {
	documents, images := 0, 0
	for i, m := range c.req.Messages {
		text, named := false, map[string]bool{}
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			text = text || b.Kind == "text"
			documents, images = documents+one(b.Kind == "document"), images+one(b.Kind == "image")
			switch {
			case b.Media == nil:
				continue
			case m.Role != "user":
				return invalid("The %s at %s is only allowed in user messages.", b.Kind, at)
			case b.Kind == "image" && len(b.Media.Source.Bytes) > MaxImageBytes, b.Kind == "document" && len(b.Media.Source.Bytes) > MaxDocumentBytes:
				return invalid("The %s at %s is too large.", b.Kind, at)
			case b.Kind == "document" && !documentName.MatchString(b.Media.Name):
				return invalid("The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.")
			case b.Kind == "document" && named[b.Media.Name]:
				return invalid("The document file names in a message must be unique: %s.", at)
			}
			named[b.Media.Name] = b.Kind == "document"
		}
		if len(named) > 0 && hasDocument(m) && !text {
			return invalid("A text block must be included in the message with documents at messages.%d.", i)
		}
	}
	switch {
	case documents > MaxDocuments:
		return invalid("The number of documents exceeds the limit of %d.", MaxDocuments)
	case images > MaxImages:
		return invalid("The number of images exceeds the limit of %d.", MaxImages)
	}
	return nil
}

func hasDocument(m Message) bool {
	for _, b := range m.Content {
		if b.Kind == "document" {
			return true
		}
	}
	return false
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func blankText(block, at string) *Error {
	return invalid("The text field in the %s object at %s is blank. Add text to the text field, and try again.", block, at)
}

func union(at string) *Error {
	return invalid("The union at %s must have exactly one known member set.", at)
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
