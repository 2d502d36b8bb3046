package contract

// FireReminderType is the detail type of the event that fires a reminder.
const FireReminderType = "Fire Reminder"

// FireReminder is the detail of "Fire Reminder". A reminder whose next firing is another one by then is not fired.
type FireReminder struct {
	ReminderID string  `json:"reminderId"`
	At         Instant `json:"at,omitempty"`        // the firing that is meant; by hand, if it is absent, the next
	NotBefore  Instant `json:"notBefore,omitempty"` // it was sent early: whoever fires it waits until then
	Manual     bool    `json:"manual,omitempty"`    // asked for by hand: it fires at once, also where timers are off
}

// NewReminder asks for a reminder. Exactly one of Delay, At, Every and Cron, and exactly one of Prompt and Run, must be set.
type NewReminder struct {
	Purpose  string    `json:"purpose"`            // what it is for: a word to list and cancel by, at most 256 bytes
	Delay    LooseText `json:"delay,omitempty"`    // once: 90s, 15m, 2h, 3d, 1h30m, or seconds
	At       string    `json:"at,omitempty"`       // once: an instant with an offset, a wall time or a date in TimeZone
	Every    LooseText `json:"every,omitempty"`    // again and again: the same, at least 1m
	Cron     string    `json:"cron,omitempty"`     // again and again: five fields
	TimeZone string    `json:"timezone,omitempty"` // IANA name for At and Cron, default UTC
	Prompt   string    `json:"prompt,omitempty"`   // is sent into the conversation
	Run      string    `json:"run,omitempty"`      // or: the name of a handler of the program
	Until    string    `json:"until,omitempty"`    // when the model is to cancel it, in words
	MaxFires int64     `json:"maxFires,omitempty"` // 0: no limit
}

// Reminder is a reminder as its owner sees it.
type Reminder struct {
	ReminderID string  `json:"reminderId"`
	SessionID  string  `json:"sessionId"`
	Purpose    string  `json:"purpose"`
	Status     string  `json:"status"` // active, done, cancelled, lost
	Reason     string  `json:"reason,omitempty"`
	NextFireAt Instant `json:"nextFireAt,omitempty"` // while it is active
	FireCount  int64   `json:"fireCount"`
	MaxFires   int64   `json:"maxFires,omitempty"`
	Every      string  `json:"every,omitempty"`
	Cron       string  `json:"cron,omitempty"`
	TimeZone   string  `json:"timezone,omitempty"`
	Prompt     string  `json:"prompt,omitempty"`
	Run        string  `json:"run,omitempty"`
	Until      string  `json:"until,omitempty"`
	CreatedAt  Instant `json:"createdAt"`
}

// Reminders is the answer of GET /agent/sessions/{sessionId}/reminders, ordered by next firing.
type Reminders struct {
	Reminders []Reminder `json:"reminders"`
}

// ReminderFired is what a firing of a reminder came to.
type ReminderFired struct {
	ReminderID string   `json:"reminderId"`
	SessionIDs []string `json:"sessionIds"`       // the conversation, if it was told
	Outcome    string   `json:"outcome"`          // fired; stale: fired before, cancelled, moved on or running elsewhere; off; lost
	Action     string   `json:"action,omitempty"` // what its handler made of it: stop, skip, delivered
	Error      string   `json:"error,omitempty"`  // of its handler, or why it was refused
	Code       string   `json:"code,omitempty"`   // of a refusal, where it was asked for by hand
}

// RemindRequest is the body of POST /agent/sessions/{sessionId}/reminders.
type RemindRequest struct {
	NewReminder
	Key string `json:"key,omitempty"` // the same key in the same conversation is the same reminder; "": each call makes one
}
