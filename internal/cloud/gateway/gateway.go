// Package gateway is API Gateway in the local cloud: the HTTP API, the WebSocket API with its $connect authorizer, and
// @connections. Routes, authorizers and time-outs are those of the template; events, answers, errors and limits are
// those of AWS, so that a function cannot tell the difference and a mistake shows here and not after the deployment.
//
// It runs functions through an Invoker and knows nothing else about them. It keeps no state but open connections, and
// prints neither tokens nor bodies.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Limits of AWS. All can be found in the quota tables of API Gateway.
const (
	MaxHTTPBody      = 10 << 20         // bytes of a request to the HTTP API
	MaxHTTPHeader    = 10_240           // bytes of its request line and headers
	MaxMessage       = 128 << 10        // bytes of a WebSocket message, in either direction
	MaxFrame         = 32 << 10         // bytes of one frame from a client
	MaxAuthorizer    = 8 << 10          // bytes of an authorizer's answer
	MaxURL           = 4096             // characters of a WebSocket address
	HTTPTimeout      = 30 * time.Second // longest wait for a function of the HTTP API
	SocketTimeout    = 29 * time.Second // the same for the WebSocket API
	DefaultIdleAfter = 10 * time.Minute // without a message in either direction
	DefaultMaxLife   = 2 * time.Hour    // of one connection
)

// Gateway serves the APIs of one stack. Stack and Invoker are required. Do not copy or change it once it serves.
type Gateway struct {
	Stack   *sam.Stack
	Invoker invoke.Invoker
	// Keys gives the key that verifies a token of the JWT authorizer's issuer. nil: no token is accepted.
	Keys jwt.Keyfunc
	Log  *slog.Logger     // requests that reach no function. nil: not logged
	Now  func() time.Time // for tokens and for the times in events. nil: time.Now

	HTTPTimeout time.Duration // 0: HTTPTimeout
	IdleAfter   time.Duration // 0: DefaultIdleAfter
	MaxLife     time.Duration // 0: DefaultMaxLife

	mu      sync.Mutex
	sockets map[string]*socket
	closed  bool
	running sync.WaitGroup // connections, up to the end of their $disconnect
}

// preparer is what an Invoker may also be: one that has to do work before a function can run for the first time,
// such as building it. That time does not count as the function's.
type preparer interface {
	Prepare(ctx context.Context, function string) error
}

var (
	errTimedOut = errors.New("the function did not answer in time")
	errFailed   = errors.New("the function failed")
)

// PublicHandler serves what the world sees: the WebSocket at /{stage}, @connections below it, the URLs of functions
// below URLPath, and the HTTP API everywhere else.
func (g *Gateway) PublicHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws := g.Stack.WebSocket
		switch {
		case ws != nil && (r.URL.Path == "/"+ws.Stage || r.URL.Path == "/"+ws.Stage+"/"):
			g.serveSocket(w, r)
		case ws != nil && strings.HasPrefix(r.URL.Path, "/"+ws.Stage+"/@connections/"):
			g.serveConnections(w, r)
		case strings.HasPrefix(r.URL.Path, URLPath):
			g.serveFunctionURL(w, r)
		default:
			g.serveHTTPAPI(w, r)
		}
	})
}

// ConnectionsHandler serves @connections alone, for the listener that the functions call.
func (g *Gateway) ConnectionsHandler() http.Handler { return http.HandlerFunc(g.serveConnections) }

// Close ends all connections as AWS does when it goes away (1001) and waits for their $disconnect functions, or until
// ctx is over. No connection is accepted afterwards. It may be called again.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	for _, s := range g.sockets {
		s.end(closing{1001, "Going away"})
	}
	g.mu.Unlock()
	done := make(chan struct{})
	go func() { g.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close gateway: %w", ctx.Err())
	}
}

// pending is a run of a function that has begun.
type pending struct {
	function string
	done     chan answered
}

type answered struct {
	result invoke.Result
	err    error
}

// start begins to run function with event and does not wait for its answer. What becomes of the caller does not matter
// to the run, as in AWS.
func (g *Gateway) start(ctx context.Context, function, trigger string, event any) pending {
	p := pending{function: function, done: make(chan answered, 1)}
	payload, err := json.Marshal(event)
	if prepare, ok := g.Invoker.(preparer); ok && err == nil {
		err = prepare.Prepare(ctx, function)
	}
	if err != nil {
		p.done <- answered{err: err}
		return p
	}
	ctx = context.WithoutCancel(ctx)
	begun := make(chan struct{})
	go func() {
		close(begun)
		result, err := g.Invoker.Invoke(ctx, function, trigger, payload)
		p.done <- answered{result, err}
	}()
	<-begun
	return p
}

// wait gives the answer of p, for at most limit. The error says why there is none: errTimedOut, errFailed (then with
// the error object as payload), or what kept the function from running.
func (g *Gateway) wait(p pending, limit time.Duration) ([]byte, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case a := <-p.done:
		if a.err != nil {
			g.logger().Error("function could not run", "function", p.function, "error", firstLine(a.err))
			return nil, a.err
		}
		if a.result.FunctionError != "" {
			return a.result.Payload, errFailed
		}
		return a.result.Payload, nil
	case <-late.C:
		g.logger().Warn("function did not answer in time", "function", p.function, "limit", limit)
		return nil, errTimedOut
	}
}

// firstLine is err without what a compiler said, which is told when it is run.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// call is start and wait.
func (g *Gateway) call(ctx context.Context, function, trigger string, event any, limit time.Duration) ([]byte, error) {
	return g.wait(g.start(ctx, function, trigger, event), limit)
}

func (g *Gateway) logger() *slog.Logger {
	if g.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return g.Log
}

func (g *Gateway) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

func orDefault(d, instead time.Duration) time.Duration {
	if d == 0 {
		return instead
	}
	return d
}
