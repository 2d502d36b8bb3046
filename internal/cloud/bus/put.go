package bus

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
)

// Limits of EventBridge.
const (
	maxEntries    = 10
	maxTotal      = 1 << 20 // bytes of all entries, which must stay below
	maxDetailType = 128     // characters
	maxNesting    = 1000
)

// Event is an event on the bus. Its JSON is what a function is called with.
type Event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       string          `json:"time"` // RFC 3339, whole seconds
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
	Bus        string          `json:"-"` // name
}

func (e Event) payload() []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)              // the detail arrives as it was put
	if err := enc.Encode(e); err != nil { // cannot be: the detail was checked when the event was put
		return []byte("{}")
	}
	return bytes.TrimSpace(buf.Bytes())
}

// Entry is one event to be put.
type Entry struct {
	Source, DetailType, Detail string
	Bus                        string    // name or ARN, empty: default
	Time                       time.Time // zero: now
	Resources                  []string
}

// Result is what became of an entry: an id, or a code and a message.
type Result struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

type putRequest struct {
	Entries    []wireEntry
	EndpointId string
}

type wireEntry struct {
	Source, DetailType, Detail, EventBusName string
	Time                                     *float64 // seconds since 1970
	Resources                                []string
	TraceHeader                              string
}

func (b *Bus) putEvents(_ *http.Request, body []byte) (any, error) {
	var in putRequest
	if err := awsjson.Decode(body, &in); err != nil {
		return nil, err
	}
	if in.EndpointId != "" {
		return nil, awsjson.Errorf("ValidationException", "the local bus has no global endpoints")
	}
	var entries []Entry
	for _, w := range in.Entries {
		e := Entry{Source: w.Source, DetailType: w.DetailType, Detail: w.Detail, Bus: w.EventBusName, Resources: w.Resources}
		if w.Time != nil {
			sec, frac := math.Modf(*w.Time)
			e.Time = time.Unix(int64(sec), int64(frac*1e9))
		}
		entries = append(entries, e)
	}
	results, err := b.Put(entries)
	if err != nil {
		return nil, err
	}
	failed := 0
	for _, r := range results {
		if r.ErrorCode != "" {
			failed++
		}
	}
	return struct {
		FailedEntryCount int
		Entries          []Result
	}{failed, results}, nil
}

// Put accepts the entries one by one, as PutEvents does: results stand in the order of the entries, and an error means
// that none was accepted. Accepted events are safe when it returns.
func (b *Bus) Put(entries []Entry) ([]Result, error) {
	if err := checkCall(entries); err != nil {
		return nil, err
	}
	results := make([]Result, len(entries))
	var accepted []Event
	for i, in := range entries {
		e := b.event(in)
		code, message := checkEntry(in)
		if code == "" && b.cfg.FailPut != nil {
			code, message = b.cfg.FailPut(e)
		}
		if code != "" {
			results[i] = Result{ErrorCode: code, ErrorMessage: message}
			continue
		}
		results[i] = Result{EventID: e.ID}
		accepted = append(accepted, e)
	}
	if err := b.accept(accepted); err != nil {
		b.cfg.Log.Error("events could not be kept", "error", err)
		return nil, err
	}
	return results, nil
}

func checkCall(entries []Entry) error {
	if len(entries) < 1 || len(entries) > maxEntries {
		return awsjson.Errorf("ValidationException", "1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length between 1 and %d", maxEntries)
	}
	total, complete := 0, false
	for _, e := range entries {
		total += e.size()
		complete = complete || (e.Source != "" && e.DetailType != "" && e.Detail != "")
	}
	if total >= maxTotal {
		return awsjson.Errorf("ValidationException", "Total size of the entries in the request is over the limit.")
	}
	if !complete {
		return awsjson.Errorf("ValidationException", "None of the entries has Source, DetailType and Detail.")
	}
	return nil
}

// size counts as EventBridge does: 14 bytes for a time, and the UTF-8 bytes of the texts.
func (e Entry) size() int {
	n := len(e.Source) + len(e.DetailType) + len(e.Detail)
	if !e.Time.IsZero() {
		n += 14
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

func checkEntry(e Entry) (code, message string) {
	for _, f := range []struct{ name, value string }{{"Source", e.Source}, {"DetailType", e.DetailType}, {"Detail", e.Detail}} {
		if f.value == "" {
			return "InvalidArgument", "Parameter " + f.name + " is not valid. Reason: " + f.name + " is a required argument."
		}
	}
	switch {
	case strings.HasPrefix(e.Source, "aws."):
		return "NotAuthorizedForSourceException", "Not authorized for the source."
	case utf8.RuneCountInString(e.DetailType) > maxDetailType:
		return "InvalidArgument", "Parameter DetailType is not valid. Reason: DetailType must have at most 128 characters."
	case !isObject(e.Detail):
		return "MalformedDetail", "Detail is malformed."
	}
	return "", ""
}

// isObject reports whether the text is one JSON object that nests no deeper than EventBridge reads.
func isObject(s string) bool {
	if !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") || !json.Valid([]byte(s)) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(s))
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return true // the end: it was valid as a whole
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxNesting {
				return false
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func (b *Bus) event(e Entry) Event {
	at, name := e.Time, e.Bus
	if at.IsZero() {
		at = b.cfg.Now()
	}
	if name == "" {
		name = "default"
	}
	if i := strings.LastIndex(name, "event-bus/"); i >= 0 {
		name = name[i+len("event-bus/"):]
	}
	return Event{
		Version: "0", ID: uuid.NewString(), DetailType: e.DetailType, Source: e.Source, Account: b.cfg.Stack.Account,
		Time: at.UTC().Format("2006-01-02T15:04:05Z"), Region: b.cfg.Stack.Region,
		Resources: append([]string{}, e.Resources...), Detail: json.RawMessage(e.Detail), Bus: name,
	}
}
