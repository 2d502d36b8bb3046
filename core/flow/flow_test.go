package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

const id = "11111111-1111-4111-8111-111111111111"

var other = task.User("user-2")

// bubble runs a test in a world of its own, where waiting costs no time and the model says ok.
func bubble(t *testing.T, test func(t *testing.T, ctx context.Context, s *stage.Stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, t.Context(), stage.New(&fake.Model{})) })
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func create(ctx context.Context, s *stage.Stage, c session.Config, by string) (flow.CreateSessionOut, error) {
	return flow.CreateSession{Edges: s.Edges}.Do(ctx, flow.CreateSessionIn{Config: c, CreatedBy: by})
}

func read(ctx context.Context, s *stage.Stage) (flow.SessionView, error) {
	return flow.GetSession{Edges: s.Edges}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
}

func remove(ctx context.Context, s *stage.Stage, caller contract.Principal) error {
	_, err := flow.DeleteSession{Edges: s.Edges}.Do(ctx, flow.SessionOf{SessionID: id, Caller: caller})
	return err
}

func request(taskID, sessionID string) task.Request {
	return task.Request{TaskID: taskID, Principal: stage.User, Request: "do it", SessionID: sessionID, DeliveryID: "dlv_" + taskID}
}

func bind(ctx context.Context, s *stage.Stage, r task.Request) (task.Result, error) {
	return flow.BindTask{Edges: s.Edges, MaxDepth: 8}.Do(ctx, flow.BindTaskIn{Request: r, EnvelopeID: "envelope"})
}
