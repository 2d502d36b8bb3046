package flow

import (
	"cmp"
	"context"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// TakeWebhook takes in a webhook of a channel: it verifies the sender and lets the channel's Route send the messages it holds.
type TakeWebhook struct {
	Edges
	Channels channel.Set
	Alarms   Alarms // of the reminders that channels make; nil: they make none
}

// WebhookIn is a webhook as it came, for the channel named in its path.
type WebhookIn struct {
	Channel string
	channel.Request
}

// WebhookOut lists the receipts of what the channel sent.
type WebhookOut struct {
	Deliveries []contract.Delivery `json:"deliveries"`
}

// Do takes the webhook in. Nothing of an unverified one is stored. Faults: Invalid, NotFound, Denied (bad_signature, old_signature),
// Conflict, Unavailable.
func (f TakeWebhook) Do(ctx context.Context, in WebhookIn) (WebhookOut, error) {
	out := WebhookOut{Deliveries: []contract.Delivery{}}
	c, ok := f.Channels.Get(in.Channel)
	if !ok || c.Verify == nil {
		return out, fault.New(fault.NotFound, "no such channel")
	}
	if len(in.Body) > channel.MaxBody {
		return out, fault.New(fault.Invalid, "body: %d bytes, the limit is %d", len(in.Body), channel.MaxBody)
	}
	in.At = f.Now()
	who, err := c.Verify(ctx, in.Request)
	if err != nil {
		return out, err
	}
	name := cmp.Or(in.Name(), f.NewID())
	sends := 0
	from := channel.Context{Context: ctx, Principal: who, Log: f.log()}
	if f.Alarms != nil {
		from.Reminders = HostReminders{Reminders{Edges: f.Edges, Alarms: f.Alarms}, who}
	}
	cc := channel.NewContext(from, func(m contract.Message) (contract.Delivery, error) {
		sends++
		if m.DeliveryID == "" {
			m.DeliveryID = fmt.Sprintf("hook:%s:%d", name, sends)
		}
		receipt, err := f.say(ctx, c, who, m)
		if err == nil {
			out.Deliveries = append(out.Deliveries, receipt)
		}
		return receipt, err
	})
	return out, c.Route(cc, in.Request)
}

// say hands a message into a channel, or stops its conversation if it is a stop word.
func (e Edges) say(ctx context.Context, c channel.Channel, who contract.Principal, m contract.Message) (contract.Delivery, error) {
	id, admission := c.Inbound()
	if !c.Stops(m.Text) {
		return Receive{e}.Do(ctx, ReceiveIn{Channel: id, Admission: admission, Caller: who, Message: m})
	}
	if m.SessionID == "" {
		there, err := e.Table.Continuation(ctx, id, m.ContinuationToken)
		if fault.Is(err, fault.NotFound) {
			return contract.Delivery{ContinuationToken: m.ContinuationToken}, nil // nothing to stop
		}
		if err != nil {
			return contract.Delivery{}, err
		}
		m.SessionID = there.SessionID
	}
	_, err := Stop{e}.Do(ctx, StopIn{SessionID: m.SessionID, Caller: who, Clear: true, DeliveryID: m.DeliveryID})
	return contract.Delivery{SessionID: m.SessionID, ContinuationToken: m.ContinuationToken}, err
}

// SendFromEvent takes in a message that a first-party app sent over the bus.
type SendFromEvent struct {
	Edges
	Channels channel.Set // for stop words and admission; a channel that is not among them is taken with the defaults
}

// Do takes the message in. envelopeID serves as the delivery id of a message that has none. Faults: Invalid, Denied, NotFound, Conflict
// (task_session, session_busy), Unavailable.
func (f SendFromEvent) Do(ctx context.Context, d contract.SendAgentMessage, envelopeID string) error {
	if err := checkPrincipal(d.Principal); err != nil {
		return err
	}
	c, ok := f.Channels.Get(d.Channel)
	if !ok {
		c = channel.Channel{ID: d.Channel}
	}
	if d.DeliveryID == "" {
		d.DeliveryID = "evt:" + envelopeID
	}
	_, err := f.say(ctx, c, d.Principal, contract.Message{
		Text: d.Message, SessionID: d.SessionID, ContinuationToken: d.ContinuationToken, DeliveryID: d.DeliveryID, Admission: d.Admission, Files: d.Files,
	})
	return err
}

func checkPrincipal(p contract.Principal) error {
	if p.Type != contract.UserPrincipal && p.Type != contract.SystemPrincipal {
		return fault.New(fault.Invalid, "principal.type: must be user or system")
	}
	return contract.CheckID("principal.id", p.ID)
}
