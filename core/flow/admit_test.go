package flow_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func TestAdmitRefuses(t *testing.T) {
	long := strings.Repeat("x", contract.MaxMessageBytes+1)
	token := "stale"
	for _, tt := range []struct {
		name   string
		in     flow.AdmitIn
		code   fault.Code
		reason string
	}{
		{"nothing said", flow.AdmitIn{SessionID: id, Text: " \n", Caller: stage.User}, fault.Invalid, ""},
		{"too much said", flow.AdmitIn{SessionID: id, Text: long, Caller: stage.User}, fault.Invalid, ""},
		{"an admission nobody knows", flow.AdmitIn{SessionID: id, Text: "hi", Admission: "push", Caller: stage.User}, fault.Invalid, ""},
		{"no session id", flow.AdmitIn{Text: "hi", Caller: stage.User}, fault.Invalid, ""},
		{"a long delivery id", flow.AdmitIn{SessionID: id, Text: "hi", DeliveryID: strings.Repeat("d", 257), Caller: stage.User}, fault.Invalid, ""},
		{"a session id of a task", flow.AdmitIn{SessionID: "task-t9", Text: "hi", Caller: stage.User}, fault.Invalid, ""},
		{"another's session", flow.AdmitIn{SessionID: id, Text: "hi", Caller: other}, fault.Denied, ""},
		{"a stale token", flow.AdmitIn{SessionID: id, Text: "hi", Token: &token, Caller: stage.User}, fault.Conflict, "stale_token"},
		{"a token of a session that is not there", flow.AdmitIn{SessionID: "nobody's", Text: "hi", Token: &token, Caller: stage.User}, fault.NotFound, ""},
		{"a task's session", flow.AdmitIn{SessionID: "task-t1", Text: "hi", Caller: stage.User}, fault.Conflict, "task_session"},
		{"a busy session", flow.AdmitIn{SessionID: id, Text: "hi", Admission: contract.Reject, Caller: stage.User}, fault.Conflict, "session_busy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				_, err := s.Send(ctx, id, "hello")
				_, bindErr := bind(ctx, s, request("t1", ""))
				must(t, err, bindErr)
				before := s.Dynamo.Dump()
				_, err = flow.Admit{Edges: s.Edges}.Do(ctx, tt.in)
				if !fault.Is(err, tt.code) || fault.ReasonOf(err) != tt.reason {
					t.Errorf("Admit = %v, want %s %s", err, tt.code, tt.reason)
				}
				if diff := cmp.Diff(before, s.Dynamo.Dump()); diff != "" {
					t.Errorf("a refused message changes rows:\n%s", diff)
				}
			})
		})
	}
}

func TestTheSameDeliveryGetsTheFirstReceipt(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		out, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "call")
		must(t, err)
		send := func(text, delivery, token string) (contract.Delivery, error) {
			return s.Send(ctx, id, text, func(in *flow.AdmitIn) { in.DeliveryID, in.Token = delivery, &token })
		}
		first, err := send("hello", "dlv_1", out.ContinuationToken)
		must(t, err)
		if first.ContinuationToken == "" || first.ContinuationToken == out.ContinuationToken {
			t.Errorf("the token is not rotated: %+v", first)
		}
		again, err := send("hello", "dlv_1", out.ContinuationToken) // its token is stale by design
		must(t, err)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("receipts (-first +again):\n%s", diff)
		}
		if _, err := send("more", "dlv_2", out.ContinuationToken); fault.ReasonOf(err) != "stale_token" {
			t.Errorf("another message with the old token: %v", err)
		}
		second, err := send("more", "dlv_2", first.ContinuationToken)
		must(t, err, s.Drain(ctx), s.Check(id))
		view, err := read(ctx, s)
		if err != nil || view.ContinuationToken != second.ContinuationToken || view.Status != "waiting" || view.Pending != 0 {
			t.Errorf("session: %+v, %v", view, err)
		}
		again, err = send("hello", "dlv_1", "whatever") // also when all is over
		must(t, err, s.Drain(ctx), s.Check(id))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("receipts (-first +again):\n%s", diff)
		}
	})
}

// TestTheFirstMessageNeedsNoToken: over HTTP it may begin a session, once; a retry gets the same receipt, and the session has one owner.
func TestTheFirstMessageNeedsNoToken(t *testing.T) {
	begin := map[string]func(ctx context.Context, s *stage.Stage) error{
		"of a session that nobody created": func(context.Context, *stage.Stage) error { return nil },
		"of one that was created": func(ctx context.Context, s *stage.Stage) error {
			_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "call-1")
			return err
		},
	}
	for name, created := range begin {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				must(t, created(ctx, s))
				send := func(text, delivery, token string, caller contract.Principal) (contract.Delivery, error) {
					return s.Send(ctx, id, text, func(in *flow.AdmitIn) { in.DeliveryID, in.Token, in.Caller = delivery, &token, caller })
				}
				s.World.LoseAnswer(len(s.World.Calls()) + 3)
				first, err := send("hello", "dlv_1", "", stage.User)
				must(t, err)
				again, err := send("hello", "dlv_1", "", stage.User)
				must(t, err)
				if diff := cmp.Diff(first, again); diff != "" || first.ContinuationToken == "" {
					t.Errorf("receipts (-first +again):\n%s", diff)
				}
				if _, err := send("more", "dlv_2", "", stage.User); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "continuationToken") {
					t.Errorf("another message without a token: %v", err)
				}
				if _, err := send("mine", "dlv_3", "", other); !fault.Is(err, fault.Denied) {
					t.Errorf("another user's: %v", err)
				}
				_, err = send("more", "dlv_2", first.ContinuationToken, stage.User)
				must(t, err, s.Rest(ctx, id), s.Check(id), remove(ctx, s, stage.User))
				if _, err := send("late", "dlv_4", "", stage.User); !fault.Is(err, fault.NotFound) {
					t.Errorf("of a deleted session: %v", err)
				}
			})
		})
	}
}

func TestASendWhoseAnswerIsLostIsSettled(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		must(t, func() error { _, err := s.Send(ctx, id, "hello"); return err }(), s.Drain(ctx))
		s.World.LoseAnswer(len(s.World.Calls()) + 2) // of the transaction
		_, err := s.Send(ctx, id, "again")
		must(t, err, s.Drain(ctx), s.Check(id))
		if n := s.State(id).Admitted; n != 2 {
			t.Errorf("%d messages admitted, want 2", n)
		}
	})
}

func TestAnExpiredSessionBeginsAnew(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begin func(ctx context.Context, s *stage.Stage) error
	}{
		{"by a message", func(ctx context.Context, s *stage.Stage) error { _, err := s.Send(ctx, id, "hello"); return err }},
		{"by create", func(ctx context.Context, s *stage.Stage) error {
			_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID, Title: "new"}, "call-2")
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				_, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID, Title: "old"}, "call-1")
				must(t, err, func() error { _, err := s.Send(ctx, id, "hello"); return err }(), s.Drain(ctx), s.Check(id))
				s.Clock.Advance(session.Life + time.Hour)
				must(t, tt.begin(ctx, s), s.Drain(ctx), s.Check(id))
				st := s.State(id)
				if st.Expired(s.Clock.Now()) || st.Fence > 1 || st.Admitted > 1 {
					t.Errorf("not a new session: %+v", st)
				}
				events, err := s.Events(ctx, id)
				if err != nil || len(events) == 0 || events[0].Type != "session.started" || events[0].At != contract.At(s.Clock.Now()) {
					t.Errorf("events: %v, %v", events, err)
				}
			})
		})
	}
}

func TestASessionThatOnlyHasAConfiguration(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Edges.Table.CreateSession(ctx, session.Config{SessionID: id, UserID: stage.User.ID, Title: "Demo"})
		must(t, err)
		if _, err := s.Send(ctx, id, "mine", func(in *flow.AdmitIn) { in.Caller = other }); !fault.Is(err, fault.Denied) {
			t.Errorf("another user's message: %v", err)
		}
		if view, err := read(ctx, s); err != nil || view.Title != "Demo" || view.Status != "waiting" {
			t.Errorf("session: %+v, %v", view, err)
		}
		_, err = s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx), s.Check(id))
		if got := s.State(id).CreatedBy; got != "" {
			t.Errorf("created by %q", got)
		}
	})
}

func TestStop(t *testing.T) {
	stop := func(ctx context.Context, s *stage.Stage, caller contract.Principal, clear bool) (bool, error) {
		out, err := flow.Stop{Edges: s.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: caller, Clear: clear})
		return out.Stopping, err
	}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		if _, err := stop(ctx, s, stage.User, false); !fault.Is(err, fault.NotFound) {
			t.Errorf("stop of nothing: %v", err)
		}
		_, err := s.Send(ctx, id, "hello")
		must(t, err)
		if _, err := stop(ctx, s, other, false); !fault.Is(err, fault.Denied) {
			t.Errorf("stop by another: %v", err)
		}
		if ok, err := stop(ctx, s, stage.User, false); !ok || err != nil {
			t.Errorf("stop of what waits: %t, %v", ok, err)
		}
		if ok, err := stop(ctx, s, stage.User, false); ok || err != nil {
			t.Errorf("stop again: %t, %v", ok, err)
		}
		_, err = s.Send(ctx, id, "after all")
		must(t, err, s.Drain(ctx), s.Check(id))
		if n := len(s.Model.Requests()); n != 1 {
			t.Errorf("%d calls of the model, want 1", n)
		}
		for _, clear := range []bool{false, true} {
			if ok, err := stop(ctx, s, stage.User, clear); ok || err != nil {
				t.Errorf("stop in a quiet session (clear %t): %t, %v", clear, ok, err)
			}
		}
		_, err = s.Send(ctx, id, "still there?")
		must(t, err, s.Drain(ctx), s.Check(id))
		if n := len(s.Model.Requests()); n != 2 {
			t.Errorf("%d calls of the model, want 2: a stop of nothing stops nothing", n)
		}
	})
}

func TestDeleteLeavesATombstone(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Round = 6 * time.Minute
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		if err := remove(ctx, s, other); !fault.Is(err, fault.Denied) {
			t.Errorf("delete by another: %v", err)
		}
		connection := store.Connection{ID: "c1", UserID: stage.User.ID, ConnectedAt: s.Clock.Now().UnixMilli()}
		must(t, s.Edges.Table.PutConnection(ctx, connection), s.Edges.Table.Subscribe(ctx, id, connection))
		must(t, remove(ctx, s, stage.User), remove(ctx, s, stage.User), s.Rest(ctx, id), s.Check(id))
		if _, err := s.Send(ctx, id, "hello?"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a late send: %v", err)
		}
		if _, err := create(ctx, s, session.Config{SessionID: id, UserID: stage.User.ID}, "late"); !fault.Is(err, fault.Conflict) {
			t.Errorf("a late create: %v", err)
		}
		if _, err := read(ctx, s); !fault.Is(err, fault.NotFound) {
			t.Errorf("a late read: %v", err)
		}
		must(t, s.Engine.Do(ctx, id), s.Check(id))
		list, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User})
		if err != nil || len(list.Sessions) != 0 {
			t.Errorf("listed: %+v, %v", list, err)
		}
	})
}
