// Package queue is the local SQS, as much of it as dead letters need: sending, receiving with a visibility timeout,
// deleting, and counting, over the JSON protocol (X-Amz-Target AmazonSQS.*) and from Go. With a data folder a message is
// on disk before Send returns, and a restart makes every message visible again. Standard queues only: no order, no
// duplicates detected, no redrive.
package queue

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Target is the prefix of the X-Amz-Target header that belongs to this service.
const Target = "AmazonSQS."

// MaxMessage is the most bytes of a message with its attributes.
const MaxMessage = 1 << 20

// Config says which queues there are and where they are kept.
type Config struct {
	Queues []sam.Queue
	Data   string           // folder of the journal, made if missing; empty: in memory
	Log    *slog.Logger     // nil: discarded
	Now    func() time.Time // default time.Now
}

// Message is one message as it was sent.
type Message struct {
	ID         string            `json:"id"`
	Queue      string            `json:"queue"` // name
	Body       string            `json:"body"`
	Attributes map[string]string `json:"attributes,omitempty"` // String attributes
	Sent       time.Time         `json:"sent"`
}

// Service holds the queues. It is an http.Handler, safe for concurrent use.
type Service struct {
	cfg     Config
	journal *journal.Journal

	mu      sync.Mutex
	queues  map[string]*line // by name
	arrived chan struct{}    // closed, and replaced, whenever a message is sent
}

// line is one queue.
type line struct {
	spec     sam.Queue
	messages []*held // oldest first
}

// held is a message with what the queue knows about its receivers.
type held struct {
	Message
	hiddenUntil time.Time
	receipt     string // of the last receiver
	received    int
	first       time.Time
}

// Open makes the queues and replays the journal. It fails on a damaged journal, naming the line.
func Open(cfg Config) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, queues: map[string]*line{}, arrived: make(chan struct{})}
	for _, q := range cfg.Queues {
		s.queues[q.Name] = &line{spec: q}
	}
	if cfg.Data == "" {
		return s, nil
	}
	j, err := journal.Open(cfg.Data, "sqs", s.replay)
	if err != nil {
		return nil, fmt.Errorf("open queues: %w", err)
	}
	s.journal = j
	return s, nil
}

// Close writes what is pending and ends; later sends fail when there is a data folder.
func (s *Service) Close() error { return s.journal.Close() }

// Send puts a message into the queue that an ARN, a URL or a name stands for, and returns its id once it is safe.
func (s *Service) Send(queue string, body []byte, attributes map[string]string) (string, error) {
	size := len(body)
	for k, v := range attributes {
		size += len(k) + len("String") + len(v)
	}
	if size > MaxMessage || len(body) == 0 {
		return "", awsjson.Errorf("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be between 1 and %d bytes.", MaxMessage)
	}
	m := Message{ID: uuid.NewString(), Body: string(body), Attributes: maps.Clone(attributes), Sent: s.cfg.Now().UTC()}
	s.mu.Lock()
	l, err := s.line(queue)
	if err != nil {
		s.mu.Unlock()
		return "", fmt.Errorf("send to %s: %w", queue, err)
	}
	m.Queue = l.spec.Name
	position := s.append(record{Put: &m})
	l.messages = append(l.messages, &held{Message: m})
	close(s.arrived)
	s.arrived = make(chan struct{})
	s.mu.Unlock()
	if err := s.journal.Wait(position); err != nil {
		return "", fmt.Errorf("send to %s: %w", m.Queue, err)
	}
	return m.ID, nil
}

// Names are the queues there are, sorted.
func (s *Service) Names() []string { return slices.Sorted(maps.Keys(s.queues)) }

// Messages lists what is in a queue (ARN, URL or name), oldest first, received ones that were not deleted too. It changes nothing.
func (s *Service) Messages(queue string) ([]Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.line(queue)
	if err != nil {
		return nil, err
	}
	out := []Message{}
	for _, m := range l.messages {
		out = append(out, m.Message)
	}
	return out, nil
}

func (s *Service) line(queue string) (*line, error) {
	name := queue[strings.LastIndexAny(queue, ":/")+1:]
	l, ok := s.queues[name]
	if !ok {
		return nil, &awsjson.Error{Code: "QueueDoesNotExist", Message: "The specified queue does not exist.", QueryCode: "AWS.SimpleQueueService.NonExistentQueue"}
	}
	return l, nil
}

// record is one change of the journal.
type record struct {
	Put    *Message `json:"put,omitempty"`
	Delete string   `json:"delete,omitempty"` // message id
	Queue  string   `json:"queue,omitempty"`  // of Delete
}

func (s *Service) append(r record) int64 {
	if s.journal == nil {
		return 0
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("queue: a message of strings cannot be written as JSON: %v", err))
	}
	position := s.journal.Append(b)
	if s.journal.Large() {
		if err := s.journal.Compact(s.emitState); err != nil {
			s.cfg.Log.Error("sqs journal stays as it is", "error", err)
		}
	}
	return position
}

func (s *Service) emitState(emit func([]byte) error) error {
	for _, l := range s.queues {
		for _, m := range l.messages {
			b, err := json.Marshal(record{Put: &m.Message})
			if err != nil {
				return err
			}
			if err := emit(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// replay keeps queues that the template has dropped, so that no dead letter is lost by a rename.
func (s *Service) replay(b []byte) error {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	name := r.Queue
	if r.Put != nil {
		name = r.Put.Queue
	}
	l, ok := s.queues[name]
	if !ok {
		l = &line{spec: sam.Queue{Name: name}}
		s.queues[name] = l
	}
	if r.Put != nil {
		l.messages = append(l.messages, &held{Message: *r.Put})
	}
	l.messages = slices.DeleteFunc(l.messages, func(m *held) bool { return m.ID == r.Delete })
	return nil
}

// ServeHTTP answers one call of the JSON protocol.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := awsjson.Protocol{ContentType: "application/x-amz-json-1.0", Namespace: "com.amazonaws.sqs", MaxBody: 8 << 20}
	p.Serve(w, r, map[string]awsjson.Operation{
		"SendMessage":             s.sendMessage,
		"ReceiveMessage":          s.receiveMessage,
		"DeleteMessage":           s.deleteMessage,
		"ChangeMessageVisibility": s.changeVisibility,
		"GetQueueAttributes":      s.queueAttributes,
		"GetQueueUrl":             s.queueURL,
		"ListQueues":              s.listQueues,
		"PurgeQueue":              s.purgeQueue,
	})
}
