package channel

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// MaxBody is the largest webhook that is taken, in bytes.
const MaxBody = 256 * 1024

// Request is a webhook as it came.
type Request struct {
	Headers map[string]string // by lower-case name
	Body    []byte
	At      time.Time // when it came
}

// Name names a webhook that bears SignatureHeader by its time and its body: the same however its header is written. "" of any other.
func (r Request) Name() string {
	t, signatures := parse(r.Headers[signatureHeader])
	if t == "" || len(signatures) == 0 {
		return ""
	}
	return key.Hash(t + "\n" + string(r.Body))
}

// Decode reads the body as JSON. Unknown fields are ignored. Faults: Invalid.
func Decode[T any](r Request) (T, error) {
	var v T
	if err := json.Unmarshal(r.Body, &v); err != nil || !utf8.Valid(r.Body) {
		return v, fault.New(fault.Invalid, "body: is not the JSON that the channel takes")
	}
	return v, nil
}

// Signed verifies webhooks by SignatureHeader under a secret that both sides know: who has it acts as the principal.
func Signed(secret func(ctx context.Context) ([]byte, error), as contract.Principal) func(context.Context, Request) (contract.Principal, error) {
	return func(ctx context.Context, r Request) (contract.Principal, error) {
		key, err := secret(ctx)
		if err != nil {
			return contract.Principal{}, err
		}
		if err := Verify(key, r.Body, r.Headers[signatureHeader], r.At); err != nil {
			return contract.Principal{}, err
		}
		return as, nil
	}
}

// signatureHeader is SignatureHeader as it comes.
const signatureHeader = "steadfast-signature"

// Context is what a channel's functions run in. It is the call's context.Context.
type Context struct {
	context.Context
	Principal         contract.Principal // who sent the webhook, or owns the session of the event
	SessionID         string             // of an event
	ContinuationToken string             // of an event's session: the channel's own name of the conversation
	Reminders         schedule.Reminders // of Principal; nil where the host has none
	Log               *slog.Logger       // never nil

	send func(contract.Message) (contract.Delivery, error)
}

// NewContext returns c with send as the way its messages go, and with a log that discards everything if c has none.
func NewContext(c Context, send func(contract.Message) (contract.Delivery, error)) Context {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.send = send
	return c
}

// Send hands a message into the channel, as its Principal: to the session that it names, else to the one that its ContinuationToken
// leads to, which begins if there is none; in an event's handler without either to the event's session. Sent again with the same
// DeliveryID it gets the first receipt. A stop word stops the conversation instead; its receipt names no delivery. Faults: Invalid,
// Denied, NotFound, Conflict, Unavailable.
func (c Context) Send(m contract.Message) (contract.Delivery, error) {
	if c.send == nil {
		return contract.Delivery{}, fault.New(fault.Invalid, "nothing can be sent here")
	}
	return c.send(m)
}
