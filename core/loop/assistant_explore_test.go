package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// helpful calls a tool when the user says "look", and tells how many messages it has seen.
func helpful(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	if strings.HasSuffix(last.PlainText(), "look") {
		return fake.Calls("", model.ToolUse{ID: fmt.Sprintf("call_%d", len(req.Messages)), Name: "work", Input: []byte("{}")})
	}
	return fake.Say("done")
}

// TestExploreAssistant: wherever a program dies in a turn, an answer is lost or a call fails, the words said again are answered, no
// reply is kept twice and the history is one that the model takes.
func TestExploreAssistant(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "an assistant's turn with a tool", Pairs: 60, Seed: 1, New: func() *fake.Run {
		world := &fake.World{}
		dynamo := fake.NewDynamo("mine")
		dynamo.World = world
		table := store.Table{Name: "mine", DynamoDB: dynamo}
		m := &fake.Model{World: world, Answer: helpful}
		a := loop.Assistant{SessionID: "s", Model: m, Storage: table, Tools: []tool.Tool{work()}}
		texts, answered := []string{"hi", "look", "bye"}, 0
		do := func(ctx context.Context) error {
			for answered < len(texts) && ctx.Err() == nil {
				answer, err := a.HandleTask(ctx, texts[answered])
				if err != nil || fake.Killed(ctx) {
					return err
				}
				if answer.Output != "done" {
					return fmt.Errorf("%q is answered %q", texts[answered], answer.Output)
				}
				answered++
			}
			return nil
		}
		return &fake.Run{World: world, Do: do, Recover: do, Check: func() error {
			h, err := look(table)
			if err != nil {
				return err
			}
			repaired, changed := snapshot.Repair(h.Messages)
			if refused := m.Refused(); len(refused) > 0 || changed && !merges(h.Messages) {
				return fmt.Errorf("refused %v, repaired:\n%s", refused, cmp.Diff(said(h.Messages), said(repaired)))
			}
			last := said(h.Messages)[len(h.Messages)-2:]
			if diff := cmp.Diff([]string{"user: bye", "assistant: done"}, last); diff != "" {
				return errors.New(diff)
			}
			return nil
		}}
	}})
}

// look reads the conversation; a disturbance that is left over may strike the first time.
func look(table store.Table) (h snapshot.History, err error) {
	for range 3 {
		ctx := fake.WithWorker(context.Background(), "look")
		if h, err = table.Conversation(ctx, "s"); err == nil && !fake.Killed(ctx) {
			return h, nil
		}
	}
	return h, err
}

// merges reports whether the user speaks twice in a row somewhere: words whose turn died after a step, said again.
func merges(messages []model.Message) bool {
	for i := 1; i < len(messages); i++ {
		if messages[i].Role == messages[i-1].Role {
			return true
		}
	}
	return false
}

// TestTheFunctionsGoOnWithAConversation: what a program has said by itself is known to the functions, which own the session from
// their first message on.
func TestTheFunctionsGoOnWithAConversation(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	for _, strands := range []bool{false, true} {
		t.Run(fmt.Sprintf("strands %t", strands), func(t *testing.T) {
			s := stage.New(&fake.Model{Answer: helpful})
			s.Engine.Strands = strands
			own := &fake.Model{Answer: helpful}
			a := loop.Assistant{SessionID: id, Model: own, Storage: s.Edges.Table, Tools: []tool.Tool{work()}}
			if _, err := a.HandleTask(t.Context(), "look"); err != nil {
				t.Fatal(err)
			}
			_, err := s.Send(t.Context(), id, "hello")
			if err := errors.Join(err, s.Drain(t.Context())); err != nil {
				t.Fatal(err)
			}
			want := []string{"user: look", "assistant: call call_1", "user: result call_1 success", "assistant: done", "user: hello"}
			if diff := cmp.Diff(want, said(s.Model.Requests()[0].Messages)); diff != "" {
				t.Errorf("the functions' model is asked (-want +got):\n%s", diff)
			}
			if _, err := a.HandleTask(t.Context(), "again"); fault.ReasonOf(err) != store.Hosted || len(own.Requests()) != 2 {
				t.Errorf("the program's next turn: %v, %d requests; want a refusal before the model is asked", err, len(own.Requests()))
			}
			_, err = s.Send(t.Context(), id, "and again")
			if err := errors.Join(err, s.Drain(t.Context()), s.Check(id)); err != nil {
				t.Fatal(err)
			}
			if n := len(s.Model.Requests()[1].Messages); n != len(want)+2 {
				t.Errorf("the second request has %d messages, want %d", n, len(want)+2)
			}
		})
	}
}

// TestAProgramSpeaksAfterTheFunctions: of a session of the functions whose time is over nothing is left to a later one of this id
// but what its owner has said since in a program; somebody else's words go.
func TestAProgramSpeaksAfterTheFunctions(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	for _, tt := range []struct {
		name  string
		owned bool
		want  []string
	}{
		{"the owner's", true, []string{"user: meanwhile", "assistant: done", "user: hello"}},
		{"nobody's on record", false, []string{"user: hello"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := stage.New(&fake.Model{Answer: helpful})
			_, err := s.Send(t.Context(), id, "long ago")
			if err := errors.Join(err, s.Drain(t.Context())); err != nil {
				t.Fatal(err)
			}
			s.Clock.Advance(session.Life + time.Hour)
			if tt.owned {
				if _, err := s.Edges.Table.CreateSession(t.Context(), session.Config{SessionID: id, UserID: stage.User.ID}); err != nil {
					t.Fatal(err)
				}
			}
			a := loop.Assistant{SessionID: id, Model: &fake.Model{Answer: helpful}, Storage: s.Edges.Table}
			if _, err := a.HandleTask(t.Context(), "meanwhile"); err != nil {
				t.Fatal(err)
			}
			_, err = s.Send(t.Context(), id, "hello")
			if err := errors.Join(err, s.Drain(t.Context()), s.Check(id)); err != nil {
				t.Fatal(err)
			}
			asked := s.Model.Requests()
			if diff := cmp.Diff(tt.want, said(asked[len(asked)-1].Messages)); diff != "" {
				t.Errorf("the functions' model is asked (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnAssistantGoesOnWithThePackage: a conversation of the TypeScript package is known, and ours from then on.
func TestAnAssistantGoesOnWithThePackage(t *testing.T) {
	table, now := ownTable(), fake.Start()
	table.Now = fake.Start
	theirs := snapshot.Strands{Messages: history("one", "two"), State: []byte(`{"k":1}`), CreatedAt: now}
	if err := table.Commit(t.Context(), store.PutPackageSnapshot("s", "", theirs, now), store.PutLatest("s", store.PackageSnapshotID, now)); err != nil {
		t.Fatal(err)
	}
	m := &fake.Model{}
	for _, text := range []string{"three", "four"} {
		if _, err := (loop.Assistant{SessionID: "s", Model: m, Storage: table}).HandleTask(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"user: one", "assistant: two", "user: three", "assistant: ok", "user: four"}
	if diff := cmp.Diff(want, said(m.Requests()[1].Messages)); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
	if h, err := table.Conversation(t.Context(), "s"); err != nil || string(h.State) != `{"k":1}` {
		t.Errorf("state %s, %v", h.State, err)
	}
}

// wary answers as helpful, but a filter before it blocks what holds the secret where nobody is about to call a tool.
func wary(req model.Request) fake.Turn {
	all, err := json.Marshal(req.Messages)
	if err != nil {
		panic(err)
	}
	if last := req.Messages[len(req.Messages)-1]; strings.Contains(string(all), "hunter2") && !strings.HasSuffix(last.PlainText(), "look") {
		return fake.Say("no").Stopping(model.StopGuardrail)
	}
	return helpful(req)
}

// TestP06WhereverABlockedTurnOfAnAssistantBreaksOff: whether the turn that said it was blocked or broke off before, the words are in no row
// and in no later request, and the conversation goes on.
func TestP06WhereverABlockedTurnOfAnAssistantBreaksOff(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a blocked turn of an assistant", New: func() *fake.Run {
		world := &fake.World{}
		d := fake.NewDynamo("mine")
		d.World = world
		m := &fake.Model{World: world, Answer: wary}
		table := store.Table{Name: "mine", DynamoDB: d}
		a := loop.Assistant{SessionID: "s", Model: m, Tools: []tool.Tool{work()}, Storage: table}
		words := []string{"hello", "hunter2 look", "and now?", "and then?"}
		next := 0
		do := func(ctx context.Context) error {
			for next < len(words) {
				text := words[next]
				next++ // whether or not it succeeds: the user says something else
				if _, err := a.HandleTask(ctx, text); err != nil && fake.Killed(ctx) {
					return err
				}
			}
			return nil
		}
		return &fake.Run{World: world, Do: do, Recover: do, Check: func() error {
			if dump := d.Dump(); strings.Contains(dump, "hunter2") {
				return fmt.Errorf("stored: %s", dump)
			}
			asked := m.Requests()
			all, err := json.Marshal(asked[len(asked)-1].Messages)
			if err != nil || strings.Contains(string(all), "hunter2") {
				return fmt.Errorf("sent again: %s, %v", all, err)
			}
			return nil
		}}
	}})
}
