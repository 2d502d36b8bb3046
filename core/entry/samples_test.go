package entry_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Who and what the samples are about.
const (
	sampleUser    = "c4d8f4a8-3051-70d9-8f5c-2f4a1b6e9d10"
	sampleSession = "0f1a9c52-6a5e-4a55-9f0d-6f0e8f7f6f11"
	sampleTask    = "8d3f0c1e-59d6-4f0b-8a7c-0c5f2b1d9e42"
)

// TestHTTPSamples: the samples of HTTP functions without a body of their own name caller, session and task.
func TestHTTPSamples(t *testing.T) {
	tests := []struct {
		function, route string
		read            func(entry.Request) (any, error)
		want            any
	}{
		{"get-session", "GET /agent/sessions/{sessionId}", session, flow.SessionOf{SessionID: sampleSession, Caller: task.User(sampleUser)}},
		{"delete-session", "DELETE /agent/sessions/{sessionId}", session, flow.SessionOf{SessionID: sampleSession, Caller: task.User(sampleUser)}},
		{"get-task", "GET /agent/tasks/{taskId}", ofTask, flow.TaskOf{TaskID: sampleTask, Caller: sampleUser}},
		{"cancel-task", "POST /agent/tasks/{taskId}/cancel", ofTask, flow.TaskOf{TaskID: sampleTask, Caller: sampleUser}},
	}
	for _, tc := range tests {
		t.Run(tc.function, func(t *testing.T) {
			var e events.APIGatewayV2HTTPRequest
			sample(t, tc.function, &e)
			var got any
			handler := entry.HTTP(newRig().Log, tc.read, func(_ context.Context, in any) (string, error) {
				got = in
				return "done", nil
			}, entry.Always[string](http.StatusOK))
			answer, err := handler(t.Context(), e)
			if err != nil || answer.StatusCode != 200 || e.RouteKey != tc.route {
				t.Errorf("%s: = %+v, %v", e.RouteKey, answer, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

func session(r entry.Request) (any, error) { return entry.Session(r) }

func ofTask(r entry.Request) (any, error) { return entry.Task(r) }

func TestEventSamples(t *testing.T) {
	t.Run("run-agent-task", func(t *testing.T) {
		wantEvent(t, contract.RunAgentTask, "run-agent-task", task.Request{
			TaskID: sampleTask, Principal: task.User(sampleUser), Request: "Summarize the new comments.", CreatedBy: sampleUser,
			DeliveryID: "comments-2026-01-05",
		})
	})
	t.Run("run-turn", func(t *testing.T) {
		wantEvent(t, contract.RunAgentTurn, "run-turn", contract.RunTurn{SessionID: sampleSession})
	})
	t.Run("create-session-from-event", func(t *testing.T) {
		wantEvent(t, contract.CreateAgentSession, "create-session-from-event", contract.CreateSession{
			SessionID: sampleSession, UserID: sampleUser, Title: "Trip to Lisbon", SystemPrompt: "You help with travel plans.",
			Tools: []string{"get_current_time"},
		})
	})
}

// wantEvent reads a function's sample as EventBridge's envelope, strictly, and through the function's handler.
func wantEvent[In any](t *testing.T, detailType, function string, want In) {
	t.Helper()
	var envelope events.EventBridgeEvent
	sample(t, function, &envelope)
	if envelope.DetailType != detailType || envelope.Source != contract.Source {
		t.Errorf("the sample is %q of %q", envelope.DetailType, envelope.Source)
	}
	var got In
	handler := entry.Event(newRig().Log, nil, func(_ context.Context, in In, id string) error {
		if id != envelope.ID {
			t.Errorf("envelope id = %q, want %q", id, envelope.ID)
		}
		got = in
		return nil
	})
	raw, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	var e contract.RawEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if err := handler(t.Context(), e); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
}

// TestScheduleSample: the sweep takes no input; what Scheduler sends by itself has to be an event that can be had.
func TestScheduleSample(t *testing.T) {
	var e events.EventBridgeEvent
	sample(t, "recover", &e)
	if e.Source != "aws.scheduler" || e.DetailType != "Scheduled Event" || string(e.Detail) != `"{}"` {
		t.Errorf("the sample is %+v", e)
	}
}

func TestWebSocketSamples(t *testing.T) {
	r := newRig()
	var authorize events.APIGatewayCustomAuthorizerRequestTypeRequest
	sample(t, "ws-authorize", &authorize, "requestContext") // the library's type is that of REST APIs
	verified := ""
	allow, err := entry.Authorize(r.Log, func(_ context.Context, token string) (identity.Caller, error) {
		verified = token
		return identity.Caller{Sub: sampleUser}, nil
	})(t.Context(), authorize)
	if err != nil || allow.PrincipalID != sampleUser || len(verified) < 40 || allow.PolicyDocument.Statement[0].Resource[0] != authorize.MethodArn {
		t.Errorf("ws-authorize: verified %q, = %+v, %v", verified, allow, err)
	}

	var connect, message, disconnect events.APIGatewayWebsocketProxyRequest
	sample(t, "ws-connect", &connect)
	answer, err := entry.Connected(r.Log, r.Table.PutConnection)(t.Context(), connect)
	if err != nil || answer.StatusCode != 200 || answer.Headers["Sec-WebSocket-Protocol"] != identity.Scheme {
		t.Errorf("ws-connect = %+v, %v", answer, err)
	}

	sample(t, "ws-message", &message)
	if _, err := r.socket().Message(t.Context(), message); err != nil || len(r.posted) != 0 {
		t.Errorf("ws-message: %v, posted %+v", err, r.posted)
	}
	if c, err := r.Table.Connection(t.Context(), connect.RequestContext.ConnectionID); err != nil || c.UserID != sampleUser || len(c.Sessions) != 1 || c.Sessions[0] != sampleSession {
		t.Errorf("the connection = %+v, %v, want that it follows the session", c, err)
	}

	sample(t, "ws-disconnect", &disconnect)
	if answer, err := entry.Disconnected(r.Log, r.Table.Disconnect)(t.Context(), disconnect); err != nil || answer.StatusCode != 200 {
		t.Errorf("ws-disconnect = %+v, %v", answer, err)
	}
	if rows := r.dynamo.Items("CONNECTION#"); len(rows) != 0 {
		t.Errorf("after the end the table still has %v", rows)
	}
}
