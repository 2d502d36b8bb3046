package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// logStack is a stack with one session, whose events are numbered lines.
type logStack struct {
	*httptest.Server
	events  int // that the log has
	page    int // events on a page
	mu      sync.Mutex
	asked   []string
	current string // the continuation token
	sends   int
}

func newLog(t *testing.T, events int) *logStack {
	s := &logStack{events: events, page: 3, current: "tok-0"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /agent/sessions/{id}/events", s.serveEvents)
	mux.HandleFunc("GET /streams/x", s.serveStream)
	mux.HandleFunc("POST /agent/connect", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"wsUrl":"ws://x","sessionId":"s","streamUrl":%q}`, s.URL+"/streams/x")
	})
	mux.HandleFunc("GET /agent/sessions/{id}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"sessionId":"s","continuationToken":%q}`, s.current)
	})
	mux.HandleFunc("POST /agent/sessions/{id}/messages", s.serveMessage)
	mux.HandleFunc("POST /agent/sessions/{id}/stop", func(w http.ResponseWriter, r *http.Request) {
		var in contract.StopSession
		_ = json.NewDecoder(r.Body).Decode(&in)
		fmt.Fprintf(w, `{"stopping":%t}`, in.Clear)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *logStack) line(w http.ResponseWriter, index int) {
	kind := "message.appended"
	if index == s.events-1 {
		kind = "session.waiting"
	}
	fmt.Fprintf(w, "{\"type\":%q,\"index\":%d}\n", kind, index)
}

func (s *logStack) from(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.RawQuery)
	n, _ := strconv.Atoi(r.URL.Query().Get("startIndex"))
	return n
}

func (s *logStack) serveEvents(w http.ResponseWriter, r *http.Request) {
	from := s.from(r)
	to := min(from+s.page, s.events)
	if to < s.events {
		w.Header().Set("X-Next-Index", strconv.Itoa(to))
	}
	for i := from; i < to; i++ {
		s.line(w, i)
	}
}

// serveStream writes two events and a piece of a third, repeats none, and ends.
func (s *logStack) serveStream(w http.ResponseWriter, r *http.Request) {
	from := s.from(r)
	if from == 4 && len(s.asked) == 3 { // away for a moment
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for i := from; i < min(from+2, s.events); i++ {
		s.line(w, i)
		fmt.Fprint(w, "\n")
	}
	if from+2 < s.events {
		fmt.Fprint(w, `{"type":"message.app`)
	}
}

func (s *logStack) serveMessage(w http.ResponseWriter, r *http.Request) {
	var in contract.SendMessage
	_ = json.NewDecoder(r.Body).Decode(&in)
	s.sends++
	if s.sends < 3 { // somebody else was faster
		s.current = fmt.Sprint("tok-", s.sends)
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"message":"stale","code":"stale_token"}`)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"deliveryId":%q,"continuationToken":%q}`, in.DeliveryID, in.ContinuationToken)
}

func indexes(into *[]int64) func(client.Line) error {
	return func(l client.Line) error { *into = append(*into, l.Index); return nil }
}

func TestEventsFollowsThePages(t *testing.T) {
	s := newLog(t, 8)
	var got []int64
	if err := (&client.Client{URL: s.URL}).Events(t.Context(), "s", 1, indexes(&got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4, 5, 6, 7}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"startIndex=1", "startIndex=4", "startIndex=7"}, s.asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	enough := errors.New("enough")
	if err := (&client.Client{URL: s.URL}).Events(t.Context(), "s", 0, func(client.Line) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Events = %v, want what the reader said", err)
	}
}

func TestTailOpensTheStreamAgain(t *testing.T) {
	s := newLog(t, 7)
	var got []int64
	tail := client.Tail{Client: &client.Client{URL: s.URL}, SessionID: "s", UntilIdle: true, Retry: time.Millisecond}
	if err := tail.Run(t.Context(), indexes(&got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 1, 2, 3, 4, 5, 6}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if last := s.asked[len(s.asked)-1]; last != "startIndex=7&until=idle" {
		t.Errorf("the last stream was asked for %s", last)
	}
}

func TestTailEnds(t *testing.T) {
	t.Run("with the session", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				fmt.Fprintf(w, `{"streamUrl":"http://%s/x"}`, r.Host)
				return
			}
			fmt.Fprint(w, "{\"type\":\"session.started\",\"index\":0}\n{\"type\":\"session.completed\",\"index\":1}\n")
		}))
		defer server.Close()
		var got []int64
		tail := client.Tail{Client: &client.Client{URL: server.URL}, SessionID: "s"}
		if err := tail.Run(t.Context(), indexes(&got)); err != nil || len(got) != 2 {
			t.Errorf("Run = %v after %v", err, got)
		}
	})
	t.Run("with its context", func(t *testing.T) {
		s := newLog(t, 5)
		ctx, cancel := context.WithCancel(t.Context())
		tail := client.Tail{Client: &client.Client{URL: s.URL}, SessionID: "s", Retry: time.Millisecond}
		err := tail.Run(ctx, func(l client.Line) error {
			if l.Index == 4 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
	for name, tt := range map[string]struct{ connect, stream, code string }{
		"a stack without streams": {`{"wsUrl":"ws://x"}`, "", "not_found"},
		"a stream with a jump":    {"", `{"type":"x","index":3}` + "\n", "internal"},
		"a stream of something":   {"", "<html>\n", "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost && tt.connect != "":
					fmt.Fprint(w, tt.connect)
				case r.Method == http.MethodPost:
					fmt.Fprintf(w, `{"streamUrl":"http://%s/x"}`, r.Host)
				default:
					fmt.Fprint(w, tt.stream)
				}
			}))
			defer server.Close()
			tail := client.Tail{Client: &client.Client{URL: server.URL}, SessionID: "s", Retry: time.Millisecond}
			if err := tail.Run(t.Context(), func(client.Line) error { return nil }); codeOf(err) != tt.code {
				t.Errorf("Run = %v (%s), want %s", err, codeOf(err), tt.code)
			}
		})
	}
}

func TestSendReadsTheTokenAgain(t *testing.T) {
	s := newLog(t, 1)
	c := &client.Client{URL: s.URL}
	raw, err := c.Send(t.Context(), "s", contract.SendMessage{Message: "hello", DeliveryID: "d-1"})
	if err != nil || string(raw) != `{"deliveryId":"d-1","continuationToken":"tok-2"}` || s.sends != 3 {
		t.Errorf("Send = %s, %v after %d tries", raw, err, s.sends)
	}
	if raw, err := c.Send(t.Context(), "s", contract.SendMessage{Message: "hello"}); err != nil || strings.Contains(string(raw), `"deliveryId":""`) {
		t.Errorf("Send without an id = %s, %v", raw, err)
	}
	if _, err := c.Send(t.Context(), "s", contract.SendMessage{Message: strings.Repeat("x", 130*1024)}); codeOf(err) != "limit" {
		t.Errorf("Send of 130 KB = %v", err)
	}
	for clear, want := range map[bool]string{true: `{"stopping":true}`, false: `{"stopping":false}`} {
		if raw, err := c.StopSession(t.Context(), "s", clear); err != nil || string(raw) != want {
			t.Errorf("StopSession(%t) = %s, %v", clear, raw, err)
		}
	}
}

func TestTrajectories(t *testing.T) {
	stream := `{"type":"session.started","index":0,"sessionId":"s","data":{"mode":"chat"}}

{"type":"turn.started","index":1,"sessionId":"s","turnId":"turn_1","data":{}}
{"type":"message.received","index":2,"sessionId":"s","turnId":"turn_1","data":{"text":"time?","deliveryIds":["d1"]}}
{"type":"step.started","index":3,"sessionId":"s","turnId":"turn_1","data":{"step":1}}
{"type":"actions.requested","index":4,"sessionId":"s","turnId":"turn_1","data":{"calls":[{"id":"c1","name":"clock","input":{"zone":"UTC"}}]}}
{"type":"action.result","index":5,"sessionId":"s","turnId":"turn_1","data":{"id":"c1","name":"clock","status":"success","output":"noon","durationMs":3}}
{"type":"step.completed","index":6,"sessionId":"s","turnId":"turn_1","data":{"step":1}}
{"type":"step.started","index":7,"sessionId":"s","turnId":"turn_1","data":{"step":2}}
{"type":"message.appended","index":8,"sessionId":"s","turnId":"turn_1","data":{"delta":"It is noon."}}
{"type":"message.completed","index":9,"sessionId":"s","turnId":"turn_1","data":{"text":"It is noon."}}
{"type":"turn.completed","index":10,"sessionId":"s","turnId":"turn_1","data":{"result":"It is noon.","usage":{"inputTokens":7,"outputTokens":3}}}
{"type":"session.waiting","index":11,"sessionId":"s","turnId":"turn_1","data":{}}
{"type":"turn.started","index":12,"sessionId":"s","turnId":"turn_2","data":{}}
{"type":"turn.failed","index":13,"sessionId":"s","turnId":"turn_2","data":{"status":"cancelled","error":"cancelled"}}
`
	var got []string
	for a, err := range client.Trajectories(strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(raw))
	}
	want := []string{
		`{"session_id":"s","turn_id":"turn_1","delivery_id":"d1","text":"It is noon.","tools":["clock"],"calls":[{"id":"c1","name":"clock","input":{"zone":"UTC"},"status":"success","output":"noon","duration_ms":3}],"usage":{"inputTokens":7,"outputTokens":3,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
		`{"session_id":"s","turn_id":"turn_2","text":"","tools":[],"error":"cancelled","message":"cancelled"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	for _, err := range client.Trajectories(strings.NewReader("{}\n")) {
		if codeOf(err) != "invalid" || err.Error() != "line 1 is no event of a session" {
			t.Errorf("of something else: %v", err)
		}
	}
}
