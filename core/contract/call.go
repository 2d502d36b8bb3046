package contract

import "encoding/json"

// CallTool is the body of POST /agent/sessions/{sessionId}/tools/{name}, which answers with an ActionResult.
type CallTool struct {
	Input      map[string]json.RawMessage `json:"input,omitempty"`      // as the tool's schema says
	DeliveryID string                     `json:"deliveryId,omitempty"` // the same again of the same tool is the same call; "": each is its own
}
