package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// helpful calls a tool, then answers.
func helpful(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	if len(last.Results()) > 0 {
		return fake.Say("done ", "with it")
	}
	return fake.Calls("let me see ", model.ToolUse{ID: fmt.Sprintf("call_%d", len(req.Messages)), Name: "look_up", Input: json.RawMessage(`{"text":"a"}`)})
}

// TestP13WhereverItBreaks: at every call the client, its route or the owner dies, an answer is lost or a call fails; whoever then
// asks again shows what is stored, whether it has a socket of its own since or the one it had.
func TestP13WhereverItBreaks(t *testing.T) {
	type act = func(context.Context) error
	for _, f := range []struct {
		name string
		acts func(t *testing.T, s *stage.Stage) (before, mid []act)
	}{
		{"subscribe, then a turn", func(t *testing.T, s *stage.Stage) ([]act, []act) {
			return []act{subscribing(s, "c"), sending(s, "first")}, nil
		}},
		{"subscribe in mid-answer", func(t *testing.T, s *stage.Stage) ([]act, []act) {
			return []act{sending(s, "first")}, []act{subscribing(s, "c"), subscribing(s, "c")}
		}},
		{"subscribe and interrupt", func(t *testing.T, s *stage.Stage) ([]act, []act) {
			return []act{subscribing(s, "c"), sending(s, "first")}, []act{sending(s, "second"), subscribing(s, "c")}
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			fake.Explore(t, fake.Flow{Name: f.name, New: func() *fake.Run {
				p := &stage.Play{Stage: stage.New(&fake.Model{Answer: helpful})}
				p.During = p.Midst
				p.Sockets.World = &fake.World{} // posts outlive their worker: they are disturbed elsewhere
				p.Sockets.Open("c", "new")
				p.Acts, p.Mid = f.acts(t, p.Stage)
				p.Acts = append([]act{connecting(p.Stage, "c"), connecting(p.Stage, "new")}, p.Acts...)
				return p.Run(nil, func() error { return asksAgain(p.Stage) })
			}})
		})
	}
}

func sending(s *stage.Stage, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Send(ctx, id, text, func(in *flow.AdmitIn) { in.DeliveryID = text })
		return err
	}
}

func connecting(s *stage.Stage, connection string) func(context.Context) error {
	return func(ctx context.Context) error {
		return s.Edges.Table.PutConnection(ctx, store.Connection{
			ID: connection, UserID: stage.User.ID, ConnectedAt: s.Clock.Now().UnixMilli(), Features: []string{contract.FeatureReset},
		})
	}
}

func subscribing(s *stage.Stage, connection string) func(context.Context) error {
	return func(ctx context.Context) error {
		from := flow.Socket{ConnectionID: connection, ConnectedAt: s.Clock.Now()}
		return subscribe(ctx, s, from, new(int64(0)))
	}
}

// asksAgain subscribes once more and compares what is shown with what is stored.
func asksAgain(s *stage.Stage) error {
	if err := s.Check(id); err != nil {
		return err
	}
	texts, ended, err := told(s)
	if err != nil {
		return err
	}
	for _, connection := range []string{"c", "new"} {
		if err := subscribing(s, connection)(context.Background()); err != nil {
			return err
		}
		got := watch(s.Sockets.Posts(connection))
		if diff := cmp.Diff(ended, got.ended); diff != "" {
			return fmt.Errorf("%s is told of the ends (-stored +told):\n%s", connection, diff)
		}
		for turn, how := range ended { // of a turn that did not complete, what was shown last may not have been written
			if how == "complete" && texts[turn] != got.texts[turn] {
				return fmt.Errorf("%s shows %q of %s, stored is %q", connection, got.texts[turn], turn, texts[turn])
			}
		}
	}
	return nil
}

// told is stored for a check without a test.
func told(s *stage.Stage) (texts, ended map[string]string, err error) {
	texts, ended = map[string]string{}, map[string]string{}
	events, err := s.Events(context.Background(), id)
	for _, e := range events {
		var d struct{ Text, Status string }
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, nil, err
		}
		switch e.Type {
		case "message.completed":
			texts[e.TurnID] += d.Text
		case "turn.completed":
			ended[e.TurnID] = contract.TypeComplete
		case "turn.failed":
			ended[e.TurnID] = d.Status
		}
	}
	return texts, ended, err
}
