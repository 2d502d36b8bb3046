package gateway

import (
	"net/http"
	"strings"
	"time"
)

// socketEvent is what a function of the WebSocket API is called with.
type socketEvent struct {
	Headers         map[string]string   `json:"headers,omitempty"`
	MultiHeaders    map[string][]string `json:"multiValueHeaders,omitempty"`
	Query           map[string]string   `json:"queryStringParameters,omitempty"`
	MultiQuery      map[string][]string `json:"multiValueQueryStringParameters,omitempty"`
	Context         socketContext       `json:"requestContext"`
	Body            *string             `json:"body,omitempty"` // of messages, even if empty
	IsBase64Encoded bool                `json:"isBase64Encoded"`
}

// authorizerEvent is what the $connect authorizer is called with.
type authorizerEvent struct {
	Type           string              `json:"type"`
	MethodARN      string              `json:"methodArn"`
	Headers        map[string]string   `json:"headers"`
	MultiHeaders   map[string][]string `json:"multiValueHeaders"`
	Query          map[string]string   `json:"queryStringParameters"`
	MultiQuery     map[string][]string `json:"multiValueQueryStringParameters"`
	StageVariables map[string]string   `json:"stageVariables"`
	Context        socketContext       `json:"requestContext"`
}

type socketContext struct {
	RouteKey          string            `json:"routeKey"`
	Authorizer        map[string]string `json:"authorizer,omitempty"`
	MessageID         string            `json:"messageId,omitempty"`
	DisconnectStatus  int               `json:"disconnectStatusCode,omitempty"`
	DisconnectReason  *string           `json:"disconnectReason,omitempty"`
	EventType         string            `json:"eventType"`
	ExtendedRequestID string            `json:"extendedRequestId"`
	RequestTime       string            `json:"requestTime"`
	MessageDirection  string            `json:"messageDirection"`
	Stage             string            `json:"stage"`
	ConnectedAt       int64             `json:"connectedAt"`
	RequestTimeEpoch  int64             `json:"requestTimeEpoch"`
	Identity          socketIdentity    `json:"identity"`
	RequestID         string            `json:"requestId"`
	DomainName        string            `json:"domainName"`
	ConnectionID      string            `json:"connectionId"`
	APIID             string            `json:"apiId"`
}

type socketIdentity struct {
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent,omitempty"`
}

// peer is what all events of one connection have in common.
type peer struct {
	id          string
	domain      string
	identity    socketIdentity
	connectedAt time.Time
	authorizer  map[string]string // the authorizer's context, and principalId
}

// contextOf begins the requestContext of one event, with ids of its own.
func (g *Gateway) contextOf(p peer, routeKey, eventType string) socketContext {
	words, millis := clock(g.now())
	id := newID()
	return socketContext{
		RouteKey: routeKey, Authorizer: p.authorizer, EventType: eventType, ExtendedRequestID: id, RequestTime: words,
		MessageDirection: "IN", Stage: g.Stack.WebSocket.Stage, ConnectedAt: p.connectedAt.UnixMilli(), RequestTimeEpoch: millis,
		Identity: p.identity, RequestID: id, DomainName: p.domain, ConnectionID: p.id, APIID: g.Stack.WebSocket.ID,
	}
}

// connectEvent describes the handshake r for $connect.
func (g *Gateway) connectEvent(p peer, r *http.Request) socketEvent {
	h, q := g.handshakeHeaders(r), queryOf(r)
	return socketEvent{
		Headers: last(h), MultiHeaders: h, Query: last(q), MultiQuery: q, Context: g.contextOf(p, "$connect", "CONNECT"),
	}
}

// authorizeEvent describes the handshake r for the authorizer.
func (g *Gateway) authorizeEvent(p peer, r *http.Request) authorizerEvent {
	e := g.connectEvent(p, r)
	return authorizerEvent{
		Type: "REQUEST", MethodARN: g.connectARN(), Headers: e.Headers, MultiHeaders: e.MultiHeaders, Query: e.Query,
		MultiQuery: e.MultiQuery, StageVariables: map[string]string{}, Context: e.Context,
	}
}

// connectARN is what an authorizer allows or denies.
func (g *Gateway) connectARN() string {
	s := g.Stack
	return "arn:aws:execute-api:" + s.Region + ":" + s.Account + ":" + s.WebSocket.ID + "/" + s.WebSocket.Stage + "/$connect"
}

// messageEvent is one message of the client.
func (g *Gateway) messageEvent(p peer, routeKey, body string) socketEvent {
	c := g.contextOf(p, routeKey, "MESSAGE")
	c.MessageID = newID()
	return socketEvent{Context: c, Body: &body}
}

// disconnectEvent says how the connection ended.
func (g *Gateway) disconnectEvent(p peer, how closing) socketEvent {
	c := g.contextOf(p, "$disconnect", "DISCONNECT")
	c.DisconnectStatus, c.DisconnectReason = how.code, &how.reason
	h := map[string][]string{"Host": {p.domain}, "x-api-key": {""}, "X-Forwarded-For": {""}}
	return socketEvent{Headers: last(h), MultiHeaders: h, Context: c}
}

// handshakeHeaders gives the client's headers, all values of each, and those that the gateway adds.
func (g *Gateway) handshakeHeaders(r *http.Request) map[string][]string {
	out := map[string][]string{"Host": {r.Host}}
	for name, values := range r.Header {
		// net/http spells these Sec-Websocket-...; clients do not.
		out[strings.Replace(name, "Sec-Websocket-", "Sec-WebSocket-", 1)] = values
	}
	for name, value := range forwarded(r, g.now()) {
		out[name] = []string{value}
	}
	return out
}

// last gives the last value of each name: where only one can be had, AWS gives that.
func last[M ~map[string][]string](multi M) map[string]string {
	out := make(map[string]string, len(multi))
	for name, values := range multi {
		out[name] = values[len(values)-1]
	}
	return out
}
