package contract

// Detail types of channels.
const (
	AgentSessionEventType = "Agent Session Event"
	SendAgentMessageType  = "Send Agent Message"
)

// AgentSessionEvent is the detail of "Agent Session Event": an event of a session that belongs to a channel. It is published at least
// once; SessionID and Index identify it. Pieces of text are not published.
type AgentSessionEvent struct {
	SessionEvent
	Channel           string `json:"channel"`
	ContinuationToken string `json:"continuationToken,omitempty"` // the channel's own name of the conversation
	Attempt           int    `json:"attempt,omitempty"`           // how often handlers have failed before
}

// SendAgentMessage is the detail of "Send Agent Message": a first-party app sends a principal's message to a channel's
// conversation, or to a session by its id. With neither an id nor a token it begins a new conversation.
type SendAgentMessage struct {
	Channel           string            `json:"channel"`
	SessionID         string            `json:"sessionId,omitempty"`
	ContinuationToken string            `json:"continuationToken,omitempty"`
	Message           string            `json:"message"`
	Principal         Principal         `json:"principal"`
	Admission         Admission         `json:"admission,omitempty"`  // default Coalesce
	DeliveryID        string            `json:"deliveryId,omitempty"` // the same again is one message; default the event's own id
	Files             map[string]string `json:"files,omitempty"`
}
