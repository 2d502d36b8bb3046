package stage

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Note is what the counting tools take.
type Note struct {
	Text string `json:"text"`
}

// Counter counts tool runs by name and input.
type Counter struct {
	mu   sync.Mutex
	runs map[string]int
}

// counting is a tool that notes its runs. To run again after the result of the same call was saved is a broken promise.
func (s *Stage) counting(name string) tool.Tool {
	return tool.New(name, "Notes that it ran.", func(ctx tool.Context, in Note) (string, error) {
		if s.saved(ctx.Session.ID, ctx.ToolUseID) {
			s.Watch.broke("tool %s ran again after the result of call %s was saved", name, ctx.ToolUseID)
		}
		if s.Acting != nil {
			s.Acting(ctx)
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		s.Ran.add(name + " " + in.Text)
		return name + " did " + in.Text, nil
	})
}

// saved reports whether the history holds the result of a call.
func (s *Stage) saved(sessionID, callID string) bool {
	for _, row := range s.rows(sessionID) {
		body := bodyOf(row, "segment")
		if strings.Contains(body, `"toolResult"`) && strings.Contains(body, fmt.Sprintf(`"toolUseId":%q`, callID)) {
			return true
		}
	}
	return false
}

// bodyOf reads a body that lies in its row, deflated or not.
func bodyOf(row attr.Item, name string) string {
	packed, ok := row[name].(*types.AttributeValueMemberB)
	if !ok {
		return text(row, name)
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed.Value)))
	if err != nil {
		panic(err)
	}
	return string(body)
}

func (c *Counter) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[string]int{}
	}
	c.runs[what]++
}

// Runs lists how often each tool ran, one a line.
func (c *Counter) Runs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(c.runs)) {
		lines = append(lines, fmt.Sprintf("%s: %d", what, c.runs[what]))
	}
	return strings.Join(lines, "\n")
}

// Of is how often one tool ran with one text.
func (c *Counter) Of(name, text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[name+" "+text]
}
