package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func request(text string) model.Request {
	return model.Request{Messages: []model.Message{model.Text(model.User, text)}}
}

// listen writes what a stream gives, an error as its code.
func listen(ctx context.Context, m *fake.Model, req model.Request) string {
	var out []string
	for e, err := range m.Stream(ctx, req) {
		switch e := e.(type) {
		case model.TextDelta:
			out = append(out, e.Text)
		case model.ToolStart:
			out = append(out, "call "+e.Name)
		case model.ToolInput:
			out = append(out, e.JSON)
		case model.Stop:
			out = append(out, "("+string(e.Reason)+")")
		}
		switch {
		case errors.Is(err, fake.ErrKilled):
			out = append(out, "killed")
		case err != nil:
			out = append(out, "error "+string(fault.CodeOf(err)))
		}
	}
	return strings.Join(out, " ")
}

func TestModel(t *testing.T) {
	call := model.ToolUse{ID: "t1", Name: "look", Input: json.RawMessage(`{"a":1}`)}
	say := fake.Say("one", "two", "three")
	tests := []struct {
		name string
		turn fake.Turn
		want string
	}{
		{"text in pieces", say, "one two three (end_turn)"},
		{"a call", fake.Calls("let me", call), `let me call look {"a ":1} (tool_use)`},
		{"parallel calls", fake.Calls("", call, call), `call look {"a ":1} call look {"a ":1} (tool_use)`},
		{"a call and another reason", fake.Calls("", call).Stopping(model.EndTurn), `call look {"a ":1} (end_turn)`},
		{"silent close", say.Cut(2), "one two"},
		{"error after a piece", say.Failing(1, fault.New(fault.Unavailable, "throttled")), "one error unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &fake.Model{Script: []fake.Turn{tt.turn}}
			if got := listen(t.Context(), m, request("hi")); got != tt.want {
				t.Errorf("stream = %s, want %s", got, tt.want)
			}
			if got := listen(t.Context(), m, request("more")); got != "error internal" {
				t.Errorf("past the script = %s", got)
			}
			if len(m.Requests()) != 2 || m.Requests()[1].Messages[0].PlainText() != "more" {
				t.Errorf("requests = %v", m.Requests())
			}
		})
	}
}

func TestModelIsStrict(t *testing.T) {
	m := &fake.Model{Answer: func(r model.Request) fake.Turn { return fake.Say("you said " + r.Messages[0].PlainText()) }}
	if got := listen(t.Context(), m, request("hi")); got != "you said hi (end_turn)" {
		t.Errorf("stream = %s", got)
	}
	if got := listen(t.Context(), m, request("  ")); got != "error invalid" || len(m.Refused()) != 1 {
		t.Errorf("a blank message = %s, refused %v", got, m.Refused())
	}
}

func TestModelDisturbed(t *testing.T) {
	w := &fake.World{}
	m := &fake.Model{World: w, Answer: func(model.Request) fake.Turn { return fake.Say("one", "two", "three") }}
	w.LoseAnswer(1)
	if got := listen(t.Context(), m, request("hi")); got != "one two three error unavailable" {
		t.Errorf("lost = %s, want the stream to break off", got)
	}
	w.FailAt(2, fake.ErrThrottled)
	if got := listen(t.Context(), m, request("hi")); got != "error unavailable" {
		t.Errorf("throttled = %s", got)
	}
	w.KillAfter(3)
	if got := listen(fake.WithWorker(t.Context(), "w"), m, request("hi")); got != "one two three killed" {
		t.Errorf("killed = %s", got)
	}
}

func TestModelWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		m := &fake.Model{Script: []fake.Turn{fake.Say("one", "two").Pausing(time.Second).Waiting(1, until)}}
		var got string
		go func() { got = listen(t.Context(), m, request("hi")) }()
		time.Sleep(time.Hour)
		began := time.Now()
		close(until)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if got != "one two (end_turn)" || time.Since(began) != 4*time.Second {
			t.Errorf("stream = %q after %v", got, time.Since(began))
		}
	})
}
