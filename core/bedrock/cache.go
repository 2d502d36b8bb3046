package bedrock

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Caching says after what a model takes a cache point: what stands before one is kept by the service for about five
// minutes and is cheaper the next time. A prefix that is too short for the model (1,024 to 4,096 tokens) is not kept, and
// the point does no harm.
type Caching struct {
	System   bool // the system text
	Tools    bool // the tool list
	Messages bool // text of a message
	Results  bool // a tool call or its result
}

// withoutCache are models of families that cache which refuse cache points themselves.
var withoutCache = regexp.MustCompile(`claude-(?:v2|instant|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)`)

// withNova are the Nova models that take cache points in system text and messages, never in the tool list.
var withNova = regexp.MustCompile(`amazon\.nova-(?:micro|lite|pro|premier)-v1`)

// CachingOf gives what is known of a model by its id. A model that is not listed, and an ARN that does not name the
// model, gets none: the service refuses a whole request for one cache point that the model does not take.
func CachingOf(modelID string) Caching {
	switch {
	case strings.Contains(modelID, "anthropic.claude") && !withoutCache.MatchString(modelID):
		return Caching{System: true, Tools: true, Messages: true, Results: true}
	case withNova.MatchString(modelID):
		return Caching{System: true, Messages: true}
	}
	return Caching{}
}

func (m Model) caching(id string) Caching {
	if m.Caching != nil {
		return *m.Caching
	}
	return CachingOf(id)
}

// place is a block's position: message and block.
type place struct{ message, block int }

// points are the cache points of one request.
type points struct {
	system, tools bool
	after         map[place]bool // blocks that a point follows
}

// planPoints places at most model.MaxCachePoints: one after the tools, one after the system text, the rest in the
// messages. Where the history has points of its own the latest of them are used; else the ends of the last two user
// messages are, so that the point of one call is found again by the next.
func planPoints(c Caching, req model.Request) points {
	p := points{system: c.System && req.System != "", tools: c.Tools && len(req.Tools) > 0, after: map[place]bool{}}
	room := model.MaxCachePoints
	for _, used := range []bool{p.system, p.tools} {
		if used {
			room--
		}
	}
	marked, ends := places(c, req.Messages)
	if len(marked) == 0 {
		marked, room = ends, min(room, 2)
	}
	for _, at := range marked[max(0, len(marked)-room):] {
		p.after[at] = true
	}
	return p
}

// places gives the blocks after which history has a cache point and may have one, and the last blocks of user messages
// that may be followed by one.
func places(c Caching, history []model.Message) (marked, ends []place) {
	for i, m := range history {
		last := len(m.Content) - 1
		for j, b := range m.Content {
			if b.CachePoint && j > 0 && c.follows(m.Content[j-1]) {
				marked = append(marked, place{i, j - 1})
			}
		}
		if m.Role == model.User && last >= 0 && c.follows(m.Content[last]) {
			ends = append(ends, place{i, last})
		}
	}
	return marked, ends
}

// follows reports whether a cache point may follow b.
func (c Caching) follows(b model.Block) bool {
	if b.ToolUse != nil || b.ToolResult != nil {
		return c.Messages && c.Results
	}
	return c.Messages && b.Text != ""
}

func cachePoint() types.CachePointBlock {
	return types.CachePointBlock{Type: types.CachePointTypeDefault}
}
