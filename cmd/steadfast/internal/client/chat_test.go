package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// script tells what a listener was told.
type script struct{ lines []string }

func (s *script) listener() client.Listener {
	return client.Listener{
		Text:    func(piece string) { s.lines = append(s.lines, piece) },
		Tool:    func(name string) { s.lines = append(s.lines, "["+name+"]") },
		Again:   func(kept string) { s.lines = append(s.lines, "again after "+kept) },
		Dropped: func(_, err error) { s.lines = append(s.lines, "dropped") },
	}
}

func chat(s *standin.Stack) *client.Chat {
	return &client.Chat{Client: &client.Client{URL: s.URL, Token: s.Token()}, SessionID: "s-1"}
}

func TestAsk(t *testing.T) {
	tests := []struct {
		name  string
		say   func(p *standin.Peer, turn *standin.Turn, delivery string)
		text  string
		lines []string
		code  string
		hole  bool
	}{
		{"an answer with a tool", func(p *standin.Peer, turn *standin.Turn, d string) {
			p.Send(turn.Begin(), turn.Text("It is ", 4), turn.Tool("clock", "tu-1"), turn.Text("nöon.", 9))
			p.Send(turn.End(d)...)
		}, "It is nöon.", []string{"It is ", "[clock]", "nöon."}, "", false},
		{"a client message that an old server sends", func(p *standin.Peer, _ *standin.Turn, _ string) {
			p.Raw(`{"type":"stream_event","event":{"init_event_loop":true}}`)
			p.Raw(`{"type":"stream_event","event":{"data":"a"}}`)
			p.Raw(`not json`)
			p.Raw(`{"type":"news","event":{"weather":"fine"}}`)
			p.Raw(`{"type":"stream_event","event":{"data":"b"}}`)
			p.Raw(`{"type":"complete","session_id":"s-1"}`)
		}, "ab", []string{"a", "b"}, "", false},
		{"P05: a failed attempt is dropped", func(p *standin.Peer, turn *standin.Turn, d string) {
			p.Send(turn.Begin(), turn.Text("Let me look. ", 4), turn.Text("The answ", 6), turn.Reset(13), turn.Text("It is 4.", 8))
			p.Send(turn.End(d)...)
		}, "Let me look. It is 4.", []string{"Let me look. ", "The answ", "again after Let me look. ", "It is 4."}, "", false},
		{"P13: a piece that comes again is not said again", func(p *standin.Peer, turn *standin.Turn, d string) {
			first := turn.Text("häl", 4)
			second := turn.Text("ften", 5)
			p.Send(turn.Begin(), first, first, second, first)
			p.Send(turn.End(d)...)
		}, "hälften", []string{"häl", "ften"}, "", false},
		{"a lost piece shows", func(p *standin.Peer, turn *standin.Turn, d string) {
			p.Send(turn.Begin(), turn.Text("one ", 4))
			_ = turn.Text("two ", 5)
			p.Send(turn.Text("three", 6))
			p.Send(turn.End(d)...)
		}, "one three", []string{"one ", "three"}, "", true},
		{"P10: the end of another turn is not ours", func(p *standin.Peer, turn *standin.Turn, d string) {
			other := &standin.Turn{ID: "t-0", Session: "s-1"}
			p.Send(other.Text("somebody else's", 2), other.Fail("interrupted", "interrupted", "other"))
			p.Send(turn.Begin(), turn.Text("ours", 4))
			p.Send(other.End("other")...)
			p.Send(turn.End(d)...)
		}, "ours", []string{"somebody else's", "again after ", "ours"}, "", false},
		{"a turn that fails", func(p *standin.Peer, turn *standin.Turn, d string) {
			p.Send(turn.Begin(), turn.Text("half", 4), turn.Fail("timeout", "The model took too long.", d))
		}, "half", []string{"half"}, "timeout", false},
		{"a function that fails behind the gateway", func(p *standin.Peer, _ *standin.Turn, _ string) {
			p.Raw(`{"message":"Internal server error","connectionId":"c","requestId":"r"}`)
		}, "", nil, "internal", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := standin.New(t)
			s.Say = func(p *standin.Peer, m contract.ClientMessage) {
				tt.say(p, &standin.Turn{ID: "t-1", Fence: 1, Session: m.SessionID}, m.DeliveryID)
			}
			c := chat(s)
			defer c.Close()
			var told script
			answer, err := c.Ask(t.Context(), "hello", told.listener())
			if got := codeOf(err); got != tt.code {
				t.Fatalf("Ask(...) = %v with code %q, want %q", err, got, tt.code)
			}
			if answer.Text != tt.text || answer.Hole != tt.hole {
				t.Errorf("answer = %q, hole %v, want %q, %v", answer.Text, answer.Hole, tt.text, tt.hole)
			}
			if diff := cmp.Diff(tt.lines, told.lines); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAskSaysWhatTheContractSays(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: "t-1", Session: m.SessionID}
		p.Send(turn.Text(p.Query("features"), 1))
		p.Send(turn.End(m.DeliveryID)...)
	}
	c := chat(s)
	defer c.Close()
	for range 2 {
		answer, err := c.Ask(t.Context(), "hello", client.Listener{})
		if err != nil || answer.Text != "reset,approvals" {
			t.Fatalf("Ask(...) = %q, %v, want the feature it connected with", answer.Text, err)
		}
	}
	if diff := cmp.Diff([]string{`POST /agent/connect {"sessionId":"s-1"}`}, s.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	heard := s.Heard()
	if len(heard) != 2 || heard[0].DeliveryID == "" || heard[0].DeliveryID == heard[1].DeliveryID {
		t.Fatalf("heard %+v, want two deliveries", heard)
	}
	want := contract.ClientMessage{Request: "hello", SessionID: "s-1", DeliveryID: heard[0].DeliveryID}
	if diff := cmp.Diff(want, heard[0]); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestP13DroppedConnectionIsOpenedAgain(t *testing.T) {
	tests := []struct {
		name   string
		before []contract.ServerMessage // what came before it dropped
		want   contract.ClientMessage   // how it goes on; DeliveryID "same": that of the first message
	}{
		{"before the answer", nil, contract.ClientMessage{Request: "hello", SessionID: "s-1", DeliveryID: "same"}},
		{"in the answer", []contract.ServerMessage{(&standin.Turn{ID: "t-1"}).Text("one ", 4)},
			contract.ClientMessage{Action: "subscribe", SessionID: "s-1", StartIndex: new(int64(4))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := standin.New(t)
			s.Say = func(p *standin.Peer, m contract.ClientMessage) {
				if len(s.Heard()) == 1 {
					p.Send(tt.before...)
					p.Drop()
					return
				}
				turn := &standin.Turn{ID: "t-1", Session: m.SessionID}
				p.Send(turn.Text("one ", 4), turn.Text("two", 5))
				p.Send(turn.End(s.Heard()[0].DeliveryID)...)
			}
			c := chat(s)
			defer c.Close()
			var told script
			answer, err := c.Ask(t.Context(), "hello", told.listener())
			if err != nil || answer.Text != "one two" || answer.Hole {
				t.Fatalf("Ask(...) = %+v, %v", answer, err)
			}
			heard := s.Heard()
			if tt.want.DeliveryID == "same" {
				tt.want.DeliveryID = heard[0].DeliveryID
			}
			if diff := cmp.Diff(tt.want, heard[1]); diff != "" {
				t.Errorf("message after the drop (-want +got):\n%s", diff)
			}
		})
	}
}

// A turn is subscribed to from the event that opened it, and what is told again is no older owner's.
func TestP13TheRestIsToldAgain(t *testing.T) {
	s := standin.New(t)
	text := func(piece string, offset int64) contract.ServerMessage {
		return contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &contract.StreamEventBody{Data: &piece}, TurnID: "t-1", Offset: &offset}
	}
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: "t-1", Fence: 4, Session: m.SessionID}
		if m.Action != "subscribe" {
			begin := turn.Begin()
			begin.Index = new(int64(17))
			p.Send(begin, turn.Text("It w", 30))
			p.Drop()
			return
		}
		if *m.StartIndex != 17 {
			t.Errorf("subscribed from %d, want the event that opened the turn", *m.StartIndex)
		}
		reset := contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: 2}}, TurnID: "t-1", Offset: new(int64(0))}
		p.Send(reset, text("It is noon.", 0),
			contract.ServerMessage{Type: contract.TypeComplete, SessionID: m.SessionID, TurnID: "t-1", DeliveryID: s.Heard()[0].DeliveryID, Usage: &contract.Usage{InputTokens: 3}},
			contract.ServerMessage{Type: contract.TypeSubscribed, SessionID: m.SessionID, Status: "waiting"})
	}
	got, err := chat(s).Ask(t.Context(), "hello", client.Listener{})
	if err != nil || got.Text != "It is noon." || got.Hole || got.Usage == nil || got.Usage.InputTokens != 3 {
		t.Errorf("Ask(...) = %+v, %v", got, err)
	}
}

// A session that runs nothing, and told no end, has lost the turn: nobody waits for it.
func TestTurnThatIsNotToldAgainIsGivenUpAtOnce(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		if m.Action != "subscribe" {
			p.Send((&standin.Turn{ID: "t-1"}).Text("x", 5))
			p.Drop()
			return
		}
		p.Send(contract.ServerMessage{Type: contract.TypeSubscribed, SessionID: m.SessionID, Status: "waiting"})
	}
	if _, err := chat(s).Ask(t.Context(), "hello", client.Listener{}); codeOf(err) != "connection_lost" {
		t.Errorf("Ask(...) = %v", err)
	}
}

func TestStackThatCannotResumeGetsTheDeliveryAgain(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: "t-1", Session: "s-1"}
		switch first := s.Heard()[0]; {
		case len(s.Heard()) == 1:
			p.Send(turn.Text("one ", 4))
			p.Drop()
		case m.Action == "subscribe":
			p.Raw(`{"type":"error","error":"invalid","message":"there is no action subscribe"}`)
		case m == first:
			_ = turn.Text("one ", 4)
			p.Send(turn.Text("two", 5))
			p.Send(turn.End(first.DeliveryID)...)
		}
	}
	c := chat(s)
	defer c.Close()
	if answer, err := c.Ask(t.Context(), "hello", client.Listener{}); err != nil || answer.Text != "one two" {
		t.Errorf("Ask(...) = %+v, %v", answer, err)
	}
}

func TestTurnThatEndedUnseenIsGivenUp(t *testing.T) {
	s := standin.New(t)
	s.Sessions = []map[string]any{{"sessionId": "s-1", "status": "waiting"}}
	s.Say = func(p *standin.Peer, _ contract.ClientMessage) {
		if len(s.Heard()) == 1 {
			p.Drop()
		}
	}
	c := chat(s)
	c.Quiet = time.Millisecond
	_, err := c.Ask(t.Context(), "hello", client.Listener{})
	if codeOf(err) != "connection_lost" || !strings.Contains(err.Error(), "session s-1 has its answer") {
		t.Errorf("Ask(...) = %v, want to be told where the answer is", err)
	}
}

func TestQuietTurnThatRunsIsWaitedFor(t *testing.T) {
	s := standin.New(t)
	s.Sessions = []map[string]any{{"sessionId": "s-1", "status": "running"}}
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		if len(s.Heard()) == 1 {
			p.Drop()
			return
		}
		for looks := 0; looks < 3; { // it stays quiet until the session was looked at
			looks = 0
			for _, r := range s.Requests() {
				if r == "GET /agent/sessions/s-1" {
					looks++
				}
			}
			runtime.Gosched()
		}
		p.Send((&standin.Turn{ID: "t-1", Session: "s-1"}).End(m.DeliveryID)...)
	}
	c := chat(s)
	defer c.Close()
	c.Quiet = time.Millisecond
	if _, err := c.Ask(t.Context(), "hello", client.Listener{}); err != nil {
		t.Errorf("Ask(...) = %v", err)
	}
}

func TestConnectionIsOpenedAgainOnce(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, _ contract.ClientMessage) { p.Drop() }
	c := chat(s)
	_, err := c.Ask(t.Context(), "hello", client.Listener{})
	if _, dials := s.LongestFrame(); codeOf(err) != "connection_lost" || dials != 2 {
		t.Errorf("Ask(...) = %v after %d connections, want connection_lost after 2", err, dials)
	}
}

func TestStackThatDoesNotComeBack(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, _ contract.ClientMessage) { s.Die(p) }
	c := chat(s)
	c.Retry = time.Millisecond
	_, err := c.Ask(t.Context(), "hello", client.Listener{})
	if want := "the connection was lost, and nothing listens at " + s.URL; codeOf(err) != "unavailable" || !strings.Contains(err.Error(), want) {
		t.Errorf("Ask(...) = %v, want %s", err, want)
	}
}

func TestIdleConnectionThatWasClosedIsOpenedAgain(t *testing.T) {
	s := standin.New(t)
	dropped := make(chan struct{}, 1)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: m.DeliveryID, Session: m.SessionID}
		p.Send(turn.Text("ok", 1))
		p.Send(turn.End(m.DeliveryID)...)
		if len(s.Heard()) == 1 {
			p.Drop()
			dropped <- struct{}{}
		}
	}
	c := chat(s)
	defer c.Close()
	for i := range 2 {
		if _, err := c.Ask(t.Context(), "hello", client.Listener{}); err != nil {
			t.Fatalf("Ask number %d: %v", i+1, err)
		}
		if i == 0 {
			<-dropped
		}
	}
}

func TestP15MessageIsCheckedAndSentInFrames(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		p.Send((&standin.Turn{ID: "t-1", Session: m.SessionID}).End(m.DeliveryID)...)
	}
	c := chat(s)
	defer c.Close()
	tests := []struct {
		name, text, says string
	}{
		{"fits", strings.Repeat("x", 120*1024), ""},
		{"150 KB", strings.Repeat("x", 150*1024), "the message has 153600 bytes, the limit is 131072 (128 KB)"},
		{"too large once encoded", strings.Repeat("\n", 100*1024), "the limit is 131072 (128 KB)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(s.Heard())
			_, err := c.Ask(t.Context(), tt.text, client.Listener{})
			if tt.says == "" {
				if bytes, _ := s.LongestFrame(); err != nil || bytes > 32*1024 || s.Heard()[before].Request != tt.text {
					t.Errorf("Ask(...) = %v with frames up to %d bytes", err, bytes)
				}
				return
			}
			if codeOf(err) != "limit" || !strings.Contains(err.Error(), tt.says) || len(s.Heard()) != before {
				t.Errorf("Ask(...) = %v, want %q and nothing sent", err, tt.says)
			}
		})
	}
}

func TestStop(t *testing.T) {
	s := standin.New(t)
	turn := &standin.Turn{ID: "t-1", Session: "s-1"}
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		if m.Action == "stop" && m.SessionID == "s-1" {
			p.Send(turn.Fail("cancelled", "The turn was stopped.", s.Heard()[0].DeliveryID))
			return
		}
		p.Send(turn.Text("and so on", 3))
	}
	c := chat(s)
	defer c.Close()
	_, err := c.Ask(t.Context(), "hello", client.Listener{Text: func(string) {
		if err := c.Stop(t.Context()); err != nil {
			t.Errorf("Stop() = %v", err)
		}
	}})
	if codeOf(err) != "cancelled" {
		t.Errorf("Ask(...) = %v, want cancelled", err)
	}
}

func TestStopBeforeTheMessageIsSent(t *testing.T) {
	s := standin.New(t)
	c := chat(s)
	defer c.Close()
	c.Client.Token = "stale"
	c.Client.Renew = func(ctx context.Context) (string, error) { return s.Token(), c.Stop(ctx) } // while it connects
	_, err := c.Ask(t.Context(), "hello", client.Listener{})
	if codeOf(err) != "cancelled" || len(s.Heard()) != 0 {
		t.Errorf("Ask(...) = %v with %d messages sent, want cancelled with none", err, len(s.Heard()))
	}
}

func TestStopThatOvertookItsMessageIsSaidAgain(t *testing.T) {
	s := standin.New(t)
	turn := &standin.Turn{ID: "t-1", Session: "s-1"}
	c := chat(s)
	defer c.Close()
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		switch heard := s.Heard(); {
		case len(heard) == 1:
			if err := c.Stop(t.Context()); err != nil {
				t.Errorf("Stop() = %v", err)
			}
		case len(heard) == 2: // too early: the turn begins now
			p.Send(turn.Begin(), turn.Text("and so on", 3))
		case m.Action == "stop":
			p.Send(turn.Fail("cancelled", "cancelled", heard[0].DeliveryID))
		}
	}
	if _, err := c.Ask(t.Context(), "hello", client.Listener{}); codeOf(err) != "cancelled" {
		t.Errorf("Ask(...) = %v, want cancelled", err)
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) { p.Send((&standin.Turn{ID: "t"}).Text("x", 1)) }
	ctx, cancel := context.WithCancel(t.Context())
	c := chat(s)
	_, err := c.Ask(ctx, "hello", client.Listener{Text: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Ask(...) = %v, want cancelled", err)
	}
	if _, dials := s.LongestFrame(); dials != 1 {
		t.Errorf("%d connections, want 1", dials)
	}
}

func TestTokenIsRenewedForTheSocket(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		p.Send((&standin.Turn{ID: "t-1", Session: m.SessionID}).End(m.DeliveryID)...)
	}
	ws := "ws" + strings.TrimPrefix(s.URL, "http") + "/live"
	stale := &client.Client{URL: s.URL, WSURL: ws, Token: "old"}
	_, err := (&client.Chat{Client: stale, SessionID: "s"}).Ask(t.Context(), "hello", client.Listener{})
	if codeOf(err) != "unauthorized" || strings.Contains(err.Error(), "old") {
		t.Errorf("with a stale token: %v, want unauthorized", err)
	}
	stale.Renew = func(context.Context) (string, error) { return s.Token(), nil }
	if _, err := (&client.Chat{Client: stale, SessionID: "s"}).Ask(t.Context(), "hello", client.Listener{}); err != nil {
		t.Errorf("with renewal: %v", err)
	}
}

func TestMessagesArePassedOnAsTheyCame(t *testing.T) {
	s := standin.New(t)
	lines := []string{`{"type":"stream_event","event":{"data":"<x>"},"new_field":1}`, `{"type":"complete","session_id":"s-1"}`}
	s.Say = func(p *standin.Peer, _ contract.ClientMessage) {
		for _, l := range lines {
			p.Raw(l)
		}
	}
	c := chat(s)
	defer c.Close()
	var got []string
	_, err := c.Ask(t.Context(), "hello", client.Listener{Message: func(raw json.RawMessage) { got = append(got, string(raw)) }})
	if diff := cmp.Diff(lines, got); diff != "" || err != nil {
		t.Errorf("messages (-want +got):\n%s %v", diff, err)
	}
}

func codeOf(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return "no code: " + err.Error()
	}
	return ""
}
