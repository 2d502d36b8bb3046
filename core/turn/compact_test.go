package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// room gives the model of a stage room for about so many bytes of history.
func room(s *stage.Stage, bytes int) {
	s.Engine.Compaction.Window = func(string) int { return 4096 + bytes/3 + 200 }
}

func isSummary(req model.Request) bool { return strings.HasPrefix(req.System, "You sum up") }

// summing answers summaries by a word, and everything else by answer.
func summing(answer func(model.Request) fake.Turn) func(model.Request) fake.Turn {
	return func(req model.Request) fake.Turn {
		if isSummary(req) {
			return fake.Say("SUMMARY")
		}
		return answer(req)
	}
}

// asked gives the requests for a summary, and the others.
func asked(s *stage.Stage) (summaries, others []model.Request) {
	for _, r := range s.Model.Requests() {
		if isSummary(r) {
			summaries = append(summaries, r)
		} else {
			others = append(others, r)
		}
	}
	return summaries, others
}

// stored reads the history as a worker that does not remember it.
func stored(t *testing.T, s *stage.Stage) snapshot.History {
	t.Helper()
	h, err := s.Edges.Table.History(t.Context(), id, s.State(id).Tip)
	must(t, err)
	return h
}

func TestP09ALongChatStaysWithinTheWindow(t *testing.T) {
	const bytes = 6000
	for _, tt := range []struct {
		name, summary string
		drop          bool
	}{{"a short summary", "SUMMARY", false}, {"a long one", "SUMMARY" + strings.Repeat(" and so on", 1000), false}, {"none", "", true}} {
		t.Run(tt.name, func(t *testing.T) {
			answer := func(req model.Request) fake.Turn {
				if isSummary(req) {
					return fake.Say(tt.summary)
				}
				return helpful(req)
			}
			bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				room(s, bytes)
				s.Engine.Compaction.Drop = tt.drop
				for i := range 40 {
					say(t, ctx, s, fmt.Sprintf("%d %s", i, strings.Repeat("words ", 50)))
				}
				summaries, others := asked(s)
				for i, r := range others {
					if size := snapshot.Size(r.Messages...); size > bytes+800 {
						t.Errorf("request %d has %d bytes of history, want at most about %d", i, size, bytes)
					}
				}
				lead := "<summary_of_earlier_messages>\nSUMMARY"
				if tt.drop {
					lead = "(earlier messages were left out)"
				}
				if got := lastRequest(s).Messages[0].PlainText(); !strings.HasPrefix(got, lead) {
					t.Errorf("the history begins %q, want %q", got, lead)
				}
				if n := len(summaries); tt.drop && n != 0 || !tt.drop && (n < 2 || n > 15) {
					t.Errorf("%d summaries were asked for", n)
				}
				if got := len(told(t, s, id, "turn.completed")); got != 40 {
					t.Errorf("%d turns are complete", got)
				}
				warm := lastRequest(s).Messages
				if diff := cmp.Diff(jsonOf(t, warm), jsonOf(t, stored(t, s).Messages[:len(warm)])); diff != "" {
					t.Errorf("what is stored differs from what the model had (-model +stored):\n%s", diff)
				}
			})
		})
	}
}

// TestASummaryReadsWhatItReplaces: the text before, also of the summary before, without the tools of the turn.
func TestASummaryReadsWhatItReplaces(t *testing.T) {
	bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		room(s, 3000)
		for i := range 30 {
			say(t, ctx, s, fmt.Sprintf("fact %d %s", i, strings.Repeat("words ", 30)))
		}
		summaries, _ := asked(s)
		first, second := summaries[0], summaries[1]
		if len(first.Tools) != 0 || len(first.Messages) != 1 || !strings.Contains(first.Messages[0].PlainText(), "User: fact 0 words") {
			t.Errorf("the first summary is asked for with %d tools and %q", len(first.Tools), sent(first))
		}
		if text := second.Messages[0].PlainText(); !strings.Contains(text, "Before: SUMMARY") || strings.Contains(text, "fact 0 ") {
			t.Errorf("the second summary is of %q", text)
		}
	})
}

func TestP09ALongTaskKeepsItsPrompt(t *testing.T) {
	steps := 0
	answer := summing(func(req model.Request) fake.Turn {
		if steps++; steps > 20 {
			return fake.Say("done")
		}
		return fake.Calls(strings.Repeat("thinking ", 40), call(steps, "look_up", fmt.Sprint(steps)))
	})
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		room(s, 4000)
		must(t, bind(&stage.Play{Stage: s}, request("t1", "", "count the files"))(ctx), s.Drain(ctx), s.Check("task-t1"))
		summaries, others := asked(s)
		last := others[len(others)-1]
		if got := last.Messages[0].PlainText(); len(summaries) == 0 || !strings.HasSuffix(got, "count the files") {
			t.Errorf("after %d summaries the history begins %q", len(summaries), got)
		}
		if n := len(strings.Split(s.Ran.Runs(), "\n")); n != 20 || strings.Contains(s.Ran.Runs(), ": 2") {
			t.Errorf("tools ran: %s", s.Ran.Runs())
		}
		in := 10 * len(s.Model.Requests()) // what each call of the model uses
		if got := told(t, s, "task-t1", "turn.completed"); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf(`"inputTokens":%d,`, in)) {
			t.Errorf("the turn ends %v, want the %d tokens of all calls, the summaries' too", got, in)
		}
	})
}

func TestSkillsStayWordForWord(t *testing.T) {
	bubble(t, summing(obedient), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, refund)
		say(t, ctx, s, "use refund")
		room(s, 4000)
		for range 15 {
			say(t, ctx, s, strings.Repeat("words ", 50))
		}
		say(t, ctx, s, "use refund")
		summaries, others := asked(s)
		all := jsonOf(t, others[len(others)-1].Messages)
		if len(summaries) == 0 || strings.Count(all, "Read terms.md. Ask for the receipt.") != 1 {
			t.Errorf("after %d summaries the model has %s", len(summaries), all)
		}
		if got := turnResults(t, ctx, s, id); !strings.Contains(got[len(got)-1], "already active") {
			t.Errorf("a skill that is there is not known: %s", got[len(got)-1])
		}
	})
}

// TestASkillThatIsCalledOften: each call puts its instructions into the conversation once more, and only the newest count.
func TestASkillThatIsCalledOften(t *testing.T) {
	const bytes = 6000
	bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		skilled(s, skill.Skill{Name: "fix", Description: "Fixes.", Markdown: "Fix $ARGUMENTS. " + strings.Repeat("Do it well. ", 40)})
		room(s, bytes)
		for i := range 40 {
			say(t, ctx, s, fmt.Sprintf("/fix bug %d", i))
		}
		_, others := asked(s)
		for i, r := range others {
			if size := snapshot.Size(r.Messages...); size > bytes+1000 {
				t.Fatalf("request %d has %d bytes of history, want at most about %d", i, size, bytes)
			}
		}
		if got := len(told(t, s, id, "turn.completed")); got != 40 {
			t.Errorf("%d turns are complete", got)
		}
	})
}

// TestSkillsThatTakeTooMuchRoom: the oldest go, the model is told which, and what it activates again is given again.
func TestSkillsThatTakeTooMuchRoom(t *testing.T) {
	const bytes = 8000
	bubble(t, summing(obedient), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		var list []skill.Skill
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			list = append(list, skill.Skill{Name: name, Description: "d", Markdown: name + " is done so. " + strings.Repeat("Do it well. ", 100)})
		}
		skilled(s, list...)
		room(s, bytes)
		for _, one := range list {
			say(t, ctx, s, "use "+one.Name)
		}
		for range 10 {
			say(t, ctx, s, strings.Repeat("words ", 50))
		}
		all := jsonOf(t, lastRequest(s).Messages)
		if size := len(all); size > bytes+1000 || !strings.Contains(all, "f is done so.") || strings.Contains(all, "a is done so.") {
			t.Errorf("the model has %d bytes: %s", size, all)
		}
		_, others := asked(s)
		var lost []string
		for _, r := range others {
			_, names, noted := strings.Cut(r.Messages[0].PlainText(), "no longer in the conversation. Activate them again before going on with them: ")
			if names, _, _ = strings.Cut(names, "\n"); noted && !slices.Contains(lost, names) {
				lost = append(lost, names)
			}
		}
		if diff := cmp.Diff("a, b, c, d, e", strings.Join(lost, ", ")); diff != "" {
			t.Errorf("the model is told that these are lost (-want +got):\n%s", diff)
		}
		say(t, ctx, s, "use f")
		say(t, ctx, s, "use a")
		if got := turnResults(t, ctx, s, id); !strings.Contains(got[len(got)-2], "already active") || !strings.Contains(got[len(got)-1], "a is done so.") {
			t.Errorf("f, which stayed: %q; a, which went: %q", got[len(got)-2], got[len(got)-1])
		}
	})
}

// TestAModelThatFindsItTooLong: it is asked again with a shorter history, once.
func TestAModelThatFindsItTooLong(t *testing.T) {
	refusals := map[string]fake.Turn{
		"by its reason to stop": fake.Say("half").Stopping(model.StopContextFull),
		"by refusing the call":  {{Err: fault.New(fault.Invalid, "the conversation is too long for the model").Because("context_full")}},
	}
	for name, refusal := range refusals {
		for times, want := range map[int]string{1: "turn.completed", 2: `turn.failed {"status":"failed","error":"the conversation is too long for the model`} {
			t.Run(fmt.Sprintf("%s %d times", name, times), func(t *testing.T) {
				left := 0
				answer := summing(func(req model.Request) fake.Turn {
					if left--; left >= 0 {
						return refusal
					}
					return helpful(req)
				})
				bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
					for i := range 10 {
						say(t, ctx, s, fmt.Sprint("fact ", i))
					}
					left = times
					say(t, ctx, s, "well?")
					ends := told(t, s, id, "turn.completed", "turn.failed")
					if got := ends[len(ends)-1]; len(ends) != 11 || !strings.HasPrefix(got, want) {
						t.Errorf("the turn ends %s, want %s", got, want)
					}
					if summaries, _ := asked(s); len(summaries) != 1 {
						t.Errorf("%d summaries, want 1", len(summaries))
					}
					if n := len(stored(t, s).Messages); n > 15 {
						t.Errorf("%d messages are stored after it was made shorter", n)
					}
					say(t, ctx, s, "and now?")
				})
			})
		}
	}
}

// TestWhatIsKeptForTheAnswer is not for the history: a session's own number, else the deployment's.
func TestWhatIsKeptForTheAnswer(t *testing.T) {
	for answer, want := range map[int]bool{1000: false, 9000: true} {
		bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
			s.Engine.Compaction = turn.Compaction{Window: func(string) int { return 10_000 }, Answer: answer}
			for range 10 {
				say(t, ctx, s, strings.Repeat("words ", 50))
			}
			if summaries, _ := asked(s); len(summaries) > 0 != want {
				t.Errorf("with %d of 10,000 tokens for the answer there are %d summaries", answer, len(summaries))
			}
		})
	}
}

func TestAQuestionThatIsTooLongFails(t *testing.T) {
	bubble(t, func(model.Request) fake.Turn { return fake.Say("").Stopping(model.StopContextFull) }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "one question")
		if n := len(s.Model.Requests()); n != 1 {
			t.Errorf("the model is asked %d times about what cannot be made shorter", n)
		}
		if got := told(t, s, id, "turn.failed"); len(got) != 1 || !strings.Contains(got[0], "too long for the model") {
			t.Errorf("the turn ends %v", got)
		}
	})
}

// TestWithoutASummary: a model that does not sum up keeps no turn from going on, and a stop ends it.
func TestWithoutASummary(t *testing.T) {
	answer := func(req model.Request) fake.Turn {
		if isSummary(req) {
			return fake.Turn{{Err: fault.New(fault.Denied, "no")}}
		}
		return helpful(req)
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		room(s, 3000)
		for range 12 {
			say(t, ctx, s, strings.Repeat("words ", 50))
		}
		if got := lastRequest(s).Messages[0].PlainText(); !strings.HasPrefix(got, "(earlier messages were left out)") {
			t.Errorf("the history begins %q", got)
		}
	})
}
