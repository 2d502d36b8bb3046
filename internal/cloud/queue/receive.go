package queue

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
)

// visibility is how long a received message stays hidden unless the receiver says otherwise.
const visibility = 30 * time.Second

type receiveRequest struct {
	QueueUrl                    string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int // seconds
	WaitTimeSeconds             int
	MessageAttributeNames       []string
	MessageSystemAttributeNames []string
	AttributeNames              []string // the older name of the one above
}

type receivedMessage struct {
	MessageId              string
	ReceiptHandle          string
	Body                   string
	MD5OfBody              string
	Attributes             map[string]string    `json:",omitempty"`
	MessageAttributes      map[string]attribute `json:",omitempty"`
	MD5OfMessageAttributes string               `json:",omitempty"`
}

func (s *Service) receiveMessage(r *http.Request, body []byte) (any, error) {
	var in receiveRequest
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	limit, hide := 1, visibility
	if in.MaxNumberOfMessages != nil {
		limit = *in.MaxNumberOfMessages
	}
	if in.VisibilityTimeout != nil {
		hide = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	if limit < 1 || limit > 10 || hide < 0 || hide > 12*time.Hour || in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20 {
		return nil, awsjson.Errorf("InvalidParameterValue", "MaxNumberOfMessages must be 1 to 10, VisibilityTimeout 0 to 43200, WaitTimeSeconds 0 to 20")
	}
	got, err := s.receive(r.Context(), in.QueueUrl, limit, hide, time.Duration(in.WaitTimeSeconds)*time.Second)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if len(got) > 0 {
		messages := make([]receivedMessage, len(got))
		for i, m := range got {
			messages[i] = m.shown(in)
		}
		out["Messages"] = messages
	}
	return out, nil
}

// receive takes up to limit visible messages and hides them; with none there it waits for the first one.
func (s *Service) receive(ctx context.Context, queue string, limit int, hide, wait time.Duration) ([]held, error) {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		l, err := s.line(queue)
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		got := l.take(limit, hide, s.cfg.Now())
		arrived := s.arrived
		s.mu.Unlock()
		if len(got) > 0 || wait == 0 {
			return got, nil
		}
		select {
		case <-arrived:
		case <-time.After(time.Second): // a hidden one may have come back
		case <-timeout.C:
			return nil, nil
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func (l *line) take(limit int, hide time.Duration, now time.Time) []held {
	var out []held
	for _, m := range l.messages {
		if len(out) == limit {
			break
		}
		if m.hiddenUntil.After(now) {
			continue
		}
		if m.received++; m.received == 1 {
			m.first = now
		}
		m.hiddenUntil, m.receipt = now.Add(hide), m.ID+"/"+uuid.NewString()
		out = append(out, *m)
	}
	return out
}

func (m held) shown(in receiveRequest) receivedMessage {
	out := receivedMessage{MessageId: m.ID, ReceiptHandle: m.receipt, Body: m.Body, MD5OfBody: md5Hex([]byte(m.Body))}
	system := map[string]string{
		"SentTimestamp":                    fmt.Sprint(m.Sent.UnixMilli()),
		"ApproximateReceiveCount":          strconv.Itoa(m.received),
		"ApproximateFirstReceiveTimestamp": fmt.Sprint(m.first.UnixMilli()),
	}
	asked := append(slices.Clone(in.AttributeNames), in.MessageSystemAttributeNames...)
	for k, v := range system {
		if slices.Contains(asked, k) || slices.Contains(asked, "All") {
			if out.Attributes == nil {
				out.Attributes = map[string]string{}
			}
			out.Attributes[k] = v
		}
	}
	for k, v := range m.Message.Attributes {
		if wanted(k, in.MessageAttributeNames) {
			if out.MessageAttributes == nil {
				out.MessageAttributes = map[string]attribute{}
			}
			out.MessageAttributes[k] = attribute{DataType: "String", StringValue: v}
		}
	}
	if out.MessageAttributes != nil {
		out.MD5OfMessageAttributes = attributesMD5(out.MessageAttributes)
	}
	return out
}

type receiptRequest struct {
	QueueUrl, ReceiptHandle string
	VisibilityTimeout       int
}

// deleteMessage removes the message of a receipt handle, an older receiver's too; one that is gone is no error.
func (s *Service) deleteMessage(_ *http.Request, body []byte) (any, error) {
	var in receiptRequest
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	l, m, err := s.byReceipt(in)
	position := s.journal.Position()
	if m != nil {
		l.messages = slices.DeleteFunc(l.messages, func(o *held) bool { return o == m })
		position = s.append(record{Delete: m.ID, Queue: l.spec.Name})
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.journal.Wait(position)
}

func (s *Service) changeVisibility(_ *http.Request, body []byte) (any, error) {
	var in receiptRequest
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m, err := s.byReceipt(in)
	if err != nil {
		return nil, err
	}
	if m == nil || m.receipt != in.ReceiptHandle {
		return nil, awsjson.Errorf("MessageNotInflight", "The specified message isn't in flight.")
	}
	m.hiddenUntil = s.cfg.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
	return struct{}{}, nil
}

// byReceipt finds the message a handle was given for: nil when it was deleted.
func (s *Service) byReceipt(in receiptRequest) (*line, *held, error) {
	l, err := s.line(in.QueueUrl)
	if err != nil {
		return nil, nil, err
	}
	const idLength = 36
	if len(in.ReceiptHandle) != 2*idLength+1 || in.ReceiptHandle[idLength] != '/' {
		return nil, nil, awsjson.Errorf("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}
	for _, m := range l.messages {
		if m.ID == in.ReceiptHandle[:idLength] {
			return l, m, nil
		}
	}
	return l, nil, nil
}
