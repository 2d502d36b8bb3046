package contract

import (
	"bytes"
	"encoding/json"
)

// Detail types of events that are to come later.
const (
	ScheduleEventType        = "Schedule Event"
	CancelScheduledEventType = "Cancel Scheduled Event"
)

// ScheduleEvent is the detail of "Schedule Event": an event that is to be put on the bus later. Exactly one of At and Delay.
type ScheduleEvent struct {
	Name     string         `json:"name,omitempty"`     // the same name again moves it; "": evt-{id of the event}
	At       string         `json:"at,omitempty"`       // an instant with an offset, a wall time or a date in TimeZone
	Delay    LooseText      `json:"delay,omitempty"`    // 90s, 15m, 2h, 3d, 1h30m, or seconds
	TimeZone string         `json:"timezone,omitempty"` // IANA name, default UTC
	WhenPast WhenPast       `json:"whenPast,omitempty"` // default WhenPastSend
	IfExists IfExists       `json:"ifExists,omitempty"` // default IfExistsMove
	Event    ScheduledEvent `json:"event"`
}

// ScheduledEvent is what is put on the bus.
type ScheduledEvent struct {
	Source     string          `json:"source,omitempty"` // default: this stack's
	DetailType string          `json:"detailType"`
	Detail     json.RawMessage `json:"detail,omitempty"` // an object; default {}
}

// CancelScheduledEvent is the detail of "Cancel Scheduled Event".
type CancelScheduledEvent struct {
	Name string `json:"name"`
}

// WhenPast says what becomes of an event whose time was past when it was asked for.
type WhenPast string

// What may become of it.
const (
	WhenPastSend  WhenPast = "send" // it is sent now
	WhenPastSkip  WhenPast = "skip"
	WhenPastError WhenPast = "error" // refused
)

// IfExists says what becomes of an event of the same name that waits.
type IfExists string

// What may become of it.
const (
	IfExistsMove IfExists = "move"
	IfExistsKeep IfExists = "keep"
)

// LooseText is text that may be written as a number.
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
