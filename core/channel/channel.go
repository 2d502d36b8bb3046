// Package channel says what a channel is: a way in for messages that are not typed into a chat, from a program or a service. A channel
// has keys of its own for its conversations, such as pr:owner/repo#1.
package channel

import (
	"regexp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Channel is a way in.
type Channel struct {
	ID        string             // 1 to 64 lower-case letters, digits, - and _
	Admission contract.Admission // of its messages; default contract.Coalesce
}

// Inbound gives the id and the admission of messages that come in.
func (c Channel) Inbound() (id string, admission contract.Admission) {
	if c.Admission == "" {
		return c.ID, contract.Coalesce
	}
	return c.ID, c.Admission
}

// CheckID reports whether id may be a channel's. Faults: Invalid.
func CheckID(id string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`).MatchString(id) {
		return fault.New(fault.Invalid, "channel: an id is 1 to 64 lower-case letters, digits, - and _, and begins with one of the first two")
	}
	return nil
}
