package contract

import (
	"bytes"
	"encoding/json"
)

// Detail types that ask for an event at a later time, and take it back.
const (
	ScheduleEventType        = "Schedule Event"
	CancelScheduledEventType = "Cancel Scheduled Event"
)

// ScheduleEvent is the detail of "Schedule Event": it asks for an event to be put on the bus at a later time. Exactly one of At and
// Delay must be set.
type ScheduleEvent struct {
	Name     string         `json:"name,omitempty"`     // the same name again moves it; "": evt-{id of the event}
	At       string         `json:"at,omitempty"`       // an instant with an offset, a wall time or a date in TimeZone
	Delay    LooseText      `json:"delay,omitempty"`    // 90s, 15m, 2h, 3d, 1h30m, or seconds
	TimeZone string         `json:"timezone,omitempty"` // IANA name, default UTC
	WhenPast WhenPast       `json:"whenPast,omitempty"` // default WhenPastSend
	IfExists IfExists       `json:"ifExists,omitempty"` // default IfExistsMove
	Event    ScheduledEvent `json:"event"`
}

// ScheduledEvent is the event that a ScheduleEvent puts on the bus.
type ScheduledEvent struct {
	Source     string          `json:"source,omitempty"` // default: this stack's
	DetailType string          `json:"detailType"`
	Detail     json.RawMessage `json:"detail,omitempty"` // an object; default {}
}

// CancelScheduledEvent is the detail of "Cancel Scheduled Event".
type CancelScheduledEvent struct {
	Name string `json:"name"`
}

// WhenPast says what happens to an event whose time has already passed when it is asked for.
type WhenPast string

// The values of WhenPast.
const (
	WhenPastSend  WhenPast = "send"  // it is sent now
	WhenPastSkip  WhenPast = "skip"  // it is dropped
	WhenPastError WhenPast = "error" // the request is refused
)

// IfExists says what happens if an event of the same name is already waiting.
type IfExists string

// The values of IfExists.
const (
	IfExistsMove IfExists = "move" // it moves to the new time, with the new detail
	IfExistsKeep IfExists = "keep" // it stays as it is
)

// RunScheduleType is the detail type of the event that fires a schedule.
const RunScheduleType = "Run Schedule"

// RunSchedule is the detail of "Run Schedule".
type RunSchedule struct {
	ScheduleID string  `json:"scheduleId"`
	At         Instant `json:"at"`               // when it was due, by the scheduler; the same is one firing
	Manual     bool    `json:"manual,omitempty"` // asked for by a person: it runs also where schedules are off
}

// ScheduleRan is the outcome of a firing of a schedule.
type ScheduleRan struct {
	ScheduleID string   `json:"scheduleId"`
	SessionIDs []string `json:"sessionIds"`
	Error      string   `json:"error,omitempty"` // of its handler, or why it was not run
	Code       string   `json:"code,omitempty"`  // of why it was not run
}

// LooseText is text that JSON may also give as a number.
type LooseText string

// UnmarshalJSON takes a string or a number.
func (t *LooseText) UnmarshalJSON(data []byte) error {
	var n json.Number
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if len(data) > 0 && data[0] != '"' {
		if err := d.Decode(&n); err != nil {
			return err
		}
		*t = LooseText(n)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}
