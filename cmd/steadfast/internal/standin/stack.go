// Package standin is a stack that answers as the contract says, in memory, for tests of what talks to one. It keeps
// sessions and tasks, checks tokens and lets a test script what the WebSocket says.
package standin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/steadfast-agents/steadfast/core/contract"
)

const scheme = "base64UrlBearerAuthorization"

// Stack is the stand-in. Set its functions before it is used.
type Stack struct {
	URL string
	// Say answers a message that came over a WebSocket. It runs in its own goroutine per message.
	Say func(p *Peer, m contract.ClientMessage)
	// Task gives the next state of a task each time it is asked for; nil: 404.
	Task func(id string, asked int) *contract.TaskResult
	// Decide takes what somebody says about a call, and gives its status by then; nil: 404. Another one than was asked for is 409.
	Decide func(call string, d contract.DecideApproval) string
	// Approvals are those of every session.
	Approvals []contract.Approval
	// Broken are functions that do not build, with the compiler's words; Building those that a compiler works on.
	Broken   map[string]string
	Building []string
	// Sessions are listed newest first, two to a page.
	Sessions []map[string]any

	server   *httptest.Server
	mu       sync.Mutex
	token    string
	tokens   int
	requests []string
	asked    int
	heard    []contract.ClientMessage
	frames   int
	dials    int
}

// Peer is one open WebSocket.
type Peer struct {
	conn *websocket.Conn
	r    *http.Request
}

// New starts a stack that stops with the test.
func New(t testing.TB) *Stack {
	s := &Stack{token: "jwt.1"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_dev/token", s.devToken)
	mux.HandleFunc("GET /_dev/builds", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"building": s.Building, "broken": s.Broken})
	})
	mux.HandleFunc("GET /live", s.socket)
	guarded := map[string]http.HandlerFunc{
		"POST /agent/connect": s.connect, "POST /agent/tasks": s.createTask, "GET /agent/tasks/{id}": s.getTask,
		"POST /agent/tasks/{id}/cancel": s.cancelTask, "GET /agent/sessions": s.list,
		"GET /agent/sessions/{id}/approvals": s.approvals, "POST /agent/sessions/{id}/approvals/{call}": s.decide,
		"GET /agent/sessions/{id}": s.session, "DELETE /agent/sessions/{id}": s.session,
	}
	for route, h := range guarded {
		mux.HandleFunc(route, s.guard(h))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 404, map[string]string{"message": "Not Found"})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.server, s.URL = server, server.URL
	return s
}

// Die ends the stack at once, with all its connections. p is one of them.
func (s *Stack) Die(p *Peer) {
	_ = s.server.Listener.Close()
	s.server.CloseClientConnections()
	p.Drop()
}

// Expire makes the tokens given so far worthless.
func (s *Stack) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	s.token = fmt.Sprintf("jwt.%d", s.tokens+1)
}

// Token is the one that is good now.
func (s *Stack) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Requests are the HTTP requests so far, as "METHOD path body".
func (s *Stack) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Heard are the messages that came over WebSockets.
func (s *Stack) Heard() []contract.ClientMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]contract.ClientMessage(nil), s.heard...)
}

// LongestFrame is the size of the longest WebSocket frame that came, and how many connections were opened.
func (s *Stack) LongestFrame() (bytes, dials int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames, s.dials
}

func (s *Stack) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body) // no body is fine
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body)))
		s.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+s.Token() {
			answer(w, 401, map[string]string{"message": "Unauthorized"})
			return
		}
		next(w, r)
	}
}

func (s *Stack) devToken(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User string `json:"user"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.User == "" {
		answer(w, 400, contract.ErrorBody{Message: "user: must not be empty", Code: "invalid"})
		return
	}
	answer(w, 200, map[string]string{"token": s.Token()})
}

func (s *Stack) connect(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]string{"wsUrl": "ws" + strings.TrimPrefix(s.URL, "http") + "/live"})
}

func (s *Stack) createTask(w http.ResponseWriter, _ *http.Request) {
	answer(w, 202, contract.TaskResult{TaskID: "task/1", Status: "PENDING"})
}

func (s *Stack) getTask(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	asked := s.asked
	s.mu.Unlock()
	if s.Task != nil {
		if t := s.Task(r.PathValue("id"), asked); t != nil {
			answer(w, 200, t)
			return
		}
	}
	answer(w, 404, contract.ErrorBody{Message: "there is no such task", Code: "not_found"})
}

func (s *Stack) cancelTask(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") == "done" {
		answer(w, 409, contract.ErrorBody{Message: "the task is over", Code: "conflict"})
		return
	}
	answer(w, 202, map[string]string{"taskId": r.PathValue("id"), "status": "RUNNING"})
}

func (s *Stack) list(w http.ResponseWriter, r *http.Request) {
	from := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("cursor"), &from) // absent: 0
	to := min(from+2, len(s.Sessions))
	out := map[string]any{"sessions": s.Sessions[from:to]}
	if to < len(s.Sessions) {
		out["cursor"] = fmt.Sprint(to)
	}
	answer(w, 200, out)
}

func (s *Stack) session(w http.ResponseWriter, r *http.Request) {
	for _, one := range s.Sessions {
		switch {
		case one["sessionId"] != r.PathValue("id"):
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			answer(w, 200, one)
			return
		}
	}
	answer(w, 403, contract.ErrorBody{Message: "the session belongs to somebody else", Code: "denied"})
}

func (s *Stack) approvals(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, contract.Approvals{Approvals: append([]contract.Approval{}, s.Approvals...)})
}

func (s *Stack) decide(w http.ResponseWriter, r *http.Request) {
	var d contract.DecideApproval
	if json.NewDecoder(r.Body).Decode(&d) != nil || s.Decide == nil {
		answer(w, 404, contract.ErrorBody{Message: "no such approval", Code: "not_found"})
		return
	}
	status := s.Decide(r.PathValue("call"), d)
	if status == "approved" != (d.Decision == contract.Approve) {
		answer(w, 409, contract.ErrorBody{Message: "the call is " + status + " already", Code: "already_decided"})
		return
	}
	answer(w, 200, contract.Approval{ActionID: r.PathValue("call"), SessionID: r.PathValue("id"), Status: status})
}

func (s *Stack) socket(w http.ResponseWriter, r *http.Request) {
	want := scheme + "." + base64.RawURLEncoding.EncodeToString([]byte(s.Token()))
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), want) {
		http.Error(w, `{"message":"Forbidden"}`, http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{scheme}})
	if err != nil {
		return
	}
	conn.SetReadLimit(contract.MaxMessageBytes)
	s.mu.Lock()
	s.dials++
	s.mu.Unlock()
	p := &Peer{conn, r}
	for {
		m, err := s.read(p)
		if err != nil {
			return
		}
		if s.Say != nil {
			go s.Say(p, m)
		}
	}
}

func (s *Stack) read(p *Peer) (contract.ClientMessage, error) {
	var m contract.ClientMessage
	_, r, err := p.conn.Reader(p.r.Context())
	if err != nil {
		return m, err
	}
	var body []byte
	for piece := make([]byte, 64*1024); err == nil; { // a read gives at most one frame
		var n int
		n, err = r.Read(piece)
		body = append(body, piece[:n]...)
		s.mu.Lock()
		s.frames = max(s.frames, n)
		s.mu.Unlock()
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, m)
	return m, nil
}

// Query is a parameter that the client connected with.
func (p *Peer) Query(name string) string { return p.r.URL.Query().Get(name) }

// Send posts messages in order.
func (p *Peer) Send(messages ...contract.ServerMessage) {
	for _, m := range messages {
		body, err := json.Marshal(m)
		if err != nil {
			return
		}
		_ = p.conn.Write(p.r.Context(), websocket.MessageText, body) // the client may have left: that is a case too
	}
}

// Raw posts text as it is.
func (p *Peer) Raw(text string) {
	_ = p.conn.Write(p.r.Context(), websocket.MessageText, []byte(text)) // as in Send
}

// Drop cuts the connection without a word.
func (p *Peer) Drop() { _ = p.conn.CloseNow() }

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // as in Send
}
