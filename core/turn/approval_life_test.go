package turn_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestASessionThatWaitsForPeopleKeepsWhatItIs: its configuration and its place in the list live as long as it does, also where the last
// turn was a month ago and people take weeks, twice.
func TestASessionThatWaitsForPeopleKeepsWhatItIs(t *testing.T) {
	const day, prompt = 24 * time.Hour, "You are careful."
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := parking(1)
		once := p.Model.Answer
		p.Model.Answer = func(req model.Request) fake.Turn { // it asks twice
			if len(req.Messages) < 6 && len(req.Messages[len(req.Messages)-1].Results()) > 0 {
				return fake.Calls("", call(len(req.Messages), "write_down", "again"))
			}
			return once(req)
		}
		p.Engine.Approvals = 27 * day
		c := session.Config{SessionID: id, UserID: stage.User.ID, SystemPrompt: prompt, Title: "Careful"}
		_, err := flow.CreateSession{Edges: p.Edges}.Do(ctx, flow.CreateSessionIn{Config: c})
		noError(t, err, send(p, id, "wait", contract.Preempt)(ctx), p.Rest(ctx, id))
		p.Clock.Advance(29 * day)
		noError(t, send(p, id, "go", contract.Preempt)(ctx), p.Drain(ctx))
		for n := range 2 {
			ids := callID(t, p, "write_down")
			if len(ids) != n+1 {
				t.Fatalf("asked about %v", ids)
			}
			p.Clock.Advance(26 * day)
			noError(t, decide(p, ids[n], contract.Approve, stage.User)(ctx), p.Drain(ctx))
			if got := lastRequest(p.Stage).System; got != prompt {
				t.Errorf("after %d weeks it goes on as %q", 4*(n+1), got)
			}
			list, err := flow.ListSessions{Edges: p.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User})
			if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Title != "Careful" {
				t.Errorf("after %d weeks the list is %v, %v", 4*(n+1), list.Sessions, err)
			}
		}
		noError(t, p.Rest(ctx, id), p.Check(id))
		if got := approvals(p); got != "turn.completed, asked, approved by user-1, asked, approved by user-1, turn.completed" {
			t.Errorf("the log says %s", got)
		}
	})
}
