package entry

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

type (
	wsRequest  = events.APIGatewayWebsocketProxyRequest
	wsResponse = events.APIGatewayProxyResponse
)

var accepted = wsResponse{StatusCode: http.StatusOK}

// caller is the verified user that the authorizer put into the connection's context.
func caller(e wsRequest) (contract.Principal, error) {
	context, _ := e.RequestContext.Authorizer.(map[string]any)
	sub, _ := context["sub"].(string)
	if sub == "" {
		return contract.Principal{}, fault.New(fault.Denied, "no verified user")
	}
	return task.User(sub), nil
}

// Connected makes the $connect handler: it records the connection and names the one subprotocol that was offered as a scheme.
func Connected(log *slog.Logger, put func(context.Context, store.Connection) error) func(context.Context, wsRequest) (wsResponse, error) {
	return func(ctx context.Context, e wsRequest) (wsResponse, error) {
		user, err := caller(e)
		if err == nil {
			err = put(ctx, store.Connection{
				ID: e.RequestContext.ConnectionID, UserID: user.ID, ConnectedAt: e.RequestContext.ConnectedAt,
				Features: features(e.QueryStringParameters["features"]),
			})
		}
		if err != nil {
			note(ctx, log, "connection refused", err, "connection", e.RequestContext.ConnectionID)
			return wsResponse{StatusCode: statuses[fault.CodeOf(err)]}, nil
		}
		_, subprotocol := identity.TokenFrom(e.Headers, e.MultiValueHeaders, e.QueryStringParameters)
		if subprotocol == "" {
			return accepted, nil
		}
		return wsResponse{StatusCode: http.StatusOK, Headers: map[string]string{"Sec-WebSocket-Protocol": subprotocol}}, nil
	}
}

// features are the additions a client asks for; those it may not know are dropped.
func features(text string) []string {
	var known []string
	for _, f := range strings.Split(text, ",") {
		if f = strings.TrimSpace(f); (f == contract.FeatureReset || f == contract.FeatureApprovals) && !slices.Contains(known, f) {
			known = append(known, f)
		}
	}
	return known
}

// Disconnected makes the $disconnect handler. API Gateway calls it on a best-effort basis.
func Disconnected(log *slog.Logger, forget func(ctx context.Context, connectionID string) error) func(context.Context, wsRequest) (wsResponse, error) {
	return func(ctx context.Context, e wsRequest) (wsResponse, error) {
		if err := forget(ctx, e.RequestContext.ConnectionID); err != nil {
			note(ctx, log, "disconnect", err, "connection", e.RequestContext.ConnectionID)
			return wsResponse{StatusCode: statuses[fault.CodeOf(err)]}, nil
		}
		return accepted, nil
	}
}

// Socket handles the messages of open connections.
type Socket struct {
	Chat flow.Chat
	Stop flow.Stop
	Tell func(ctx context.Context, connectionID string, messages ...contract.ServerMessage) error // in order
	Log  *slog.Logger
}

// Message is the handler of everything a client sends. The sender is answered over its own connection: a fault becomes one error
// message. Only what we did wrong fails the invocation; a sender who has gone needs no answer.
func (s Socket) Message(ctx context.Context, e wsRequest) (wsResponse, error) {
	m, reply, err := s.act(ctx, e)
	id := e.RequestContext.ConnectionID
	if err != nil {
		note(ctx, s.Log, "message refused", err, "connection", id)
		return accepted, s.answer(ctx, id, contract.ServerMessage{
			Type: contract.TypeError, Error: word(err), Message: fault.Public(err), SessionID: m.SessionID, DeliveryID: m.DeliveryID,
			ActionID: m.ActionID,
		})
	}
	if reply.Type != "" {
		return accepted, s.answer(ctx, id, reply)
	}
	return accepted, nil
}

func (s Socket) answer(ctx context.Context, connectionID string, m contract.ServerMessage) error {
	if err := s.Tell(ctx, connectionID, m); !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

// act does what a client asks for, and gives the answer that it waits for; most wait for none.
func (s Socket) act(ctx context.Context, e wsRequest) (m contract.ClientMessage, reply contract.ServerMessage, err error) {
	user, err := caller(e)
	if err != nil {
		return m, reply, err
	}
	if err := decode("message", []byte(e.Body), &m); err != nil {
		return m, reply, err
	}
	from := flow.Socket{ConnectionID: e.RequestContext.ConnectionID, ConnectedAt: time.UnixMilli(e.RequestContext.ConnectedAt)}
	switch m.Action {
	case "", "message":
		_, err = s.Chat.Do(ctx, from, flow.AdmitIn{
			SessionID: m.SessionID, Caller: user, Text: m.Request, Admission: m.Admission, DeliveryID: m.DeliveryID,
		})
	case "stop":
		_, err = s.Stop.Do(ctx, flow.StopIn{SessionID: m.SessionID, Caller: user, Clear: m.Clear})
	case "subscribe":
		err = flow.Subscribe{Chat: s.Chat, Tell: s.Tell}.Do(ctx, from, flow.SubscribeIn{
			SessionOf: flow.SessionOf{SessionID: m.SessionID, Caller: user}, From: m.StartIndex,
		})
	case "decide":
		reply, err = s.decide(ctx, user, m)
	case "ping":
		reply.Type = contract.TypePong
	default:
		err = fault.New(fault.Invalid, "action: %q is not one of message, stop, subscribe, decide, ping", clip(m.Action))
	}
	return m, reply, err
}

func (s Socket) decide(ctx context.Context, user contract.Principal, m contract.ClientMessage) (contract.ServerMessage, error) {
	a, err := flow.Approvals{Edges: s.Chat.Edges}.Decide(ctx, flow.DecideIn{
		SessionID: m.SessionID, ActionID: m.ActionID, Caller: user, Verdict: m.Decision, Reason: m.Reason,
	})
	return contract.ServerMessage{Type: contract.TypeDecided, SessionID: m.SessionID, ActionID: m.ActionID, Status: a.Status}, err
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// Authorize makes the $connect authorizer. What cannot be verified is denied with the reason in the log; keys that cannot be
// fetched now fail the call, so that the client tries again.
func Authorize(log *slog.Logger, verify func(ctx context.Context, token string) (identity.Caller, error)) func(context.Context, events.APIGatewayCustomAuthorizerRequestTypeRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	return func(ctx context.Context, e events.APIGatewayCustomAuthorizerRequestTypeRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
		token, _ := identity.TokenFrom(e.Headers, e.MultiValueHeaders, e.QueryStringParameters)
		who, err := verify(ctx, token)
		if err != nil {
			note(ctx, log, "sign-in refused", err)
			if !fault.Is(err, fault.Denied) {
				return events.APIGatewayCustomAuthorizerResponse{}, err
			}
			return policy("anonymous", "Deny", e.MethodArn, nil), nil
		}
		return policy(who.Sub, "Allow", e.MethodArn, map[string]any{"sub": who.Sub}), nil
	}
}

func policy(principal, effect, arn string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principal, Context: context,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version:   "2012-10-17",
			Statement: []events.IAMPolicyStatement{{Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{arn}}},
		},
	}
}
