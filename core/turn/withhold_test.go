package turn_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// secret is a word that the filter blocks wherever it stands.
const secret = "hunter2"

// guarded answers as helpful, but blocks a request that holds the secret: at once, after some text, or once a tool was called.
func guarded(req model.Request) fake.Turn {
	if !strings.Contains(jsonOfAny(req.Messages), secret) {
		return helpful(req)
	}
	last := req.Messages[len(req.Messages)-1]
	if strings.Contains(last.PlainText(), "tools") {
		return fake.Calls("you ask about "+secret, call(len(req.Messages)*10, "look_up", secret), call(len(req.Messages)*10+1, "write_down", "b"))
	}
	return fake.Say("about ", secret, " I know").Stopping(model.StopGuardrail)
}

// blocking is a model with a filter before it: it blocks the secret where results of tools are in the request, and where nobody is at work.
type blocking struct{ loop.Model }

func (b blocking) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	text := jsonOfAny(req.Messages)
	if isSummary(req) || !strings.Contains(text, secret) || strings.Contains(lastText(req), "tools") && !strings.Contains(text, "write_down did b") {
		return b.Model.Stream(ctx, req)
	}
	return func(yield func(model.Event, error) bool) {
		_ = yield(model.TextDelta{Text: "no"}, nil) && yield(model.BlockStop{}, nil) && yield(model.Stop{Reason: model.StopGuardrail}, nil)
	}
}

// nowhere reports where the secret is stored, told or sent.
func nowhere(s *stage.Stage) error {
	if dump := s.Dynamo.Dump(); strings.Contains(dump, secret) {
		for line := range strings.SplitSeq(dump, "\n") {
			if strings.Contains(line, secret) {
				return fmt.Errorf("stored: %s", line)
			}
		}
	}
	events, err := s.Events(context.Background(), id)
	if err != nil {
		return err
	}
	if strings.Contains(jsonOfAny(events), secret) {
		return fmt.Errorf("told: %s", jsonOfAny(events))
	}
	h, err := s.Edges.Table.History(context.Background(), id, s.State(id).Tip)
	if err != nil {
		return err
	}
	if strings.Contains(jsonOfAny(h.Messages), secret) {
		return fmt.Errorf("in the history: %s", jsonOfAny(h.Messages))
	}
	return nil
}

// goesOn reports whether the secret is not in what the model is asked now.
func goesOn(s *stage.Stage) error {
	if last := jsonOfAny(lastRequest(s).Messages); strings.Contains(last, secret) {
		return fmt.Errorf("sent again: %s", last)
	}
	return nowhere(s)
}

func TestP06ABlockedTurnLeavesNothing(t *testing.T) {
	bubble(t, guarded, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "hello")
		_, err := s.Send(ctx, id, "tell me of "+secret, as(contract.Preempt, "dlv_2"))
		must(t, err, s.Rest(ctx, id), s.Check(id))
		say(t, ctx, s, "and now?")
		must(t, goesOn(s))
		want := []string{
			`turn.completed {"result":"you said hello","usage":{"inputTokens":10,"outputTokens":3,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
			`turn.failed {"status":"blocked","error":"` + loop.BlockedText + `","usage":{"inputTokens":10,"outputTokens":4,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
			`turn.completed {"result":"you said and now?","usage":{"inputTokens":10,"outputTokens":3,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
		}
		if diff := cmp.Diff(want, told(t, s, id, "turn.completed", "turn.failed")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		received := told(t, s, id, "message.received")
		if received[1] != `message.received {"text":"`+snapshot.Withheld+`","deliveryIds":["dlv_2"]}` {
			t.Errorf("the blocked message is %s", received[1])
		}
		var said []string
		for _, m := range lastRequest(s).Messages {
			said = append(said, m.PlainText())
		}
		if diff := cmp.Diff([]string{"hello", "you said hello", snapshot.Withheld, loop.BlockedText, "and now?"}, said); diff != "" {
			t.Errorf("the next request (-want +got):\n%s", diff)
		}
	})
}

// blockedPlays are turns that a filter blocks, with a harmless one before and after.
func blockedPlays() map[string]func() *stage.Play {
	around := func(blocked ...act) func() *stage.Play {
		return func() *stage.Play {
			p := play(guarded)
			p.Acts = slices.Concat([]act{send(p, id, "hello", contract.Preempt), rest(p, id)}, blocked,
				[]act{rest(p, id), send(p, id, "and now?", contract.Preempt)})
			return p
		}
	}
	with := func(make func(p *stage.Play) []act, more func(p *stage.Play)) func() *stage.Play {
		return func() *stage.Play {
			p := around()()
			p.Acts = slices.Insert(p.Acts, 2, make(p)...)
			more(p)
			return p
		}
	}
	tell := func(p *stage.Play, text string, admission contract.Admission) act {
		return func(ctx context.Context) error {
			_, err := p.Send(ctx, id, text, as(admission, "dlv_blocked"))
			return err
		}
	}
	ask := func(text string) func(p *stage.Play) []act {
		return func(p *stage.Play) []act { return []act{tell(p, text, contract.Preempt)} }
	}
	nothing := func(*stage.Play) {}
	return map[string]func() *stage.Play{
		"at once":                      with(ask(secret), nothing),
		"after tools":                  with(ask("use tools for "+secret), nothing),
		"with the package's snapshots": with(ask("use tools for "+secret), func(p *stage.Play) { p.Engine.Strands = true }),
		"of a task":                    with(func(p *stage.Play) []act { return []act{publish(p, request("t-1", id, secret))} }, nothing),
		"by a message in the middle":   with(ask("use the tools"), func(p *stage.Play) { p.Mid = []act{tell(p, secret, contract.Coalesce)} }),
		"made shorter on the way": func() *stage.Play {
			p, _ := compacting()
			p.Engine.Model = blocking{p.Engine.Model}
			p.Acts = append(p.Acts, rest(p, id), send(p, id, "once more", contract.Preempt))
			p.Acts[2] = tell(p, "use the tools for "+secret, contract.Preempt)
			return p
		},
		"and stopped in the same while": with(ask(secret), func(p *stage.Play) {
			p.Mid = []act{stop(p, id, false)}
			p.Acts = append(p.Acts, rest(p, id), send(p, id, "once more", contract.Preempt)) // the stop may come before the filter
		}),
	}
}

func TestP06WhereverABlockedTurnIsCutOff(t *testing.T) {
	for name, open := range blockedPlays() {
		t.Run(name, func(t *testing.T) {
			var modes []fake.Mode
			if name == "made shorter on the way" { // it is long
				modes = []fake.Mode{fake.KillAfter}
			}
			fake.Explore(t, fake.Flow{Name: name, Modes: modes, New: func() *fake.Run {
				p := open()
				return p.Run(nil, func() error {
					events, err := p.Events(context.Background(), id)
					if err := errors.Join(err, p.Check(id), goesOn(p.Stage)); err != nil {
						return err
					}
					if len(p.Mid) == 0 && !strings.Contains(jsonOfAny(events), `"status":"blocked"`) { // who acts in the middle may die before
						return errors.New("no turn was blocked")
					}
					return nil
				})
			}})
		})
	}
}

func TestABlockedTaskSaysSo(t *testing.T) {
	bubble(t, guarded, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		p := &stage.Play{Stage: s}
		must(t, publish(p, request("t-1", id, "tell of "+secret))(ctx), s.Rest(ctx, id), s.Check(id), nowhere(s))
		got, err := s.Edges.Table.Task(ctx, "t-1")
		must(t, err)
		if got.Status != task.Failed || got.Error != task.ReasonBlocked || got.Request != snapshot.Withheld || got.Usage == nil || got.Usage.InputTokens != 10 {
			t.Errorf("task %+v", got)
		}
	})
}
