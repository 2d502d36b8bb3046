// Package fault gives every error of Steadfast a code that says what the caller can do about it. The edge turns
// codes into replies; nothing inside knows a status code. An error without a code counts as Internal: its text is for
// the log, never for a caller.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure an error is.
type Code string

// The codes. Only Unavailable is worth trying again as it is.
const (
	Invalid     Code = "invalid"     // the input breaks a rule; the text names the field and the limit
	NotFound    Code = "not_found"   // there is no such thing, or the caller may not know of it
	Conflict    Code = "conflict"    // the state has moved on: read again before trying again
	Denied      Code = "denied"      // the caller is known and may not
	Limit       Code = "limit"       // a size, budget or number is used up
	Unavailable Code = "unavailable" // a service did not answer or asked to wait: try again later
	Internal    Code = "internal"    // a defect or a broken assumption; the text stays in the log
)

// Error is an error with a code. Reason is a short stable word for programs, for example "stale_token"; it may be empty.
type Error struct {
	Code    Code
	Reason  string
	Message string
	cause   error
}

// New makes an error with code. The message is for people and may be shown to the caller unless code is Internal.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap gives err a code and says what was being done. The cause stays reachable by errors.Is and errors.As. A nil err
// gives nil.
func Wrap(code Code, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), cause: err}
}

// Because returns a copy of e with the given reason.
func (e *Error) Because(reason string) *Error {
	c := *e
	c.Reason = reason
	return &c
}

// Error is the message and the cause's.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.cause.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf gives the code of the outermost coded error in err's chain. nil has no code (""), a passed deadline is
// Unavailable, anything else Internal.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Unavailable
	}
	return Internal
}

// ReasonOf gives the reason of the outermost coded error that has one, or "".
func ReasonOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Reason != "" {
			return e.Reason
		}
		err = e.cause
	}
	return ""
}

// Is reports whether err has the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// Retryable reports whether the same call may succeed later.
func Retryable(err error) bool { return Is(err, Unavailable) }

// Public gives the text a caller may see: the message of the outermost coded error without its cause, and a fixed
// sentence for Internal.
func Public(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Code != Internal {
		return e.Message
	}
	if CodeOf(err) == Unavailable {
		return "the service is not available, try again"
	}
	return "something went wrong"
}
