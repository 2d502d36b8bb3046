package bus

import (
	"encoding/json"
	"time"
)

// Timed is an event that is to be put on the bus at a time to come.
type Timed struct {
	Name       string // of the schedule, as schedule.Name makes it
	At         time.Time
	Source     string // default: the bus's
	DetailType string
	Detail     json.RawMessage // an object
	Keep       bool            // one of this name that waits stays as it is; else it moves
	Waits      bool            // whoever takes it waits for its notBefore, as for "Run Agent Task", which need not say so
}

// Schedule is a schedule of EventBridge Scheduler that puts events on the bus.
type Schedule struct {
	Name       string // as schedule.Name makes it
	Expression string // at(...), which deletes itself afterwards, or cron(...)
	TimeZone   string // of the expression, IANA name; "": UTC
	Source     string // of its events; default: the bus's
	DetailType string // of its events
	Detail     string // of its events, JSON; Scheduler's own words <aws.scheduler...> in it are filled in when it fires
	Keep       bool   // one of this name stays as it is; else it is replaced
}
