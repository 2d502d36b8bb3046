package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
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
	for _, drop := range []bool{false, true} {
		t.Run(fmt.Sprint("drop ", drop), func(t *testing.T) {
			bubble(t, summing(helpful), func(t *testing.T, ctx context.Context, s *stage.Stage) {
				room(s, bytes)
				s.Engine.Compaction.Drop = drop
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
				if drop {
					lead = "(earlier messages were left out)"
				}
				if got := lastRequest(s).Messages[0].PlainText(); !strings.HasPrefix(got, lead) {
					t.Errorf("the history begins %q, want %q", got, lead)
				}
				if n := len(summaries); drop && n != 0 || !drop && (n < 2 || n > 15) {
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

// TestAStopWhileItIsSummedUp ends the turn; the next one sums up and goes on.
func TestAStopWhileItIsSummedUp(t *testing.T) { synctest.Test(t, stopWhileItIsSummedUp) }

func stopWhileItIsSummedUp(t *testing.T) {
	p := play(summing(helpful))
	room(p.Stage, 3000)
	p.Mid = []act{stop(p, id, false)}
	p.During = func() {
		if isSummary(lastRequest(p.Stage)) {
			p.Midst()
		}
	}
	ctx := t.Context()
	for i := range 12 {
		must(t, long(p, fmt.Sprint("m", i), 50)(ctx), p.Rest(ctx, id), p.Check(id))
	}
	if failed, completed := told(t, p.Stage, id, "turn.failed"), told(t, p.Stage, id, "turn.completed"); len(failed) != 1 || len(completed) != 11 ||
		!strings.Contains(failed[0], `"status":"cancelled"`) {
		t.Errorf("turns failed: %v, and %d are complete", failed, len(completed))
	}
	if got := stored(t, p.Stage).Messages[0].PlainText(); !strings.HasPrefix(got, "<summary_of") {
		t.Errorf("the history begins %q", got)
	}
}

// long sends a message of so many words.
func long(p *stage.Play, delivery string, words int) act {
	return func(ctx context.Context) error {
		_, err := p.Send(ctx, id, strings.Repeat("words ", words), as(contract.Preempt, delivery))
		return err
	}
}

// TestP01ADamagedHistoryIsRepairedOnce: the repair is saved with the next message; later readers find nothing to repair.
func TestP01ADamagedHistoryIsRepairedOnce(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "hello")
		damaged := snapshot.Segment{ID: snapshot.NextID(s.Clock.Now(), s.State(id).Tip, [16]byte{1}), Base: s.State(id).Tip, Messages: []model.Message{
			{Role: model.User, Content: []model.Block{{Text: " \n "}}},
			{Role: model.Assistant, Content: []model.Block{{ToolUse: &model.ToolUse{ID: "a", Name: "look up!", Input: []byte(`null`)}}}},
			{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "nobody's"}}, {Text: "so?"}}},
			{Role: model.Assistant},
		}}
		must(t, s.Edges.Table.Commit(ctx, store.NewSegment(id, damaged, s.Clock.Now())))
		name, state := "table", key.State(id)
		_, err := s.Dynamo.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &name, UpdateExpression: new("SET tip = :t"), ExpressionAttributeValues: map[string]types.AttributeValue{":t": &types.AttributeValueMemberS{Value: damaged.ID}},
			Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: state.PK}, "sk": &types.AttributeValueMemberS{Value: state.SK}},
		})
		must(t, err)
		s.Engine.Remembered = &turn.Memory{}
		say(t, ctx, s, "and now?")
		first := sent(lastRequest(s))
		if fixed, changed := snapshot.Repair(stored(t, s).Messages); changed {
			t.Errorf("what is stored still needs a repair: %v", fixed)
		}
		if h := stored(t, s); h.Segments != 2 {
			t.Errorf("read from %d segments, want the repaired one and the answer", h.Segments)
		}
		s.Engine.Remembered = &turn.Memory{}
		say(t, ctx, s, "and then?")
		second := sent(lastRequest(s))
		if diff := cmp.Diff(first, second[:len(first)]); diff != "" {
			t.Errorf("the second restore sends another history (-first +second):\n%s", diff)
		}
		if h := stored(t, s); h.Segments != 4 {
			t.Errorf("read from %d segments: it was written anew", h.Segments)
		}
	})
}

// TestAHistoryIsReadFromFewRows: after so many pieces it is one again, and nothing is lost; so is one whose first rows get old.
func TestAHistoryIsReadFromFewRows(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Watch.Off = true
		most := 0
		for i := range 250 {
			_, err := s.Send(ctx, id, fmt.Sprint("message ", i))
			must(t, err, s.Drain(ctx))
			if i%7 == 0 {
				s.Engine.Remembered = &turn.Memory{}
			}
			most = max(most, stored(t, s).Segments)
		}
		h := stored(t, s)
		if most > 202 || len(h.Messages) != 500 || h.Messages[0].PlainText() != "message 0" {
			t.Errorf("%d messages, read from up to %d segments", len(h.Messages), most)
		}
	})
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for range 30 {
			say(t, ctx, s, "hello")
			s.Clock.Advance(session.Life - time.Hour)
		}
		h := stored(t, s)
		first, _ := snapshot.Time(h.First)
		if age := s.Clock.Now().Sub(first); len(h.Messages) != 60 || age > session.RowLife*3/4 {
			t.Errorf("%d messages, the oldest row of %v ago", len(h.Messages), age)
		}
	})
}

// TestAConversationStaysWithinThePackagesRow: where the TypeScript package is to go on, a conversation never outgrows the one row it keeps.
func TestAConversationStaysWithinThePackagesRow(t *testing.T) {
	bubble(t, summing(func(req model.Request) fake.Turn { return fake.Say(strings.Repeat("answer ", 2000)) }), func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Watch.Off = true
		s.Engine.Strands = true
		for i := range 60 {
			_, err := s.Send(ctx, id, fmt.Sprint("message ", i))
			must(t, err, s.Drain(ctx))
		}
		must(t, s.Check(id))
		if n := len(told(t, s, id, "turn.completed")); n != 60 {
			t.Errorf("%d turns are complete, want 60", n)
		}
		h, tip, err := s.Edges.Table.PackageSnapshot(ctx, id)
		must(t, err)
		if first := h.Messages[0].PlainText(); tip != s.State(id).Tip || !strings.HasPrefix(first, "<summary_of") {
			t.Errorf("the package reads, at %q, a conversation that begins %.40q", tip, first)
		}
	})
}

// compacting is a play whose turn is made shorter twice: before its first step and in its middle.
func compacting() (*stage.Play, func() error) {
	p := play(summing(func(req model.Request) fake.Turn {
		text := lastText(req)
		switch {
		case !strings.Contains(text, "tools"):
			return fake.Say("you said ", text)
		case len(req.Messages[len(req.Messages)-1].Results()) == 0:
			return fake.Calls(strings.Repeat("let me see ", 150), call(1, "look_up", "a"))
		case !strings.Contains(jsonOfAny(req.Messages), "write_down did b"):
			return fake.Calls(strings.Repeat("and so ", 150), call(2, "write_down", "b"))
		}
		return fake.Say("done with tools")
	}))
	room(p.Stage, 2300)
	p.Acts = []act{
		long(p, "dlv_long", 230), rest(p, id), send(p, id, "use the tools", contract.Preempt), rest(p, id), send(p, id, "hello", contract.Preempt),
	}
	return p, func() error {
		if err := ran(p, id)(); err != nil {
			return err
		}
		if summaries, _ := asked(p.Stage); len(summaries) < 2 {
			return fmt.Errorf("%d summaries, want one before the first step and one in the middle", len(summaries))
		}
		return nil
	}
}

// lastText is what the user asked last.
func lastText(req model.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		for _, b := range slices.Backward(m.Content) {
			if m.Role == model.User && b.ToolResult == nil {
				return b.Text
			}
		}
	}
	return ""
}

func jsonOfAny(v any) string { return string(mustJSON(v)) }

// TestWhereverItIsCutOffWhileMadeShorter: a death or a lost answer at any call of a turn whose history is made shorter.
func TestWhereverItIsCutOffWhileMadeShorter(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a turn whose history is made shorter", New: func() *fake.Run {
		p, check := compacting()
		return p.Run(func() string {
			events, _, _ := strings.Cut(p.Story(id), "\nuser ")
			return events
		}, check)
	}})
}
