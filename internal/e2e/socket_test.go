package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/identity"
)

// talker is a WebSocket client.
type talker struct {
	t    *testing.T
	conn *websocket.Conn
}

// handshake connects with a token as subprotocol.
func (s stack) handshake(token, query string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(s.t.Context(), s.info.WS+query, &websocket.DialOptions{
		Subprotocols: []string{identity.Scheme, identity.Subprotocol(token)},
	})
}

// connect signs user in. query may ask for features.
func (s stack) connect(user, query string) *talker {
	s.t.Helper()
	conn, resp, err := s.handshake(s.token(user), query)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != identity.Scheme {
		s.t.Errorf("the handshake answered with the subprotocol %q", got)
	}
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return &talker{s.t, conn}
}

// say sends the reference's message and nothing more. The user it names is not who is signed in: nobody may care.
func (p *talker) say(sessionID, request string) {
	p.t.Helper()
	body, err := json.Marshal(map[string]string{"request": request, "session_id": sessionID, "user_id": "somebody-else"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(string(body))
}

func (p *talker) send(text string) {
	p.t.Helper()
	if err := p.write(text); err != nil {
		p.t.Fatal(err)
	}
}

// write sends text in frames that the service takes.
func (p *talker) write(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	w, err := p.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	for len(text) > 0 {
		n := min(len(text), 16*1024)
		if _, err := w.Write([]byte(text[:n])); err != nil {
			return err
		}
		text = text[n:]
	}
	return w.Close()
}

// next waits for a message.
func (p *talker) next() (contract.ServerMessage, string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, raw, err := p.conn.Read(ctx)
	if err != nil {
		p.t.Fatalf("waiting for a message: %v", err)
	}
	var m contract.ServerMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		p.t.Fatalf("message %s: %v", raw, err)
	}
	return m, string(raw)
}

// untilText reads messages up to the first piece of an answer by an owner after the one with fence, and gives its fence.
func (p *talker) untilText(fence int64) int64 {
	p.t.Helper()
	for {
		if m, _ := p.next(); m.Event != nil && m.Event.Data != nil && m.Fence > fence {
			return m.Fence
		}
	}
}

// heard is a turn as its client saw it.
type heard struct {
	text     string
	tools    []string
	resets   int
	code     string // of the error that ended it; empty: complete
	message  string
	messages []string // as they came
}

// turn reads to the end of a turn: complete, or an error.
func (p *talker) turn() heard {
	p.t.Helper()
	var h heard
	for {
		m, raw := p.next()
		h.messages = append(h.messages, raw)
		switch {
		case m.Type == contract.TypeComplete:
			return h
		case m.Type == contract.TypeError:
			h.code, h.message = m.Error, m.Message
			return h
		case m.Type != contract.TypeStreamEvent || m.Event == nil:
			p.t.Fatalf("unexpected message %s", raw)
		}
		h.take(m)
	}
}

func (h *heard) take(m contract.ServerMessage) {
	switch e := m.Event; {
	case e.Data != nil:
		h.text += *e.Data
	case e.CurrentToolUse != nil:
		h.tools = append(h.tools, e.CurrentToolUse.Name)
	case e.Reset != nil:
		h.resets++
		h.text = string([]rune(h.text)[:min(*m.Offset, int64(len([]rune(h.text))))])
	}
}

// ask says something and gives the turn that answers, which must end well.
func (p *talker) ask(sessionID, request string) heard {
	p.t.Helper()
	p.say(sessionID, request)
	h := p.turn()
	if h.code != "" {
		p.t.Fatalf("%q was answered with the error %s: %s", request, h.code, h.message)
	}
	return h
}

// closed waits for the end of the connection and gives its code.
func (p *talker) closed() websocket.StatusCode {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		if _, _, err := p.conn.Read(ctx); err != nil {
			var c websocket.CloseError
			if !errors.As(err, &c) {
				p.t.Fatalf("the connection ended without a code: %v", err)
			}
			return c.Code
		}
	}
}
