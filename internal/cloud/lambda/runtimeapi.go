package lambda

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
)

// runtimeServer is the Lambda Runtime API, one path for each process. It listens on the loopback interface only.
type runtimeServer struct {
	address   string
	server    *http.Server
	mu        sync.Mutex
	processes map[string]*process
}

const runtimePath = "/{token}/2018-06-01/runtime/"

func startRuntime() (*runtimeServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the Lambda Runtime API: %w", err)
	}
	s := &runtimeServer{address: listener.Addr().String(), processes: map[string]*process{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimePath+"invocation/next", s.with((*process).serveNext))
	mux.HandleFunc("POST "+runtimePath+"invocation/{id}/response", s.with((*process).serveResponse))
	mux.HandleFunc("POST "+runtimePath+"invocation/{id}/error", s.with((*process).serveError))
	mux.HandleFunc("POST "+runtimePath+"init/error", s.with((*process).serveInitError))
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // ends with ErrServerClosed
	return s, nil
}

func (s *runtimeServer) stop() { _ = s.server.Close() }

func (s *runtimeServer) add(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[p.token] = p
}

func (s *runtimeServer) remove(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.processes, p.token)
}

func (s *runtimeServer) with(serve func(*process, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		p := s.processes[r.PathValue("token")]
		s.mu.Unlock()
		if p == nil {
			refuse(w, http.StatusForbidden, "InvalidProcess", "this process is not one of the host")
			return
		}
		serve(p, w, r)
	}
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, err := json.Marshal(failure{Message: message, Type: kind})
	if err == nil {
		_, _ = w.Write(body)
	}
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

// serveNext hands out the next invocation, for as long as it takes.
func (p *process) serveNext(w http.ResponseWriter, r *http.Request) {
	if !p.rested(w) {
		return
	}
	select {
	case inv := <-p.work:
		p.deliver(w, inv)
	case <-p.exited:
	case <-r.Context().Done():
	}
}

// rested notes that the process asks for work.
func (p *process) rested(w http.ResponseWriter) bool {
	p.mu.Lock()
	first, running := !p.ready, p.now
	if running != nil && !running.answered {
		p.mu.Unlock()
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "the invocation before has no answer yet")
		return false
	}
	p.ready, p.now = true, nil
	p.mu.Unlock()
	if !first {
		p.pool.free(p)
	}
	if running != nil {
		close(running.settled)
	}
	return true
}

func (p *process) deliver(w http.ResponseWriter, inv *invocation) {
	p.mu.Lock()
	p.now = inv
	p.mu.Unlock()
	p.lines.begin()
	host := p.pool.host.config
	deadline := time.Now().Add(inv.function.Timeout)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", functionARN(host.Region, host.Account, inv.function.Name))
	h.Set("Lambda-Runtime-Trace-Id", inv.trace)
	close(inv.taken)
	_, _ = w.Write(inv.payload) // a process that is gone is seen by its exit
}

// lastPart gives the name of a function from its name or ARN, with a version behind it or not.
func lastPart(name string) string {
	name = strings.TrimSuffix(name, ":$LATEST")
	return name[strings.LastIndexByte(name, ':')+1:]
}

func functionARN(region, account, name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, account, name)
}

// serveResponse takes an answer, streamed or whole. A streamed one may still turn into an error in its trailers.
func (p *process) serveResponse(w http.ResponseWriter, r *http.Request) {
	inv := p.answering(w, r)
	if inv == nil {
		return
	}
	if inv.stream != nil {
		p.serveStream(w, r, inv)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxSync+1))
	switch {
	case err != nil:
		p.answer(inv, inv.failed("Runtime.TruncatedResponse", "the answer broke off: %v", err))
	case len(body) > MaxSync:
		p.answer(inv, inv.failed("Function.ResponseSizeTooLarge",
			"Response payload size exceeded maximum allowed payload size (%d bytes).", MaxSync))
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
		return
	default:
		p.answer(inv, answered(body, r.Trailer))
	}
	accept(w)
}

// answered reads the trailers by which a runtime tells that a streamed answer failed on its way.
func answered(body []byte, trailer http.Header) invoke.Result {
	if trailer.Get("Lambda-Runtime-Function-Error-Type") == "" {
		return invoke.Result{Payload: body}
	}
	report, err := base64.StdEncoding.DecodeString(trailer.Get("Lambda-Runtime-Function-Error-Body"))
	if err != nil || len(report) == 0 {
		report = body
	}
	return invoke.Result{Payload: report, FunctionError: "Unhandled"}
}

func (p *process) serveError(w http.ResponseWriter, r *http.Request) {
	inv := p.answering(w, r)
	if inv == nil {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxSync))
	if err != nil {
		body = inv.failed("Runtime.TruncatedResponse", "the error report broke off: %v", err).Payload
	}
	p.answer(inv, invoke.Result{Payload: body, FunctionError: "Unhandled"})
	accept(w)
}

func (p *process) serveInitError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxSync))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return
	}
	p.mu.Lock()
	p.initError = body
	p.mu.Unlock()
	accept(w)
}

// answering gives the invocation that r is about, nil when the process does not run it or has answered already.
func (p *process) answering(w http.ResponseWriter, r *http.Request) *invocation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil || p.now.id != r.PathValue("id") || p.now.answered {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation is running")
		return nil
	}
	return p.now
}

func (p *process) answer(inv *invocation, r invoke.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inv.answered {
		return
	}
	inv.answered = true
	inv.answer <- r
}
