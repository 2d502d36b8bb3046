package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// receipts is what senders were told of their messages, by delivery id.
type receipts struct {
	accepted, refused, unknown map[string]int
	deleted                    bool // somebody may have deleted the session
	broken                     error
}

// note keeps the outcome of one send. Only a message that asks for an idle session may be refused, and only because it is not; one of
// a deleted session is not found. Whoever hears nothing certain may send again.
func (r *receipts) note(delivery string, admission contract.Admission, err error) {
	if r.accepted == nil {
		r.accepted, r.refused, r.unknown = map[string]int{}, map[string]int{}, map[string]int{}
	}
	switch code := fault.CodeOf(err); {
	case err == nil:
		r.accepted[delivery]++
	case code == fault.Conflict && admission == contract.Reject && fault.ReasonOf(err) == "session_busy", code == fault.NotFound && r.deleted:
		r.refused[delivery]++
	case code == fault.Unavailable, code == fault.Internal: // no answer; a worker that died
		r.unknown[delivery]++
	default:
		r.broken = fmt.Errorf("delivery %s, %s, is refused: %w", delivery, admission, err)
	}
}

// check compares with what a session's log tells: each accepted message is in one prompt, one nudge or one notice; none is that was
// refused alone. Whether more than one tells of it is the log's own check.
func (r *receipts) check(events []contract.SessionEvent) error {
	if r.broken != nil {
		return r.broken
	}
	var told []string
	for _, e := range events {
		var d struct {
			DeliveryIDs []string
			DeliveryID  string
		}
		if e.Type != "message.received" && e.Type != "nudge.delivered" || json.Unmarshal(e.Data, &d) != nil {
			continue
		}
		told = append(told, append(d.DeliveryIDs, d.DeliveryID)...)
	}
	for delivery := range r.accepted {
		if !r.deleted && !slices.Contains(told, delivery) {
			return fmt.Errorf("delivery %s was accepted and is not told of", delivery)
		}
	}
	for delivery := range r.refused {
		if r.accepted[delivery]+r.unknown[delivery] == 0 && slices.Contains(told, delivery) {
			return fmt.Errorf("delivery %s was refused and is told of", delivery)
		}
	}
	return nil
}
