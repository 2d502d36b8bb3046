package attr

import "fmt"

// Refused is what the service says about a request that breaks its rules (ValidationException).
type Refused struct{ Message string }

// Error is the message.
func (r Refused) Error() string { return r.Message }

// Refuse makes a Refused from a format.
func Refuse(format string, args ...any) error { return Refused{fmt.Sprintf(format, args...)} }
