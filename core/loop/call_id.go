package loop

import (
	"fmt"

	"github.com/steadfast-agents/steadfast/core/model"
)

// callIDs makes the ids of a reply's calls valid and unlike any id in the history: some models count from one in each
// reply, and a call's id is the idempotency key of what its tool does.
type callIDs struct {
	prefix string // not empty: no id of the model's is used
	step   int
	used   map[string]bool
}

func newCallIDs(history []model.Message, prefix string, step int) callIDs {
	ids := callIDs{prefix: prefix, step: step, used: make(map[string]bool)}
	for _, m := range history {
		for _, c := range m.Calls() {
			ids.used[c.ID] = true
		}
	}
	return ids
}

// rename gives the event with a usable id, if it starts a call. The same stream gets the same ids again.
func (ids callIDs) rename(event model.Event) model.Event {
	start, ok := event.(model.ToolStart)
	if !ok {
		return event
	}
	if ids.prefix != "" || start.ID != model.CallID(start.ID) || ids.used[start.ID] {
		start.ID = ids.free()
	}
	ids.used[start.ID] = true
	return start
}

func (ids callIDs) free() string {
	prefix := ids.prefix
	if prefix == "" {
		prefix = "call"
	}
	for n := 1; ; n++ {
		if id := fmt.Sprintf("%s-%d-%d", prefix, ids.step, n); !ids.used[id] {
			return id
		}
	}
}
