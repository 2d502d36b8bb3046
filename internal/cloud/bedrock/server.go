// Package bedrock is Amazon Bedrock's runtime in the local cloud: the Converse and ConverseStream operations on the real
// wire, for the AWS SDK of any language. A request is first held against the rules of the real service, strictly, and
// refused with its kind of message; then a Responder answers it. The default Responder is the offline model (Offline),
// which needs no network; tests give a Script. Upstream, instead, passes requests on to the real service.
//
// The package never repairs a request, never checks signatures or policies (the local cloud's front does), and knows
// nothing of the rest of Steadfast: it speaks JSON and event-stream frames only.
package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// MaxBody is the largest request body in bytes that is read.
const MaxBody = 25 << 20

// Responder answers requests. The parts it yields become the reply, in order: consecutive Text parts are one content
// block, each ToolCall begins a new one. An error ends the reply: *Error goes to the client as that exception (with
// its HTTP status if nothing was yielded before, else inside the stream), any other error as InternalServerException.
// A sequence without a Stop ends with "tool_use" if it called a tool, else with "end_turn"; one without a Usage gets a
// rough count, shared among what a cache would have read, written and left. Respond is called by several goroutines at once; ctx ends when the client goes away.
type Responder interface {
	Respond(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// Server is the http.Handler of POST /model/{id}/converse and /model/{id}/converse-stream. Any model id is accepted.
// The zero value is ready and answers with the offline model at its default pace.
type Server struct {
	Model Responder    // nil: Offline{Delay: DefaultDelay}
	Log   *slog.Logger // nil: discard. One line a request at debug level, refusals and failures at warn level, never message text

	requests atomic.Int64
	attempts Attempts
	cache    cache
}

// ServeHTTP routes one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /model/{id}/converse", func(w http.ResponseWriter, r *http.Request) { s.converse(w, r, false) })
	mux.HandleFunc("POST /model/{id}/converse-stream", func(w http.ResponseWriter, r *http.Request) { s.converse(w, r, true) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &Error{Type: "UnknownOperationException", Message: "There is no operation " + r.Method + " " + r.URL.Path})
	})
	w.Header().Set("X-Amzn-Requestid", "local-"+strconv.FormatInt(s.requests.Add(1), 10))
	mux.ServeHTTP(w, r)
}

func (s *Server) converse(w http.ResponseWriter, r *http.Request, stream bool) {
	req, err := readRequest(w, r)
	req.Stream = stream
	if err == nil {
		err = Check(req)
	}
	log := s.log().With("model", req.ModelID, "stream", stream)
	if err != nil {
		log.Warn("model request refused", "error", err)
		writeError(w, asError(err))
		return
	}
	log.Debug("model request", "messages", len(req.Messages), "bytes", len(req.Body))
	started := time.Now()
	if stream {
		s.streamed(w, r, req, started)
		return
	}
	s.whole(w, r, req, started)
}

// noteFailure logs what a responder, which may be a bridge to a real model, says it failed on.
func (s *Server) noteFailure(ctx context.Context, req Request, err error) {
	if ctx.Err() == nil && !errors.Is(err, errHangup) {
		s.log().Warn("model request failed", "model", req.ModelID, "error", err)
	}
}

func (s *Server) model() Responder {
	if s.Model == nil {
		return Offline{Delay: DefaultDelay, Attempts: &s.attempts}
	}
	return s.Model
}

func (s *Server) log() *slog.Logger { return logOr(s.Log) }

// logOr is log, or nowhere.
func logOr(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

func readRequest(w http.ResponseWriter, r *http.Request) (Request, error) {
	req := Request{ModelID: r.PathValue("id")}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return req, invalid("Input is too long for requested model.")
	}
	if err != nil {
		return req, err
	}
	req.Body = body
	if err := json.Unmarshal(body, &req); err != nil {
		return req, &Error{Type: "SerializationException", Message: "The request body is not valid: " + err.Error()}
	}
	return req, nil
}
