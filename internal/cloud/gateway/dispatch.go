package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// dispatch begins to run the function of a message's route, and returns before it has ended. Functions are started in
// the order of the messages, but messages that are close together may overtake each other, as in AWS.
func (s *socket) dispatch(body string) {
	route := s.g.routeOf(body)
	event := s.g.messageEvent(s.peer, route, body)
	function := s.g.Stack.WebSocket.Routes[route]
	if function == "" {
		s.post(outgoing{data: problem("Forbidden", s.id, event.Context.RequestID)})
		return
	}
	s.slots <- struct{}{}
	p := s.g.start(context.Background(), function, "ws "+route, event)
	s.g.running.Go(func() {
		defer func() { <-s.slots }()
		payload, err := s.g.wait(p, s.g.socketLimit(route))
		if message := failureOf(payload, err); message != "" {
			s.post(outgoing{data: problem(message, s.id, event.Context.RequestID)})
		}
	})
}

// failureOf gives what the client is told if a function did not answer as it must, with an object that has a
// statusCode. Nothing else of an answer reaches the client: the template declares no route responses.
func failureOf(payload []byte, err error) string {
	switch {
	case errors.Is(err, errTimedOut):
		return "Endpoint request timed out"
	case err != nil || !hasStatus(payload):
		return "Internal server error"
	}
	return ""
}

// routeOf selects a message's route by the template's expression. What the expression does not lead to, or leads to no
// route, is $default.
func (g *Gateway) routeOf(body string) string {
	const fallback = "$default"
	path, ok := strings.CutPrefix(g.Stack.WebSocket.RouteSelection, "$request.body.")
	if !ok {
		return fallback
	}
	raw := json.RawMessage(body)
	for name := range strings.SplitSeq(path, ".") {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return fallback
		}
		raw = o[name]
	}
	key, ok := scalar(raw)
	// $connect and $disconnect are not for clients to choose.
	if !ok || strings.HasPrefix(key, "$") || g.Stack.WebSocket.Routes[key] == "" {
		return fallback
	}
	return key
}

// socketLimit is the longest wait for the function of a route.
func (g *Gateway) socketLimit(route string) time.Duration {
	return orDefault(g.Stack.WebSocket.Timeouts[route], SocketTimeout)
}

// add takes in a connection, before its handshake is answered. It reports false once the gateway is closed.
func (g *Gateway) add(s *socket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	if g.sockets == nil {
		g.sockets = map[string]*socket{}
	}
	g.sockets[s.id] = s
	g.running.Add(1)
	return true
}

func (g *Gateway) remove(s *socket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sockets, s.id)
}

// find gives an open connection.
func (g *Gateway) find(id string) (*socket, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, ok := g.sockets[id]
	return s, ok && !s.isEnded()
}

// disconnect runs $disconnect. Nobody waits for what it answers; its failure is in the log alone.
func (g *Gateway) disconnect(p peer, how closing) {
	function := g.Stack.WebSocket.Routes["$disconnect"]
	if function == "" {
		return
	}
	_, _ = g.call(context.Background(), function, "ws $disconnect", g.disconnectEvent(p, how), g.socketLimit("$disconnect"))
}
