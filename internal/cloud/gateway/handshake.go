package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// serveSocket answers a handshake: authorizer, $connect, upgrade. It returns when the connection has ended.
func (g *Gateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	p := peer{id: newID(), domain: r.Host, identity: socketIdentity{sourceIP(r), r.UserAgent()}, connectedAt: g.now()}
	if status := handshakeStatus(r); status != 0 {
		g.refuseSocket(w, r, p, status)
		return
	}
	var status int
	if p.authorizer, status = g.authorizeConnect(r, p); status != 0 {
		g.refuseSocket(w, r, p, status)
		return
	}
	protocol, status := g.connect(r, p)
	if status != 0 {
		g.refuseSocket(w, r, p, status)
		return
	}
	g.upgrade(w, r, p, protocol)
}

// upgrade turns the connection into a WebSocket and serves it. $connect has run, so whatever happens now ends with
// $disconnect.
func (g *Gateway) upgrade(w http.ResponseWriter, r *http.Request, p peer, protocol string) {
	s := newSocket(g, p)
	if !g.add(s) {
		g.disconnect(p, closing{1001, "Going away"})
		g.refuseSocket(w, r, p, http.StatusServiceUnavailable)
		return
	}
	defer g.running.Done()
	opts := &websocket.AcceptOptions{InsecureSkipVerify: true, OnPingReceived: func(context.Context, []byte) bool { s.touch(); return true }}
	if protocol != "" {
		opts.Subprotocols = []string{protocol}
	}
	conn, err := websocket.Accept(watched{w, s.tooBig, s.opened}, r, opts)
	if err != nil {
		g.logger().Info("handshake not finished", "connection", p.id, "error", err)
		g.remove(s)
		g.disconnect(p, s.fail())
		return
	}
	how := s.run(conn)
	g.disconnect(p, how)
}

// handshakeStatus gives the status that refuses what is no handshake, or 0.
func handshakeStatus(r *http.Request) int {
	tokens := strings.Split(strings.ToLower(strings.Join(r.Header.Values("Connection"), ",")), ",")
	isUpgrade := slices.ContainsFunc(tokens, func(t string) bool { return strings.TrimSpace(t) == "upgrade" })
	switch {
	case r.Method != http.MethodGet || !isUpgrade || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return http.StatusUpgradeRequired
	case r.Header.Get("Sec-Websocket-Version") != "13" || len(r.Header.Values("Sec-Websocket-Key")) != 1:
		return http.StatusBadRequest
	case len(r.RequestURI) > MaxURL:
		return http.StatusRequestURITooLong
	case headerBytes(r) > MaxHTTPHeader:
		return http.StatusRequestHeaderFieldsTooLarge
	}
	return 0
}

// authorizeConnect runs the authorizer, if there is one. It gives what later events tell of the caller, or the status
// that refuses the handshake.
func (g *Gateway) authorizeConnect(r *http.Request, p peer) (map[string]string, int) {
	ws := g.Stack.WebSocket
	if ws.Authorizer == "" {
		return nil, 0
	}
	for _, source := range ws.IdentitySource {
		if !hasSource(r, source) {
			return nil, http.StatusUnauthorized
		}
	}
	payload, err := g.call(r.Context(), ws.Authorizer, "ws authorizer", g.authorizeEvent(p, r), SocketTimeout)
	if errors.Is(err, errFailed) && saysUnauthorized(payload) {
		return nil, http.StatusUnauthorized
	}
	var allowed bool
	var caller map[string]string
	if err == nil {
		allowed, caller, err = judge(payload, g.connectARN())
	}
	switch {
	case err != nil:
		g.logger().Error("authorizer", "function", ws.Authorizer, "error", err)
		return nil, http.StatusInternalServerError
	case !allowed:
		return nil, http.StatusForbidden
	}
	return caller, 0
}

// hasSource reports whether r has the identity source, for example route.request.querystring.token.
func hasSource(r *http.Request, source string) bool {
	if name, ok := strings.CutPrefix(source, "route.request.header."); ok {
		return r.Header.Get(name) != ""
	}
	if name, ok := strings.CutPrefix(source, "route.request.querystring."); ok {
		return queryOf(r).Get(name) != ""
	}
	return strings.HasPrefix(source, "context.") // stage variables: the local cloud has none
}

// connect runs $connect. It gives the subprotocol to answer with, or the status that refuses the handshake.
func (g *Gateway) connect(r *http.Request, p peer) (string, int) {
	function := g.Stack.WebSocket.Routes["$connect"]
	if function == "" {
		return "", 0
	}
	payload, err := g.call(r.Context(), function, "ws $connect", g.connectEvent(p, r), g.socketLimit("$connect"))
	var reply struct {
		StatusCode json.RawMessage            `json:"statusCode"`
		Headers    map[string]json.RawMessage `json:"headers"`
	}
	switch {
	case errors.Is(err, errTimedOut):
		return "", http.StatusGatewayTimeout
	case err != nil, json.Unmarshal(payload, &reply) != nil:
		return "", http.StatusBadGateway
	}
	status, err := statusOf(reply.StatusCode)
	switch {
	case err != nil:
		g.logger().Error("$connect answered without a usable statusCode", "function", function)
		return "", http.StatusBadGateway
	case status > 299:
		return "", status
	}
	return echo(reply.Headers, r.Header.Values("Sec-Websocket-Protocol")), 0
}

// echo gives the Sec-WebSocket-Protocol of $connect's answer if it is exactly one of the offered values.
func echo(headers map[string]json.RawMessage, offered []string) string {
	var all []string
	for v := range strings.SplitSeq(strings.Join(offered, ","), ",") {
		all = append(all, strings.TrimSpace(v))
	}
	for name, raw := range headers {
		chosen, ok := scalar(raw)
		if ok && strings.EqualFold(name, "Sec-WebSocket-Protocol") && slices.Contains(all, chosen) {
			return chosen
		}
	}
	return ""
}

// refuseSocket answers a handshake with a status.
func (g *Gateway) refuseSocket(w http.ResponseWriter, r *http.Request, p peer, status int) {
	g.logger().Info("refused", "path", r.URL.Path, "status", status, "connection", p.id)
	message := http.StatusText(status)
	if status >= 500 {
		message = "Internal server error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(problem(message, p.id, newID()))
}

// problem is what the WebSocket API says when something is wrong, to a handshake or in a message.
func problem(message, connection, request string) []byte {
	b, _ := json.Marshal(struct { // strings always encode
		Message    string `json:"message"`
		Connection string `json:"connectionId"`
		Request    string `json:"requestId"`
	}{message, connection, request})
	return b
}
