package bus

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// MaxDetailBytes is the size over which the largest field of a detail travels by reference. The service takes 1 MB; older limits
// were 256 KB, and it bills by 64 KB.
const MaxDetailBytes = 200 * 1024

// Referable gives the names of the fields of a detail that may travel as {field}Ref.
func Referable() []string { return []string{"output", "request", "payload", "message", "data"} }

// lasting are Details that can keep one past the time at which its event is sent.
type lasting interface {
	PutDetailUntil(ctx context.Context, id, text string, at time.Time) error
}

// Refer replaces the largest referable field of a detail over MaxDetailBytes, which is sent at a time; zero is now. Idempotent. Faults:
// Limit (it stays too large), Internal (no object), those of Details.
func (b Bus) Refer(ctx context.Context, detail []byte, at time.Time) ([]byte, error) {
	if len(detail) <= MaxDetailBytes {
		return detail, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(detail, &fields); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode an event")
	}
	largest := ""
	for _, name := range Referable() {
		if len(fields[name]) > len(fields[largest]) {
			largest = name
		}
	}
	if b.Details == nil || largest == "" {
		return nil, fault.New(fault.Limit, "an event's detail has %d bytes, the limit is %d", len(detail), MaxDetailBytes)
	}
	text := string(fields[largest])
	id := key.Hash(text)
	if !at.IsZero() { // kept longer than the same text that is sent now
		id = key.Hash(text + at.UTC().Format(time.RFC3339Nano))
	}
	delete(fields, largest)
	fields[largest+"Ref"], _ = json.Marshal(id)
	smaller, err := json.Marshal(fields)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode an event")
	}
	if len(smaller) > MaxDetailBytes {
		return nil, fault.New(fault.Limit, "an event's detail has %d bytes without its %s, the limit is %d", len(smaller), largest, MaxDetailBytes)
	}
	longer, ok := b.Details.(lasting)
	if at.IsZero() || !ok {
		return smaller, b.Details.PutDetail(ctx, id, text)
	}
	return smaller, longer.PutDetailUntil(ctx, id, text, at)
}
