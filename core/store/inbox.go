package store

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// Message is an admitted message that waits in the inbox. It never expires.
type Message struct {
	Number     int64              `dynamodbav:"number"`
	DeliveryID string             `dynamodbav:"deliveryId"`
	Text       string             `dynamodbav:"text"`
	Admission  contract.Admission `dynamodbav:"admission"`
	At         int64              `dynamodbav:"at"` // ms
	Task       *session.TaskRef   `dynamodbav:"task,omitempty"`
	Files      map[string]string  `dynamodbav:"files,omitempty"` // what it brings for the workspace, by path
}

// Waiting is the message as the rules see it.
func (m Message) Waiting() session.Waiting {
	bytes := len(m.Text)
	for path, content := range m.Files {
		bytes += len(path) + len(content)
	}
	return session.Waiting{Number: m.Number, Bytes: bytes, Task: m.Task}
}

// NewMessage is the write of an admitted message.
func NewMessage(sessionID string, m Message) Write {
	return create(key.Inbox(sessionID, m.Number), "InboxMessage", m)
}

// TakeMessage is the removal of a message from the inbox, refused if it is gone.
func TakeMessage(sessionID string, number int64) Write {
	return deleteExisting(key.Inbox(sessionID, number))
}

// inboxBytes is about how much of an inbox is read at once: more no turn takes.
const inboxBytes = 1 << 20

// Inbox reads the messages from one number to another, both included, in order; of more than about a megabyte the first. Faults:
// Unavailable.
func (t Table) Inbox(ctx context.Context, sessionID string, from, to int64) ([]Message, error) {
	var list []Message
	bytes := 0
	if to < from {
		return nil, nil
	}
	s := scope{pk: key.SessionPK(sessionID), keys: between(key.Inbox("", from).SK, key.Inbox("", to).SK)}
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, err
		}
		var m Message
		if err := decode(row, &m); err != nil {
			return nil, err
		}
		list = append(list, m)
		if bytes += m.Waiting().Bytes; bytes > inboxBytes {
			break
		}
	}
	return list, nil
}

// receipt is the DELIVERY row: the answer that the first send got.
type receipt struct {
	DeliveryID        string `dynamodbav:"deliveryId"`
	SessionID         string `dynamodbav:"sessionId"`
	ContinuationToken string `dynamodbav:"continuationToken,omitempty"`
	ExpiresAt         int64  `dynamodbav:"expiresAt"`
}

// Delivery reads the answer to an earlier send of the same delivery. Faults: NotFound, Unavailable.
func (t Table) Delivery(ctx context.Context, sessionID, deliveryID string) (contract.Delivery, error) {
	var r receipt
	found, err := t.getInto(ctx, key.Delivery(sessionID, deliveryID), &r)
	if err == nil && (!found || r.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no such delivery")
	}
	return contract.Delivery{DeliveryID: r.DeliveryID, SessionID: r.SessionID, ContinuationToken: r.ContinuationToken}, err
}

// NewDelivery is the write of a send's answer, kept until expires, in seconds.
func NewDelivery(d contract.Delivery, now, expires int64) Write {
	k := key.Delivery(d.SessionID, d.DeliveryID)
	row, err := encode(k, "Delivery", receipt{d.DeliveryID, d.SessionID, d.ContinuationToken, expires})
	c := absentOrExpired(now)
	return Write{key: k, put: row, cond: &c, err: err}
}

// RefusedDelivery reports whether an earlier send of the same delivery refused a Commit.
func RefusedDelivery(err error, sessionID, deliveryID string) bool {
	return RefusedBy(err, key.Delivery(sessionID, deliveryID))
}
