package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// partsOf turns a server's result into parts for the model: text as it is, resources as their text or address, media as a note. The
// structured form counts when there is no other: servers give it as text, too.
func partsOf(result *sdk.CallToolResult) []model.ResultPart {
	var parts []model.ResultPart
	for _, c := range result.Content {
		if text := textOf(c); strings.TrimSpace(text) != "" {
			parts = append(parts, model.ResultPart{Text: text})
		}
	}
	if len(parts) > 0 || result.StructuredContent == nil {
		return parts
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return nil
	}
	if raw[0] == '{' {
		return []model.ResultPart{{JSON: raw}}
	}
	return []model.ResultPart{{Text: string(raw)}}
}

func textOf(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return leftOut("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return leftOut("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		text := "Resource " + c.URI
		for _, more := range []string{c.Title, c.Name, c.Description} {
			if more != "" && !strings.Contains(text, more) {
				text += ": " + more
			}
		}
		return text
	case *sdk.EmbeddedResource:
		return embedded(c.Resource)
	}
	return "[content of an unknown kind left out]"
}

func embedded(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[an empty resource left out]"
	case r.Text != "":
		return "Resource " + r.URI + ":\n" + r.Text
	}
	return "Resource " + r.URI + ": " + leftOut("file", r.MIMEType, len(r.Blob))
}

func leftOut(kind, mime string, size int) string {
	return fmt.Sprintf("[%s %s left out: %d bytes]", kind, tool.Cut(mime, 64), size)
}
