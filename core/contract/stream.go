package contract

import "github.com/steadfast-agents/steadfast/core/model"

// StreamBodies is one event of a model's stream in the words of the WebSocket; most kinds have none. A stop that calls for tools
// has none either: the turn goes on.
func StreamBodies(e model.Event) []StreamEventBody {
	switch e := e.(type) {
	case model.TextDelta:
		if e.Text != "" {
			return []StreamEventBody{{Data: &e.Text}}
		}
	case model.ToolStart:
		return []StreamEventBody{{CurrentToolUse: &ToolUseBody{Name: e.Name, ToolUseID: e.ID}}}
	case model.Reset:
		return []StreamEventBody{{Reset: &ResetBody{Attempt: e.Attempt}}}
	case model.Stop:
		if e.Reason != model.StopToolUse {
			return []StreamEventBody{{Complete: true}}
		}
	}
	return nil
}
