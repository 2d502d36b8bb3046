package turn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// hook is an act that a channel takes in, with a delivery of its own.
func hook(p *stage.Play, text, delivery string) act {
	return func(ctx context.Context) error {
		_, err := flow.Receive{Edges: p.Edges}.Do(ctx, flow.ReceiveIn{Channel: "gh", Caller: stage.User, Message: contract.Message{
			ContinuationToken: "pr:1", Text: text, DeliveryID: delivery,
		}})
		return err
	}
}

// channelled is the conversation of pr:1.
func channelled(p *stage.Play) string {
	there, err := p.Edges.Table.Continuation(context.Background(), "gh", "pr:1")
	if err != nil {
		return err.Error()
	}
	return there.SessionID
}

// heard notes what the channel is told, by index. It must be what the log says.
type heard map[int64]string

func (h heard) note(e contract.AgentSessionEvent) error {
	if e.Channel != "gh" || e.ContinuationToken != "pr:1" {
		return fmt.Errorf("event %d came as of %s %s", e.Index, e.Channel, e.ContinuationToken)
	}
	h[e.Index] = e.Type + " " + string(e.Data)
	return nil
}

// complete is the check that the channel was told all that the log says, but pieces, and that nothing is owed any more.
func (h heard) complete(p *stage.Play) error {
	id := channelled(p)
	want := heard{}
	for e, err := range p.Edges.Table.SessionEvents(context.Background(), id, 0) {
		if err != nil {
			return err
		}
		if e.Type != "message.appended" && e.Type != "reasoning.appended" {
			want[e.Index] = e.Type + " " + string(e.Data)
		}
	}
	if diff := cmp.Diff(want, h); diff != "" {
		return fmt.Errorf("told (-log +channel):\n%s", diff)
	}
	s, err := p.Edges.Table.State(context.Background(), id)
	if err != nil || s.Owes() || s.DueSK != "" && s.Phase != "parked" {
		return fmt.Errorf("at rest: owes %t, due %q, %v", s.Owes(), s.DueSK, err)
	}
	return p.Check(id)
}

// TestExploreEventsOwedToAChannel kills, cuts and repeats at every call of a turn with tools, of one that takes a nudge, and of one that
// waits for a person: the channel is told everything.
func TestExploreEventsOwedToAChannel(t *testing.T) {
	flows := map[string]func(p *stage.Play){
		"a turn with tools": func(p *stage.Play) { p.Acts = []act{hook(p, "use the tools", "d-1")} },
		"a webhook twice":   func(p *stage.Play) { p.Acts = []act{hook(p, "use the tools", "d-1"), hook(p, "use the tools", "d-1")} },
		"a nudge in the middle": func(p *stage.Play) {
			p.Acts, p.Mid = []act{hook(p, "use the tools", "d-1")}, []act{hook(p, "and quick", "d-2")}
		},
		"a turn that waits for a person": func(p *stage.Play) {
			p.Engine.Tools = tool.Registry{p.Engine.Tools[0], tool.RequireApproval(p.Engine.Tools[1])}
			p.Acts = []act{hook(p, "use the tools", "d-1")}
		},
	}
	for name, arrange := range flows {
		fake.Explore(t, fake.Flow{Name: name + ", told to its channel", Pairs: 20, New: func() *fake.Run {
			p, told := play(helpful), heard{}
			p.Heard = func(_ context.Context, e contract.AgentSessionEvent) error { return told.note(e) }
			arrange(p)
			return p.Run(nil, func() error { return told.complete(p) })
		}})
	}
}
