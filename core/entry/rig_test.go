package entry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// rig is the outside world of a handler under test, with all that it logs.
type rig struct {
	flow.Edges
	dynamo *fake.Dynamo
	events *fake.Bus
	world  *fake.World
	logged *bytes.Buffer
	posted []contract.ServerMessage
}

func newRig() *rig {
	r := &rig{world: &fake.World{}, logged: &bytes.Buffer{}}
	r.dynamo, r.events = &fake.Dynamo{World: r.world}, &fake.Bus{World: r.world}
	clock := &fake.Clock{}
	table := store.Table{Name: "main", DynamoDB: r.dynamo, Now: clock.Now}
	ids := 0
	r.Edges = flow.Edges{
		Table: table, Bus: bus.Bus{EventBridge: r.events, Details: table}, Now: clock.Now,
		NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) },
		Log:   slog.New(slog.NewJSONHandler(r.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return r
}

// socket is the message handler, whose posts are kept.
func (r *rig) socket() entry.Socket {
	return entry.Socket{
		Chat: flow.Chat{Edges: r.Edges}, Stop: flow.Stop{Edges: r.Edges}, Log: r.Log,
		Tell: func(_ context.Context, _ string, messages ...contract.ServerMessage) error {
			r.posted = append(r.posted, messages...)
			return nil
		},
	}
}

// say sends body over the connection of user and gives what was posted back.
func (r *rig) say(t *testing.T, user, body string) []contract.ServerMessage {
	t.Helper()
	r.posted = nil
	answer, err := r.socket().Message(t.Context(), fromSocket(user, "MESSAGE", body))
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("Message(%.60s) = %+v, %v, want 200", body, answer, err)
	}
	return r.posted
}

// fromSocket is an event of the connection of user; "" is nobody.
func fromSocket(user, kind, body string) events.APIGatewayWebsocketProxyRequest {
	e := events.APIGatewayWebsocketProxyRequest{Body: body}
	e.RequestContext.ConnectionID, e.RequestContext.EventType = "conn=", kind
	e.RequestContext.ConnectedAt = fake.Start().Add(-time.Minute).UnixMilli()
	if user != "" {
		e.RequestContext.Authorizer = map[string]any{"sub": user, "principalId": "somebody else"}
	}
	return e
}

// fromHTTP is a request of user; "" is nobody.
func fromHTTP(user, body string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{RouteKey: "POST /agent/things", Body: body}
	if user != "" {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": user, "username": "ada"}},
		}
	}
	return e
}

// sample reads events/<function>.json into v and refuses fields that v does not know, except those of loose.
func sample(t *testing.T, function string, v any, loose ...string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "events", function+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatalf("events/%s.json: %v", function, err)
	}
	for _, name := range loose {
		delete(fields, name)
	}
	strict, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(strict))
	d.DisallowUnknownFields()
	if err := errors.Join(d.Decode(v), json.Unmarshal(raw, v)); err != nil {
		t.Fatalf("events/%s.json: %v", function, err)
	}
}
