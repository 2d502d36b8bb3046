package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
)

// Limits of EventBridge's PutEvents.
const (
	MaxEntries     = 10          // entries in one call
	MaxEntryBytes  = 1024 * 1024 // all entries of one call
	MaxDetailType  = 128         // characters
	MaxSourceBytes = 256
)

// Event is an accepted event, in the shape in which a rule hands it to a function.
type Event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`

	Bus string `json:"-"`
}

// JSON is the event as a function gets it.
func (e Event) JSON() json.RawMessage {
	out, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("fake: event %s: %v", e.ID, err))
	}
	return out
}

// Bus is EventBridge's PutEvents and the delivery of what it accepted. Events wait until Drain hands them on.
type Bus struct {
	World *World
	Now   func() time.Time // times of events; nil: always Start

	Names     []string                    // buses that exist; nil: all. Events for others are accepted and lost, as on AWS
	FailEntry func(e Event) (code string) // an error code refuses the entry, "" accepts it
	Duplicate func(e Event) (extra int)   // how many more times than once an event is delivered
	Drop      func(e Event) bool          // accepted and never delivered
	Order     func(a, b Event) int        // the order in which waiting events are delivered; nil: as they came
	Retries   int                         // deliveries after the first that failed; 0 means 2, as for a function, negative none

	mu       sync.Mutex
	accepted []Event
	waiting  []delivery
	dead     []Event
	lost     []Event
	runs     int
}

// delivery is an event on its way to a handler.
type delivery struct {
	event    Event
	failures int
}

// PutEvents accepts up to ten events. Single entries may be refused while the call succeeds: see FailedEntryCount.
func (b *Bus) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	out, err := through(ctx, b.World, "bus.PutEvents", entriesNote(in.Entries), func() (*eventbridge.PutEventsOutput, error) {
		if err := checkCall(in); err != nil {
			return nil, err
		}
		out := &eventbridge.PutEventsOutput{}
		for _, entry := range in.Entries {
			result := b.put(entry)
			if result.ErrorCode != nil {
				out.FailedEntryCount++
			}
			out.Entries = append(out.Entries, result)
		}
		return out, nil
	})
	if err != nil {
		return nil, serviceError("EventBridge", "PutEvents", err)
	}
	return out, nil
}

// serviceError gives an injected error the shape of a service without a modeled throttling error.
func serviceError(service, operation string, err error) error {
	switch {
	case errors.Is(err, ErrThrottled):
		err = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded", Fault: smithy.FaultClient}
	case errors.Is(err, ErrLost):
		err = lost{}
	}
	return &smithy.OperationError{ServiceID: service, OperationName: operation, Err: err}
}

func entriesNote(entries []types.PutEventsRequestEntry) string {
	var kinds []string
	for _, e := range entries {
		kinds = append(kinds, aws.ToString(e.DetailType))
	}
	return strings.Join(kinds, ", ")
}

// checkCall refuses a call as a whole.
func checkCall(in *eventbridge.PutEventsInput) error {
	refuse := func(format string, args ...any) error {
		return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
	}
	if n := len(in.Entries); n < 1 || n > MaxEntries {
		return refuse("Value at 'entries' failed to satisfy constraint: Member must have length between 1 and %d, it has %d", MaxEntries, n)
	}
	size := 0
	for _, e := range in.Entries {
		size += EntryBytes(e)
	}
	if size >= MaxEntryBytes {
		return refuse("Total size of the entries in the request is over the limit: %d bytes", size)
	}
	return nil
}

// EntryBytes is the size EventBridge counts for an entry.
func EntryBytes(e types.PutEventsRequestEntry) int {
	size := len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
	for _, r := range e.Resources {
		size += len(r)
	}
	if e.Time != nil {
		size += 14
	}
	return size
}

func (b *Bus) put(entry types.PutEventsRequestEntry) types.PutEventsResultEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	code, message := checkEntry(entry)
	event := b.event(entry)
	if code == "" && b.FailEntry != nil {
		code, message = b.FailEntry(event), "injected"
	}
	if code != "" {
		return types.PutEventsResultEntry{ErrorCode: &code, ErrorMessage: &message}
	}
	b.accept(event)
	return types.PutEventsResultEntry{EventId: aws.String(event.ID)}
}

func checkEntry(e types.PutEventsRequestEntry) (code, message string) {
	var object map[string]json.RawMessage
	source, detailType := aws.ToString(e.Source), aws.ToString(e.DetailType)
	switch {
	case source == "" || len(source) > MaxSourceBytes:
		return "InvalidArgument", "Parameter Source is not valid. Reason: Source is a required argument."
	case strings.HasPrefix(source, "aws."):
		return "NotAuthorizedForSourceException", "Not authorized for the source."
	case detailType == "" || len([]rune(detailType)) > MaxDetailType:
		return "InvalidArgument", "Parameter DetailType is not valid. Reason: DetailType must have 1 to 128 characters."
	case e.Detail == nil:
		return "InvalidArgument", "Parameter Detail is not valid. Reason: Detail is a required argument."
	case json.Unmarshal([]byte(*e.Detail), &object) != nil || object == nil:
		return "MalformedDetail", "Detail is malformed."
	}
	return "", ""
}

func (b *Bus) event(e types.PutEventsRequestEntry) Event {
	at := Start()
	if b.Now != nil {
		at = b.Now()
	}
	bus := aws.ToString(e.EventBusName)
	if bus == "" {
		bus = "default"
	}
	return Event{
		Version: "0", ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", len(b.accepted)+len(b.lost)+1), DetailType: aws.ToString(e.DetailType),
		Source: aws.ToString(e.Source), Account: "000000000000", Time: at.UTC().Truncate(time.Second), Region: "us-east-1",
		Resources: append([]string{}, e.Resources...), Detail: json.RawMessage(aws.ToString(e.Detail)), Bus: bus,
	}
}

// accept keeps the event for delivery. The caller holds the lock.
func (b *Bus) accept(e Event) {
	if b.Names != nil && !slices.Contains(b.Names, e.Bus) {
		b.lost = append(b.lost, e)
		return
	}
	b.accepted = append(b.accepted, e)
	if b.Drop != nil && b.Drop(e) {
		b.lost = append(b.lost, e)
		return
	}
	copies := 1
	if b.Duplicate != nil {
		copies += b.Duplicate(e)
	}
	for range copies {
		b.waiting = append(b.waiting, delivery{event: e})
	}
}
