package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// serveConnections is @connections: POST sends, GET tells, DELETE ends. A connection can be reached from the moment
// its handshake is answered, not from within its own $connect. Only signed calls are taken, though the signature
// itself is not checked.
func (g *Gateway) serveConnections(w http.ResponseWriter, r *http.Request) {
	id, ok := g.connectionOf(r)
	switch {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") && r.URL.Query().Get("X-Amz-Signature") == "":
		g.fault(w, r, http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	case !ok: // another stage, or no such path: API Gateway says the same to both
		g.fault(w, r, http.StatusForbidden, "ForbiddenException", "Forbidden")
		return
	}
	s, ok := g.find(id)
	if !ok { // everyday: a client left. It is the caller's to tell of
		w.Header().Set("X-Amzn-Errortype", "GoneException")
		answerProblem(w, http.StatusGone, "Gone")
		return
	}
	switch r.Method {
	case http.MethodPost:
		g.post(w, r, s)
	case http.MethodGet:
		g.describe(w, s)
	case http.MethodDelete:
		if !s.post(outgoing{end: &closing{1000, "Connection Closed Normally"}}) {
			s.end(closing{1000, "Connection Closed Normally"})
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		g.fault(w, r, http.StatusForbidden, "ForbiddenException", "Forbidden")
	}
}

// connectionOf gives the id in the path, which clients escape in different ways.
func (g *Gateway) connectionOf(r *http.Request) (string, bool) {
	if g.Stack.WebSocket == nil {
		return "", false
	}
	escaped, ok := strings.CutPrefix(r.URL.EscapedPath(), "/"+g.Stack.WebSocket.Stage+"/")
	if !ok {
		return "", false
	}
	rest, err := url.PathUnescape(escaped)
	id, ok := strings.CutPrefix(rest, "@connections/")
	return id, ok && err == nil && id != ""
}

// post queues the body for the client. 200 means that it is on its way, not that the client has it.
func (g *Gateway) post(w http.ResponseWriter, r *http.Request, s *socket) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	tooLarge := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &tooLarge):
		g.fault(w, r, http.StatusRequestEntityTooLarge, "PayloadTooLargeException", "Message too long")
	case err != nil:
		g.fault(w, r, http.StatusBadRequest, "BadRequestException", "Bad Request")
	case !s.post(outgoing{data: data}):
		g.fault(w, r, http.StatusTooManyRequests, "LimitExceededException", "The client does not keep up")
	default:
		w.WriteHeader(http.StatusOK)
	}
}

func (g *Gateway) describe(w http.ResponseWriter, s *socket) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"connectedAt":  s.connectedAt.UTC().Format(time.RFC3339),
		"lastActiveAt": time.UnixMilli(s.lastActive.Load()).UTC().Format(time.RFC3339),
		"identity":     s.identity,
	})
}

// fault answers as an AWS service: the header tells an SDK which error it is.
func (g *Gateway) fault(w http.ResponseWriter, r *http.Request, status int, kind, message string) {
	w.Header().Set("X-Amzn-Errortype", kind)
	g.refuse(w, r, status, message)
}
