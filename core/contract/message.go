package contract

// Message is what a program hands into a channel: text for the conversation of SessionID, or for the one that the channel's key
// ContinuationToken leads to, which begins if there is none. Neither: a new conversation.
type Message struct {
	Text              string
	SessionID         string
	ContinuationToken string
	DeliveryID        string            // the same again gets the first receipt; "": one is made
	Admission         Admission         // "": the channel's
	Files             map[string]string // texts for the session's workspace, by path
}

// RunScheduleType is the detail type of a firing of a schedule.
const RunScheduleType = "Run Schedule"

// RunSchedule is the detail of "Run Schedule".
type RunSchedule struct {
	ScheduleID string  `json:"scheduleId"`
	At         Instant `json:"at"`               // when it was due, by the scheduler; the same is one firing
	Manual     bool    `json:"manual,omitempty"` // asked for by a person: it runs also where schedules are off
}

// ScheduleRan is what a firing came to.
type ScheduleRan struct {
	ScheduleID string   `json:"scheduleId"`
	SessionIDs []string `json:"sessionIds"`
	Error      string   `json:"error,omitempty"` // of its handler, or why it was not run
	Code       string   `json:"code,omitempty"`  // of why it was not run
}
