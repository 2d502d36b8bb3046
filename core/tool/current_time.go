package tool

import (
	"encoding/json"
	"time"
	_ "time/tzdata" // zones must work where the host has no zone files

	"github.com/steadfast-agents/steadfast/core/fault"
)

// GetCurrentTime is the built-in tool get_current_time: date, time and weekday now, in a time zone the model names.
type GetCurrentTime struct {
	Now func() time.Time // nil: time.Now
}

type currentTimeIn struct {
	TimeZone string `json:"timezone" default:"UTC" jsonschema:"IANA time zone such as Europe/Berlin or UTC"`
}

type currentTimeOut struct {
	Time     string `json:"time"`
	TimeZone string `json:"timezone"`
	Weekday  string `json:"weekday"`
}

// Spec describes the tool.
func (g GetCurrentTime) Spec() Spec { return g.typed().Spec() }

// Call tells the time. An unknown zone is fault.Invalid with a hint.
func (g GetCurrentTime) Call(ctx Context, input json.RawMessage) (any, error) {
	return g.typed().Call(ctx, input)
}

func (g GetCurrentTime) typed() Tool {
	return ReadOnly(New("get_current_time", "Tells the current date, time and weekday in a time zone.", g.tell))
}

func (g GetCurrentTime) tell(_ Context, in currentTimeIn) (currentTimeOut, error) {
	zone, err := time.LoadLocation(in.TimeZone)
	if err != nil || in.TimeZone == "Local" {
		return currentTimeOut{}, fault.New(fault.Invalid,
			"there is no time zone %q: use an IANA name such as Europe/Berlin, America/New_York or UTC", in.TimeZone)
	}
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	t := now().In(zone)
	return currentTimeOut{Time: t.Format(time.RFC3339), TimeZone: zone.String(), Weekday: t.Weekday().String()}, nil
}
