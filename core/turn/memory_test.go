package turn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// remembering gives a stage's users the memory that lies in the table.
func remembering(s *stage.Stage) {
	s.Engine.Memories = func(owner contract.Principal, sessionID string) loop.Memory {
		return memory.Table{Rows: s.Edges.Table, Owner: owner, SessionID: sessionID}
	}
}

const otherID = "22222222-2222-4222-8222-222222222222"

func sendAs(t *testing.T, ctx context.Context, s *stage.Stage, who contract.Principal, sessionID, text string) {
	t.Helper()
	_, err := s.Send(ctx, sessionID, text, func(in *flow.AdmitIn) { in.Caller = who })
	must(t, err, s.Rest(ctx, sessionID), s.Check(sessionID))
}

func TestWhatAUserSaidIsKnownInTheNextConversation(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		sendAs(t, ctx, s, task.User("a1"), id, "my cat is called Minka")
		sendAs(t, ctx, s, task.User("a10"), "33333333-3333-4333-8333-333333333333", "my cat is a secret of a10")
		sendAs(t, ctx, s, task.User("a1"), otherID, "what is my cat called?")
		req := lastRequest(s)
		if !strings.Contains(req.System, "\n- my cat is called Minka") || strings.Contains(req.System, "secret") {
			t.Errorf("the instructions of a1 are %q", req.System)
		}
		if len(req.Messages) != 1 || req.Messages[0].PlainText() != "what is my cat called?" {
			t.Errorf("the messages are %s", jsonOfAny(req.Messages))
		}
	})
}

// TestASkillsInstructionsAreNotWhatAUserSaid.
func TestASkillsInstructionsAreNotWhatAUserSaid(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		skilled(s, skill.Skill{Name: "vet", Description: "Helps cats.", Markdown: "A cat called Minka is always healthy."})
		sendAs(t, ctx, s, task.User("a1"), id, "/vet my cat coughs")
		sendAs(t, ctx, s, task.User("a1"), otherID, "what does my cat have?")
		if req := lastRequest(s); !strings.Contains(req.System, "\n- my cat coughs") || strings.Contains(req.System, "Minka") {
			t.Errorf("the instructions are %q", req.System)
		}
	})
}

// TestASummaryIsNotWhatAUserSaid, also where it stands right before the user's words.
func TestASummaryIsNotWhatAUserSaid(t *testing.T) {
	bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		room(s, 3000)
		for range 8 {
			say(t, ctx, s, "my cat "+strings.Repeat("words ", 220))
		}
		notes, err := s.Edges.Table.Memories(ctx, stage.User, 100)
		if err != nil || len(notes) != 8 {
			t.Fatalf("%d notes, %v", len(notes), err)
		}
		for _, note := range notes {
			if !strings.HasPrefix(note, "my cat words ") || strings.Count(note, "my cat") != 1 {
				t.Errorf("the user is to have said %.200q", note)
			}
		}
		if !snapshot.Shortened(stored(t, s).Messages) {
			t.Error("the history was not made shorter")
		}
	})
}

// TestWhatAFilterWithheldIsNotWhatAUserSaid in the turn after either.
func TestWhatAFilterWithheldIsNotWhatAUserSaid(t *testing.T) {
	bubble(t, guarded, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		say(t, ctx, s, "my password is "+secret)
		say(t, ctx, s, "my cat is ill")
		notes, err := s.Edges.Table.Memories(ctx, stage.User, 100)
		if diff := cmp.Diff([]string{"my cat is ill"}, notes); err != nil || diff != "" {
			t.Errorf("%v, notes (-want +got):\n%s", err, diff)
		}
	})
}

func TestP33RecalledTextNeverStandsBetweenACallAndItsResult(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		say(t, ctx, s, "my shed is green")
		var once sync.Once // the tools run side by side
		s.Acting = func(tc tool.Context) { once.Do(func() { fake.Kill(tc) }) }
		_, err := s.Send(ctx, id, "use the tools in the shed", as(contract.Preempt, "dlv_2"))
		must(t, err, s.Rest(ctx, id), s.Check(id))
		for i, req := range s.Model.Requests()[1:] {
			if !strings.Contains(req.System, "\n- my shed is green") {
				t.Errorf("request %d has the instructions %q", i, req.System)
			}
			if text := jsonOfAny(req.Messages); strings.Contains(text, "What you remember") {
				t.Errorf("request %d has recalled text in its messages: %s", i, text)
			}
		}
		if h := jsonOfAny(stored(t, s).Messages); strings.Contains(h, "What you remember") {
			t.Errorf("recalled text is stored: %s", h)
		}
		last := lastRequest(s).Messages
		if n := len(last); len(last[n-1].Results()) != 2 || len(last[n-2].Calls()) != 2 {
			t.Errorf("the last request ends %s", jsonOfAny(last[n-2:]))
		}
	})
}

// poor is a memory that fails at everything, or that never answers.
type poor struct {
	memory.Table
	hangs bool
}

func (p poor) wait(ctx context.Context) error {
	if p.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return fault.New(fault.Unavailable, "the memory is away")
}

func (p poor) Recall(ctx context.Context, _ string) ([]string, error) { return nil, p.wait(ctx) }
func (p poor) Record(ctx context.Context, _ loop.Exchange) error      { return p.wait(ctx) }
func (p poor) Flush(context.Context) error                            { return errors.New("never asked") }

func TestAMemoryThatFailsFailsNoTurn(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprint("hangs ", hangs), func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Engine.Memories = func(contract.Principal, string) loop.Memory { return poor{hangs: hangs} }
				began := time.Now()
				say(t, ctx, s, "hello")
				if done := told(t, s, id, "turn.completed"); len(done) != 1 {
					t.Errorf("completed: %s", done)
				}
				if took := time.Since(began); took > 9*time.Second {
					t.Errorf("the turn took %s", took)
				}
			})
		})
	}
}

// TestWhereverARememberedTurnIsCutOff: each turn is remembered once, before its end is told.
func TestWhereverARememberedTurnIsCutOff(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "turns that are remembered", New: func() *fake.Run {
		p := play(helpful)
		remembering(p.Stage)
		p.Acts = []act{send(p, id, "use the tools", contract.Preempt), rest(p, id), send(p, id, "hello", contract.Preempt)}
		return p.Run(nil, func() error {
			if err := ran(p, id)(); err != nil {
				return err
			}
			notes, err := p.Edges.Table.Memories(context.Background(), stage.User, 10)
			if diff := cmp.Diff([]string{"hello", "use the tools"}, notes); err != nil || diff != "" {
				return fmt.Errorf("%v notes (-want +got):\n%s", err, diff)
			}
			return nil
		})
	}})
}

// TestATurnThatIsStoppedAtTheLastMoment is not remembered, and the log has what it has shown: the stop comes with the end of the answer,
// between two looks of the owner.
func TestATurnThatIsStoppedAtTheLastMoment(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		remembering(s)
		s.During = func() { must(t, stop(&stage.Play{Stage: s}, id, false)(ctx)) }
		say(t, ctx, s, "my cat is called Minka")
		notes, err := s.Edges.Table.Memories(ctx, stage.User, 10)
		if ends := told(t, s, id, "turn.completed", "turn.failed"); err != nil || len(notes) != 0 || len(ends) != 1 || !strings.Contains(ends[0], "cancelled") {
			t.Errorf("the turn ended %v, and the notes are %q, %v", ends, notes, err)
		}
		if shown := strings.Join(told(t, s, id, "message.appended"), ""); !strings.Contains(shown, "my cat is called Minka") {
			t.Errorf("the log shows %q", shown)
		}
	})
}

func TestWhoMaySearchTheMemory(t *testing.T) {
	tests := []struct {
		name   string
		caller contract.Principal
		tools  []string // of the session; nil: it names none
		want   bool
	}{
		{"a user", stage.User, nil, true},
		{"a user whose session names it", stage.User, []string{"look_up", memory.SearchName}, true},
		{"a user whose session names others", stage.User, []string{"look_up"}, false},
		{"a system", task.System("nightly"), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				remembering(s)
				p := &stage.Play{Stage: s}
				r := request("t-1", id, "hello")
				r.Principal, r.Tools = tt.caller, tt.tools
				must(t, publish(p, r)(ctx), s.Rest(ctx, id), s.Check(id))
				names := func(specs []model.ToolSpec) (all []string) {
					for _, spec := range specs {
						all = append(all, spec.Name)
					}
					return all
				}
				if got := names(lastRequest(s).Tools); slices.Contains(got, memory.SearchName) != tt.want {
					t.Errorf("the tools are %v", got)
				}
			})
		})
	}
}
