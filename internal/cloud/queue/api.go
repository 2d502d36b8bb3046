package queue

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
)

// attribute is a message attribute on the wire.
type attribute struct {
	DataType    string
	StringValue string `json:",omitempty"`
}

type sendRequest struct {
	QueueUrl          string
	MessageBody       string
	DelaySeconds      int
	MessageAttributes map[string]attribute
}

func (s *Service) sendMessage(_ *http.Request, body []byte) (any, error) {
	var in sendRequest
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	if in.DelaySeconds != 0 {
		return nil, awsjson.Errorf("InvalidParameterValue", "the local queues do not delay messages")
	}
	attributes := map[string]string{}
	for k, a := range in.MessageAttributes {
		if a.DataType != "String" || a.StringValue == "" {
			return nil, awsjson.Errorf("InvalidParameterValue", "the local queues take attributes of the type String with a value: %s", k)
		}
		attributes[k] = a.StringValue
	}
	if len(attributes) > 10 {
		return nil, awsjson.Errorf("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [10].", len(attributes))
	}
	id, err := s.Send(in.QueueUrl, []byte(in.MessageBody), attributes)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"MessageId": id, "MD5OfMessageBody": md5Hex([]byte(in.MessageBody))}
	if len(attributes) > 0 {
		out["MD5OfMessageAttributes"] = attributesMD5(in.MessageAttributes)
	}
	return out, nil
}

func md5Hex(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is SQS's digest of attributes: name, type, a 1 for strings, value; each text with its length before it.
func attributesMD5(attributes map[string]attribute) string {
	var b []byte
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text(name)
		text(attributes[name].DataType)
		b = append(b, 1)
		text(attributes[name].StringValue)
	}
	return md5Hex(b)
}

// wanted reports whether a MessageAttributeNames list asks for the name: itself, All, .* or a prefix with .*
func wanted(name string, asked []string) bool {
	return slices.ContainsFunc(asked, func(a string) bool {
		prefix, ok := strings.CutSuffix(a, ".*")
		return a == name || a == "All" || (ok && strings.HasPrefix(name, prefix))
	})
}

func (s *Service) queueAttributes(_ *http.Request, body []byte) (any, error) {
	var in struct {
		QueueUrl       string
		AttributeNames []string
	}
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.line(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	hidden, now := 0, s.cfg.Now()
	for _, m := range l.messages {
		if m.hiddenUntil.After(now) {
			hidden++
		}
	}
	all := map[string]string{
		"QueueArn":                              l.spec.ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(len(l.messages) - hidden),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(hidden),
		"ApproximateNumberOfMessagesDelayed":    "0",
		"VisibilityTimeout":                     strconv.Itoa(int(visibility.Seconds())),
		"MaximumMessageSize":                    strconv.Itoa(MaxMessage),
	}
	maps.DeleteFunc(all, func(k, _ string) bool {
		return !slices.Contains(in.AttributeNames, k) && !slices.Contains(in.AttributeNames, "All")
	})
	return map[string]any{"Attributes": all}, nil
}

func (s *Service) queueURL(_ *http.Request, body []byte) (any, error) {
	var in struct{ QueueName string }
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.line(in.QueueName)
	if err != nil {
		return nil, err
	}
	return map[string]string{"QueueUrl": l.spec.URL}, nil
}

func (s *Service) listQueues(_ *http.Request, body []byte) (any, error) {
	var in struct{ QueueNamePrefix string }
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	urls := []string{}
	for _, name := range s.Names() {
		if strings.HasPrefix(name, in.QueueNamePrefix) && s.queues[name].spec.URL != "" {
			urls = append(urls, s.queues[name].spec.URL)
		}
	}
	return map[string]any{"QueueUrls": urls}, nil
}

func (s *Service) purgeQueue(_ *http.Request, body []byte) (any, error) {
	var in struct{ QueueUrl string }
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	l, err := s.line(in.QueueUrl)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	position := s.journal.Position()
	for _, m := range l.messages {
		position = s.append(record{Delete: m.ID, Queue: l.spec.Name})
	}
	l.messages = nil
	s.mu.Unlock()
	return struct{}{}, s.journal.Wait(position)
}
