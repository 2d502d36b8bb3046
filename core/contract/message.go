package contract

// Message is what a program sends to a channel: text for the session SessionID, or for the conversation that the channel knows as
// ContinuationToken, which begins if there is none. With neither it begins a new conversation.
type Message struct {
	Text              string
	SessionID         string
	ContinuationToken string
	DeliveryID        string            // the same again gets the first receipt; "": one is made
	Admission         Admission         // "": the channel's
	Files             map[string]string // texts for the session's workspace, by path
}
