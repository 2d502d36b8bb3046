package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// joins opens a connection that asks to be told all there was.
func joins(t *testing.T, p *stage.Play, connection string, features ...string) {
	t.Helper()
	noError(t, p.Edges.Table.PutConnection(t.Context(), store.Connection{
		ID: connection, UserID: stage.User.ID, ConnectedAt: p.Clock.Now().UnixMilli(), Features: features,
	}))
	p.Sockets.Open(connection)
	err := flow.Subscribe{Chat: flow.Chat{Edges: p.Edges}, Tell: p.Engine.Sockets.Tell}.Do(t.Context(), flow.Socket{ConnectionID: connection, ConnectedAt: p.Clock.Now()},
		flow.SubscribeIn{SessionOf: flow.SessionOf{SessionID: id, Caller: stage.User}, From: new(int64)})
	noError(t, err)
}

// shownOf is what a page shows: the text, and the calls that people are asked about, each word of them once.
func shownOf(t *testing.T, p *stage.Play, connection string) string {
	t.Helper()
	var all []string
	length, known := 0, map[string]bool{}
	for _, raw := range p.Sockets.Posts(connection) {
		var m contract.ServerMessage
		noError(t, json.Unmarshal([]byte(raw), &m))
		switch e := m.Event; {
		case e == nil && m.Type != contract.TypeSubscribed:
			all = append(all, strings.TrimSpace(m.Type+" "+m.Error))
		case e == nil:
		case e.Approval != nil:
			word := strings.Join(strings.Fields(e.Approval.Name+" "+string(e.Approval.Input)+" "+e.Approval.Status+" "+e.Approval.By), " ")
			if !known[word] {
				all, known[word] = append(all, word), true
			}
		case e.Data != nil && *m.Offset == int64(length):
			all, length = append(all, *e.Data), length+len(*e.Data)
		}
	}
	return strings.Join(all, "|")
}

// TestFollowersSeeWhatWaits: those who asked to be told see that a call waits and what was decided, also who came while it waited;
// others see the turn as ever.
func TestFollowersSeeWhatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		joins(t, p, "old")
		joins(t, p, "page", contract.FeatureReset, contract.FeatureApprovals)
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
		asked := `Let me see. |write_down {"text":"b0"} pending`
		if got := shownOf(t, p, "page"); got != asked {
			t.Errorf("while it waits the page has %q", got)
		}
		joins(t, p, "late", contract.FeatureApprovals)
		if got := shownOf(t, p, "late"); got != asked {
			t.Errorf("who comes then has %q", got)
		}
		noError(t, decide(p, callID(t, p, "write_down")[0], contract.Approve, stage.User)(ctx), p.Rest(ctx, id))
		joins(t, p, "last", contract.FeatureApprovals)
		for connection, want := range map[string]string{
			"page": asked + "|write_down approved user-1|All |done.|complete", "last": asked + "|write_down approved user-1|All done.|complete",
			"old": "Let me see. |All |done.|complete",
		} {
			if diff := cmp.Diff(want, shownOf(t, p, connection)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", connection, diff)
			}
		}
		if got := shownOf(t, p, "late"); !strings.HasSuffix(got, "write_down approved user-1|All |done.|complete") {
			t.Errorf("who came while it waited has %q", got)
		}
	})
}

// TestFollowersSeeThatNobodyDecided: a request that expires is told of while the turn goes on.
func TestFollowersSeeThatNobodyDecided(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		noError(t, send(p, id, "use the tools", contract.Preempt)(ctx), p.Drain(ctx))
		p.Clock.Advance(session.ApprovalLife - time.Minute)
		joins(t, p, "page", contract.FeatureApprovals)
		noError(t, p.Rest(ctx, id))
		if got := shownOf(t, p, "page"); !strings.Contains(got, "write_down expired|") {
			t.Errorf("the page has %q", got)
		}
	})
}
