package contract

import "time"

// Instant is a point in time as text: ISO-8601 in UTC with milliseconds. Text of another form is kept as it was.
type Instant string

const instantLayout = "2006-01-02T15:04:05.000Z"

// At gives the instant of t.
func At(t time.Time) Instant { return Instant(t.UTC().Format(instantLayout)) }

// Time reads the instant in any RFC 3339 form.
func (i Instant) Time() (time.Time, error) { return time.Parse(time.RFC3339Nano, string(i)) }
