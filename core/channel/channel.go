package channel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Channel is a way in and out. Only ID is required; one with nothing else is for the program's own use, as by schedules.
type Channel struct {
	ID        string             // 1 to 64 lower-case letters, digits, - and _
	Admission contract.Admission // of its messages; default contract.Coalesce

	// StopWords are messages that stop the turn and drop what waits instead of joining the conversation, when they are all that was
	// said; case and spaces around do not count.
	StopWords []string

	// Verify says who sent a webhook; the principal owns the conversations that begin with it. Faults: Denied. nil: the channel takes
	// no webhooks. Signed makes one.
	Verify func(ctx context.Context, r Request) (contract.Principal, error)

	// Route reads a webhook that was verified and sends what it says. It may run again for the same webhook: what it sends is known by
	// its DeliveryID, or, without one, by the time and body that SignatureHeader signs and its place among the sends; what neither names
	// is a message of its own each time. A fault of it is the answer.
	Route func(ctx Context, r Request) error

	// Events are told what happens in the channel's sessions.
	Events EventHandlers
}

// Inbound gives the id and the admission of messages that come in.
func (c Channel) Inbound() (id string, admission contract.Admission) {
	if c.Admission == "" {
		return c.ID, contract.Coalesce
	}
	return c.ID, c.Admission
}

// Stops reports whether a message is a stop word.
func (c Channel) Stops(text string) bool {
	return slices.ContainsFunc(c.StopWords, func(w string) bool { return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(w)) })
}

// CheckID reports whether id may be a channel's. Faults: Invalid.
func CheckID(id string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`).MatchString(id) {
		return fault.New(fault.Invalid, "channel: an id is 1 to 64 lower-case letters, digits, - and _, and begins with one of the first two")
	}
	return nil
}

// Set is the channels of a program by their ids. The zero value has none.
type Set struct{ byID map[string]Channel }

// NewSet makes a set. Faults: Invalid, telling everything that is wrong.
func NewSet(channels ...Channel) (Set, error) {
	s := Set{map[string]Channel{}}
	var problems []error
	for _, c := range channels {
		if err := CheckID(c.ID); err != nil {
			problems = append(problems, fmt.Errorf("%q: %w", c.ID, err))
		}
		if _, taken := s.byID[c.ID]; taken {
			problems = append(problems, fmt.Errorf("%q: the id is taken", c.ID))
		}
		if (c.Verify == nil) != (c.Route == nil) {
			problems = append(problems, fmt.Errorf("%q: Verify and Route go together", c.ID))
		}
		if slices.ContainsFunc(c.StopWords, func(w string) bool { return strings.TrimSpace(w) == "" }) {
			problems = append(problems, fmt.Errorf("%q: an empty stop word", c.ID))
		}
		s.byID[c.ID] = c
	}
	if len(problems) > 0 {
		return Set{}, fault.Wrap(fault.Invalid, errors.Join(problems...), "channels")
	}
	return s, nil
}

// Get gives a channel.
func (s Set) Get(id string) (Channel, bool) {
	c, ok := s.byID[id]
	return c, ok
}
