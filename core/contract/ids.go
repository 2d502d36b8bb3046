package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// TaskSessionPrefix begins the ids of sessions that tasks make for themselves. No other session may use it.
const TaskSessionPrefix = "task-"

// CheckID reports whether an id from outside may become part of a key: 1 to 256 bytes of UTF-8 without control characters.
// Faults: Invalid, naming field.
func CheckID(field, id string) error {
	switch {
	case id == "":
		return fault.New(fault.Invalid, "%s: must not be empty", field)
	case len(id) > MaxIDBytes:
		return fault.New(fault.Invalid, "%s: %d bytes, the limit is %d", field, len(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return fault.New(fault.Invalid, "%s: must be valid UTF-8", field)
	case strings.ContainsFunc(id, unicode.IsControl):
		return fault.New(fault.Invalid, "%s: must not contain control characters", field)
	}
	return nil
}

// CheckSessionID is CheckID for a session id that a caller chose: those of tasks are refused.
func CheckSessionID(field, id string) error {
	if err := CheckID(field, id); err != nil {
		return err
	}
	if strings.HasPrefix(id, TaskSessionPrefix) {
		return fault.New(fault.Invalid, "%s: must not start with %q, which is kept for tasks", field, TaskSessionPrefix)
	}
	return nil
}
