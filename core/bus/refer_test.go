package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// kept is a place for details: id to text.
type kept map[string]string

func (k kept) PutDetail(_ context.Context, id, text string) error {
	k[id] = text
	return nil
}

type noPlace struct{}

func (noPlace) PutDetail(context.Context, string, string) error {
	return fault.New(fault.Unavailable, "the table does not answer")
}

const kb = 1024

func TestLargeDetailsTravelByReference(t *testing.T) {
	tests := []struct {
		name   string
		sizes  map[string]int // of the fields
		refer  string         // the field that becomes a reference; "": none
		code   fault.Code
		nobody bool // nobody keeps details
	}{
		{name: "small", sizes: map[string]int{"output": 100}},
		{name: "at the limit", sizes: map[string]int{"output": bus.MaxDetailBytes - len(`{"output":"","taskId":"t"}`)}},
		{name: "a byte over", sizes: map[string]int{"output": bus.MaxDetailBytes - len(`{"output":"","taskId":"t"}`) + 1}, refer: "output"},
		{name: "the largest alone", sizes: map[string]int{"request": 120 * kb, "payload": 130 * kb, "message": 10 * kb}, refer: "payload"},
		{name: "each name", sizes: map[string]int{"message": 300 * kb}, refer: "message"},
		{name: "request", sizes: map[string]int{"request": 300 * kb}, refer: "request"},
		{name: "a larger field that may not travel so stays", sizes: map[string]int{"systemPrompt": 150 * kb, "request": 100 * kb}, refer: "request"},
		{name: "still too large", sizes: map[string]int{"systemPrompt": 250 * kb, "request": 10 * kb}, code: fault.Limit},
		{name: "two that are both too large", sizes: map[string]int{"payload": 250 * kb, "request": 250 * kb}, code: fault.Limit},
		{name: "no field that may", sizes: map[string]int{"text": 300 * kb}, code: fault.Limit},
		{name: "nobody keeps it", sizes: map[string]int{"output": 300 * kb}, code: fault.Limit, nobody: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			detail := map[string]string{"taskId": "t"}
			for name, size := range tt.sizes {
				detail[name] = strings.Repeat("x", size)
			}
			s, place := &fake.Bus{}, kept{}
			b := bus.Bus{EventBridge: s, Details: place}
			if tt.nobody {
				b.Details = nil
			}
			err := b.Publish(t.Context(), bus.Event{DetailType: "Big", Detail: detail})
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("Publish = %v, want %q", err, tt.code)
			}
			if tt.code != "" {
				if len(place)+len(s.Events()) != 0 {
					t.Errorf("%d details kept and %d events sent, want nothing done", len(place), len(s.Events()))
				}
				return
			}
			checkReference(t, detail, tt.refer, s.Events()[0].Detail, place)
		})
	}
}

// checkReference compares what was sent with the detail whose field travels by reference.
func checkReference(t *testing.T, detail map[string]string, field string, sent json.RawMessage, place kept) {
	t.Helper()
	var got map[string]string
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if field != "" {
		var text string
		if err := json.Unmarshal([]byte(place[got[field+"Ref"]]), &text); err != nil || text != detail[field] {
			t.Errorf("what is kept of %s has %d bytes (%v), want %d", field, len(text), err, len(detail[field]))
		}
		delete(got, field+"Ref")
		delete(detail, field)
	} else if len(place) != 0 {
		t.Errorf("%d details kept, want none", len(place))
	}
	if diff := cmp.Diff(detail, got); diff != "" {
		t.Errorf("the rest of the detail (-want +got):\n%s", diff)
	}
	if len(sent) > bus.MaxDetailBytes {
		t.Errorf("the detail has %d bytes", len(sent))
	}
}

// The same event sent again names the same detail, so that a repeat leaves nothing behind.
func TestAReferenceNamesItsContent(t *testing.T) {
	s, place := &fake.Bus{}, kept{}
	b := bus.Bus{EventBridge: s, Details: place}
	done := task.Task{TaskID: "t", Status: task.Completed, Output: strings.Repeat("é<", 60*kb), Principal: task.User("u")}
	if err := errors.Join(b.EmitTaskCompleted(t.Context(), done), b.EmitTaskCompleted(t.Context(), done)); err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(done.Output)
	if diff := cmp.Diff(kept{key.Hash(string(quoted)): string(quoted)}, place); diff != "" {
		t.Errorf("kept (-want +got): %d bytes of difference", len(diff))
	}
	if a, b := s.Events()[0].Detail, s.Events()[1].Detail; string(a) != string(b) {
		t.Errorf("sent %.200s, then %.200s", a, b)
	}
}

func TestADetailThatCannotBeKeptIsNotSent(t *testing.T) {
	s := &fake.Bus{}
	b := bus.Bus{EventBridge: s, Details: noPlace{}}
	err := b.Publish(t.Context(), bus.Event{DetailType: "Big", Detail: map[string]string{"output": strings.Repeat("x", 300*kb)}})
	if !fault.Retryable(err) || len(s.Events()) != 0 {
		t.Errorf("Publish = %v and %d events, want Unavailable and none", err, len(s.Events()))
	}
}
