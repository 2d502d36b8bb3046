package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// serveHTTPAPI takes a request through the HTTP API: CORS, route, authorizer, body, function, answer.
func (g *Gateway) serveHTTPAPI(w http.ResponseWriter, r *http.Request) {
	id := newID()
	w.Header().Set("Apigw-Requestid", id)
	api := g.Stack.HTTP
	if api == nil {
		g.refuse(w, r, http.StatusNotFound, "Not Found")
		return
	}
	if corsHeaders(w.Header(), r, api.CORS) && r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	m, ok := match(api.Routes, r.Method, r.URL.Path)
	if !ok {
		g.refuse(w, r, http.StatusNotFound, "Not Found")
		return
	}
	if headerBytes(r) > MaxHTTPHeader {
		g.refuse(w, r, http.StatusRequestHeaderFieldsTooLarge, "Request Header Fields Too Large")
		return
	}
	var who *httpAuthorizer
	if m.Auth {
		claims, challenge := g.authorize(r)
		if claims == nil {
			w.Header().Set("Www-Authenticate", challenge)
			g.refuse(w, r, http.StatusUnauthorized, "Unauthorized")
			return
		}
		who = &httpAuthorizer{jwtAuthorizer{Claims: claims}}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxHTTPBody))
	if err != nil {
		g.refuseBody(w, r, err)
		return
	}
	g.runHTTP(w, r, m, g.httpEventOf(r, m, id, who, body))
}

func (g *Gateway) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		g.refuse(w, r, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	}
	g.refuse(w, r, http.StatusBadRequest, "Bad Request")
}

// runHTTP runs the route's function and writes its answer.
func (g *Gateway) runHTTP(w http.ResponseWriter, r *http.Request, m matched, event httpEvent) {
	limit := orDefault(g.HTTPTimeout, HTTPTimeout)
	payload, err := g.call(context.WithoutCancel(r.Context()), m.Function, m.key(), event, limit)
	if errors.Is(err, errTimedOut) {
		g.refuse(w, r, http.StatusServiceUnavailable, "Service Unavailable")
		return
	}
	var a answer
	if err == nil {
		a, err = parseAnswer(payload)
	}
	if err != nil {
		if !errors.Is(err, errFailed) {
			g.logger().Error("no usable answer", "route", m.key(), "function", m.Function, "error", firstLine(err))
		}
		g.refuse(w, r, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	if a.ignored != "" {
		g.logger().Warn("API Gateway ignores a part of this answer", "function", m.Function, "part", a.ignored)
	}
	a.write(w, len(g.Stack.HTTP.CORS.Origins) > 0)
}

// refuse answers as the gateway itself.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	g.logger().Info("refused", "method", r.Method, "path", r.URL.Path, "status", status)
	answerProblem(w, status, message)
}

func answerProblem(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{%q:%q}", "message", message)
}

// headerBytes is what the limit for the request line and the headers counts.
func headerBytes(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}
