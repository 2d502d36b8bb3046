package contract

import "github.com/steadfast-agents/steadfast/core/model"

// StreamBodies gives the WebSocket's form of one event of a model's stream. Most kinds have none, and neither has a stop for tool use:
// the turn goes on.
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
