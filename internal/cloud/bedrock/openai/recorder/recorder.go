// Package recorder is a server of the OpenAI chat completions API for tests: it keeps the requests and answers each with the
// next of its replies, in the wire format of the API, streamed as server-sent events.
//
// It answers nothing by itself and knows no model.
package recorder

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Reply is one answer: an error status with a body, or the chunks of a stream.
type Reply struct {
	Status int      // 0: 200
	Body   string   // of an answer that is not 200
	Chunks []string // JSON of each; "[DONE]" follows
	Cut    bool     // the stream ends without "[DONE]"
}

// Text is a reply that says pieces, one a chunk, and tells the tokens.
func Text(pieces ...string) Reply {
	var r Reply
	for _, p := range pieces {
		text, _ := json.Marshal(p) // text always encodes
		r.Chunks = append(r.Chunks, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s}}]}`, text))
	}
	return r.End("stop")
}

// Call is a reply that calls one tool, its arguments in two pieces.
func Call(id, name, arguments string) Reply {
	half := len(arguments) / 2
	first, _ := json.Marshal(arguments[:half])
	second, _ := json.Marshal(arguments[half:])
	return Reply{Chunks: []string{
		fmt.Sprintf(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}}]}`, id, name, first),
		fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`, second),
	}}.End("tool_calls")
}

// End adds the reason why the answer ends, and 12 tokens in (4 of them cached) and 3 out.
func (r Reply) End(reason string) Reply {
	r.Chunks = append(slices.Clone(r.Chunks), fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason),
		`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4}}}`)
	return r
}

// Server is a running recorder.
type Server struct {
	URL string // base URL, with the version

	mu       sync.Mutex
	replies  []Reply
	requests []Request
	server   *httptest.Server
}

// Request is one request as it came.
type Request struct {
	Header http.Header
	Body   map[string]any
}

// Start starts a server with replies. The caller closes it.
func Start(replies ...Reply) *Server {
	s := &Server{replies: replies}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.server = httptest.NewServer(mux)
	s.URL = s.server.URL + "/v1"
	return s
}

// Close ends the server.
func (s *Server) Close() { s.server.Close() }

// Requests gives the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	in := Request{Header: r.Header}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &in.Body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.next(in).write(w)
}

func (s *Server) next(in Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = append(s.requests, in)
	if n >= len(s.replies) {
		return Reply{Status: http.StatusTeapot, Body: fmt.Sprintf(`{"error":{"message":"there are %d replies and this is request %d"}}`, len(s.replies), n+1)}
	}
	return s.replies[n]
}

func (r Reply) write(w http.ResponseWriter) {
	if r.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(r.Status)
		_, _ = io.WriteString(w, r.Body) // the client may be gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range r.Chunks {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", c)
		_ = http.NewResponseController(w).Flush()
	}
	if !r.Cut {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}
