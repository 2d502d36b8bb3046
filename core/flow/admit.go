package flow

import (
	"context"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

// deliveryLife is how long a send stays idempotent.
const deliveryLife = 7 * 24 * time.Hour

// Admit takes a message into a session and wakes its worker. It never waits for the model.
type Admit struct{ Edges }

// AdmitIn is a message of a verified caller.
type AdmitIn struct {
	SessionID  string
	Caller     contract.Principal
	Text       string
	Admission  contract.Admission // default Preempt
	DeliveryID string             // "": one is made
	Token      *string            // the HTTP continuation token, "" for the first message of a session; nil on other ways in

	Files map[string]string // texts for the session's workspace, by path; they are there before the model is asked

	with []store.Write // what is to happen in the same moment or not at all
}

// Do admits the message. The same DeliveryID again gets the first receipt, before its token is judged. A session that does not
// exist begins, and the caller owns it, unless a token is presented: then it is NotFound. Without one over HTTP only the first message
// of a session is taken, for there is no earlier one whose answer had a token. Faults: Invalid, Denied, NotFound, Conflict (task_session,
// stale_token, session_busy), Unavailable.
func (f Admit) Do(ctx context.Context, in AdmitIn) (contract.Delivery, error) {
	if in.Admission == "" {
		in.Admission = contract.Preempt
	}
	if in.DeliveryID == "" {
		in.DeliveryID = "dlv_" + f.NewID()
	}
	if err := in.validate(); err != nil {
		return contract.Delivery{}, err
	}
	return racing(ctx, func() (contract.Delivery, bool, error) { return f.try(ctx, in) })
}

func (in AdmitIn) validate() error {
	text, session, delivery := "request", "session_id", "delivery_id"
	if in.Token != nil { // over HTTP
		text, session, delivery = "message", "sessionId", "deliveryId"
	}
	switch {
	case strings.TrimSpace(in.Text) == "":
		return fault.New(fault.Invalid, "%s: must not be empty", text)
	case len(in.Text) > contract.MaxMessageBytes:
		return fault.New(fault.Invalid, "%s: %d bytes, the limit is %d", text, len(in.Text), contract.MaxMessageBytes)
	case in.Admission != contract.Preempt && in.Admission != contract.Coalesce && in.Admission != contract.Reject:
		return fault.New(fault.Invalid, `admission: must be "preempt", "coalesce" or "reject"`)
	}
	if err := contract.CheckSend(in.Text, in.Files); err != nil {
		return err
	}
	if err := contract.CheckID(session, in.SessionID); err != nil {
		return err
	}
	return contract.CheckID(delivery, in.DeliveryID)
}

func (f Admit) try(ctx context.Context, in AdmitIn) (receipt contract.Delivery, settled bool, err error) {
	s, err := f.Table.State(ctx, in.SessionID)
	switch {
	case fault.Is(err, fault.NotFound) && (in.Token == nil || *in.Token == ""):
		return receipt, false, f.adopt(ctx, in.SessionID, in.Caller)
	case fault.Is(err, fault.NotFound): // its token is made here, so the one presented will be stale, and the right one can be read
		return receipt, false, f.adoptConfigured(ctx, SessionOf{in.SessionID, in.Caller})
	case err != nil:
		return receipt, false, err
	case s.Principal != in.Caller:
		return receipt, false, fault.New(fault.Denied, "not your session")
	case s.Expired(f.Now()) && s.Phase != session.Deleted && !s.Work(f.Now()):
		return receipt, false, f.revive(ctx, in.SessionID)
	}
	now := f.Now()
	token := ""
	if in.Token != nil {
		token = f.NewID()
		if *in.Token == "" {
			if s.Admitted > 0 && s.Phase != session.Deleted {
				return f.known(ctx, in, fault.New(fault.Invalid, "continuationToken: must not be empty after a session's first message"))
			}
			in.Token = &s.Token
		}
	}
	change, err := s.Admit(in.Admission, in.Token, token, now)
	if err != nil {
		return f.known(ctx, in, err)
	}
	receipt = contract.Delivery{DeliveryID: in.DeliveryID, SessionID: in.SessionID, ContinuationToken: token}
	message := store.Message{Number: change.To.Admitted, DeliveryID: in.DeliveryID, Text: in.Text, Admission: in.Admission, At: now.UnixMilli(), Files: in.Files}
	writes := append(in.with, store.NewDelivery(receipt, now.Unix(), now.Add(deliveryLife).Unix()), store.NewMessage(in.SessionID, message), store.ChangeState(change))
	err = f.Table.Commit(ctx, writes...)
	switch {
	case store.RefusedDelivery(err, in.SessionID, in.DeliveryID):
		return f.known(ctx, in, nil)
	case fault.Is(err, fault.Conflict):
		return receipt, false, nil // the state moved: read it again
	case err != nil:
		return receipt, false, err
	}
	f.wake(ctx, in.SessionID)
	return receipt, true, nil
}

// known answers a delivery that was taken before; refusal is what a new one would get.
func (f Admit) known(ctx context.Context, in AdmitIn, refusal error) (contract.Delivery, bool, error) {
	receipt, err := f.Table.Delivery(ctx, in.SessionID, in.DeliveryID)
	switch {
	case err == nil:
		f.wake(ctx, in.SessionID) // the first send may have died before it did
		return receipt, true, nil
	case fault.Is(err, fault.NotFound) && refusal != nil:
		return receipt, false, refusal
	case fault.Is(err, fault.NotFound):
		return receipt, false, nil
	}
	return receipt, false, err
}
