package flow

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Receive takes a message in through a channel and wakes the conversation's worker. It never waits for the model.
type Receive struct{ Edges }

// ReceiveIn is a message of somebody whom the channel has verified, or who is the program itself.
type ReceiveIn struct {
	Channel   string
	Admission contract.Admission // of a message that names none; "": Coalesce
	Caller    contract.Principal
	Message   contract.Message
}

// Do takes the message in. The same DeliveryID again gets the first receipt. A conversation belongs to whoever began it. Faults: Invalid,
// Denied, NotFound, Conflict (task_session, session_busy), Unavailable.
func (f Receive) Do(ctx context.Context, in ReceiveIn) (contract.Delivery, error) {
	m := in.Message
	if err := channel.CheckID(in.Channel); err != nil {
		return contract.Delivery{}, err
	}
	if m.DeliveryID == "" {
		m.DeliveryID = "dlv_" + f.NewID()
	}
	for _, a := range []contract.Admission{in.Admission, contract.Coalesce} {
		if m.Admission == "" {
			m.Admission = a
		}
	}
	in.Message = m
	if err := in.admit("any").validate(); err != nil {
		return contract.Delivery{}, err
	}
	switch {
	case m.SessionID != "" && m.ContinuationToken != "":
		return contract.Delivery{}, fault.New(fault.Invalid, "a session or a continuation token is due, not both")
	case m.SessionID != "":
		return f.named(ctx, in)
	case m.ContinuationToken != "":
		if err := contract.CheckID("continuationToken", m.ContinuationToken); err != nil {
			return contract.Delivery{}, err
		}
		return racing(ctx, func() (contract.Delivery, bool, error) { return f.continued(ctx, in) })
	}
	return racing(ctx, func() (contract.Delivery, bool, error) { return f.begun(ctx, in) })
}

func (in ReceiveIn) admit(sessionID string) AdmitIn {
	m := in.Message
	return AdmitIn{SessionID: sessionID, Caller: in.Caller, Text: m.Text, Admission: m.Admission, DeliveryID: m.DeliveryID, Files: m.Files}
}

// named admits the message to a conversation that is there.
func (f Receive) named(ctx context.Context, in ReceiveIn) (contract.Delivery, error) {
	s, err := f.Table.State(ctx, in.Message.SessionID)
	if err == nil && s.Expired(f.Now()) && !s.Work(f.Now()) {
		err = fault.New(fault.NotFound, "no such session")
	}
	if err != nil {
		return contract.Delivery{}, err
	}
	return Admit(f).Do(ctx, in.admit(in.Message.SessionID))
}

// continued goes on where the channel's key leads, or begins a conversation that it leads to from now on.
func (f Receive) continued(ctx context.Context, in ReceiveIn) (contract.Delivery, bool, error) {
	token := in.Message.ContinuationToken
	there, err := f.Table.Continuation(ctx, in.Channel, token)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return contract.Delivery{}, false, err
	}
	if err == nil {
		in.Message.SessionID = there.SessionID
		receipt, err := f.named(ctx, in)
		receipt.ContinuationToken = token
		if err == nil {
			f.keep(ctx, in.Channel, token, there)
		}
		if !fault.Is(err, fault.NotFound) { // else it was deleted, or its time is over
			return receipt, true, err
		}
	}
	id, now := f.NewID(), f.Now()
	return f.begin(ctx, in, id, f.Table.PutContinuation(in.Channel, token, there, store.Continuation{SessionID: id, ExpiresAt: expires(now)}))
}

// keep lets a channel's key lead to a conversation that goes on for as long as it goes on.
func (f Receive) keep(ctx context.Context, channel, token string, there store.Continuation) {
	if time.Unix(there.ExpiresAt, 0).Sub(f.Now()) > session.RowLife/2 {
		return
	}
	longer := store.Continuation{SessionID: there.SessionID, ExpiresAt: expires(f.Now())}
	err := f.Table.Commit(ctx, f.Table.PutContinuation(channel, token, there, longer))
	if err != nil && !fault.Is(err, fault.Conflict) {
		f.log().WarnContext(ctx, "a channel's key is not kept longer, the next message will see to it", "session", there.SessionID, "error", err)
	}
}

// begun is a conversation of its own for the message, whose id the delivery makes, so that it is one however often it comes.
func (f Receive) begun(ctx context.Context, in ReceiveIn) (contract.Delivery, bool, error) {
	id := "channel-" + in.Channel + "-" + key.Hash(in.Message.DeliveryID)
	s, err := f.Table.State(ctx, id)
	switch {
	case err == nil && s.Principal == in.Caller:
		receipt, err := Admit(f).Do(ctx, in.admit(id))
		return receipt, true, err
	case err == nil: // somebody else has chosen this id
		id += "-" + f.NewID()
	case !fault.Is(err, fault.NotFound):
		return contract.Delivery{}, false, err
	}
	return f.begin(ctx, in, id)
}

// begin makes a conversation with its first message. settled is false when somebody else was faster.
func (f Receive) begin(ctx context.Context, in ReceiveIn, id string, more ...store.Write) (contract.Delivery, bool, error) {
	now := f.Now()
	s := session.New(id, session.Chat, in.Caller, now)
	s.Channel, s.ChannelKey, s.CreatedBy = in.Channel, in.Message.ContinuationToken, in.Message.DeliveryID
	receipt := contract.Delivery{DeliveryID: in.Message.DeliveryID, SessionID: id, ContinuationToken: in.Message.ContinuationToken}
	writes := append(f.first(s, receipt, in.Message, now), more...)
	err := f.Table.Commit(ctx, append(writes, store.PutListing(s, ""))...)
	if fault.Is(err, fault.Conflict) {
		return contract.Delivery{}, false, nil
	}
	if err != nil {
		return contract.Delivery{}, false, err
	}
	f.wake(ctx, id)
	return receipt, true, nil
}

// first is the writes of a session that begins with a message.
func (e Edges) first(s session.State, receipt contract.Delivery, m contract.Message, now time.Time) []store.Write {
	s = s.With(now)
	return []store.Write{
		store.NewState(s),
		store.NewEvents(s.SessionID, session.Me{}, []contract.SessionEvent{started(s, now)}, expires(now)),
		store.NewDelivery(receipt, now.Unix(), now.Add(deliveryLife).Unix()),
		store.NewMessage(s.SessionID, store.Message{
			Number: s.Admitted, DeliveryID: m.DeliveryID, Text: m.Text, Admission: m.Admission, At: now.UnixMilli(), Files: m.Files,
		}),
	}
}

// firingDelivery names the n-th message of a firing.
func firingDelivery(scheduleID string, at time.Time, n int) string {
	return fmt.Sprintf("schedule:%s:%d:%d", scheduleID, at.UnixMilli(), n)
}
