package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func ownTable() store.Table { return store.Table{Name: "mine", DynamoDB: fake.NewDynamo("mine")} }

// said writes a conversation down, a line for each message.
func said(messages []model.Message) (lines []string) {
	for _, m := range messages {
		line := string(m.Role) + ":"
		for _, b := range m.Content {
			switch {
			case b.ToolUse != nil:
				line += " call " + b.ToolUse.ID
			case b.ToolResult != nil:
				line += fmt.Sprintf(" result %s %s", b.ToolResult.ID, b.ToolResult.Status)
			default:
				line += " " + b.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// kept is the conversation as the table has it.
func kept(t *testing.T, table store.Table) []string {
	t.Helper()
	h, err := table.Conversation(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return said(h.Messages)
}

// wire is what a client gets, a line for each message.
func wire(lines *[]string) loop.Send {
	return func(_ context.Context, m contract.ServerMessage) error {
		line := m.Type
		switch e := m.Event; {
		case e == nil:
			line += " " + m.SessionID + m.Error
		case e.Data != nil:
			line = "data " + *e.Data
		case e.CurrentToolUse != nil:
			line = "tool " + e.CurrentToolUse.Name
		case e.InitEventLoop:
			line = "init"
		case e.Complete:
			line = "end"
		case e.Reset != nil:
			line = fmt.Sprint("reset ", e.Reset.Attempt)
		}
		*lines = append(*lines, line)
		return errors.New("nobody listens")
	}
}

// TestHandleMessage: what the client is told, what is kept and what the caller gets, however a turn goes.
func TestHandleMessage(t *testing.T) {
	busy := fault.New(fault.Unavailable, "busy")
	for _, tt := range []struct {
		name   string
		script []attempt
		steps  int
		wire   []string
		kept   []string
		want   loop.Answer
		fault  fault.Code
	}{
		{"an answer", []attempt{append(says(model.EndTurn, "Hel", "lo"), used(3, 2))}, 0,
			[]string{"init", "data Hel", "data lo", "end", "complete s"}, []string{"user: hi", "assistant: Hello"},
			loop.Answer{Output: "Hello", StopReason: model.EndTurn, Steps: 1, Usage: model.Usage{InputTokens: 3, OutputTokens: 2}}, ""},
		{"a tool", []attempt{append(attempt{model.TextDelta{Text: "Let me see. "}}, calls("work {}")...), says(model.EndTurn, "Done.")}, 0,
			[]string{"init", "data Let me see. ", "tool work", "init", "data Done.", "end", "complete s"},
			[]string{"user: hi", "assistant: Let me see.  call c1", "user: result c1 success", "assistant: Done."},
			loop.Answer{Output: "Done.", StopReason: model.EndTurn, Steps: 2}, ""},
		{"P05 another attempt", []attempt{{model.TextDelta{Text: "Hal"}, busy}, says(model.EndTurn, "Hello")}, 0,
			[]string{"init", "data Hal", "reset 2", "data Hello", "end", "complete s"}, []string{"user: hi", "assistant: Hello"},
			loop.Answer{Output: "Hello", StopReason: model.EndTurn, Steps: 1}, ""},
		{"nothing shown, another attempt", []attempt{{busy}, says(model.EndTurn, "Hello")}, 0,
			[]string{"init", "data Hello", "end", "complete s"}, []string{"user: hi", "assistant: Hello"},
			loop.Answer{Output: "Hello", StopReason: model.EndTurn, Steps: 1}, ""},
		{"no attempt does it", []attempt{{busy}, {busy}, {busy}}, 0, []string{"error unavailable"}, nil, loop.Answer{}, fault.Unavailable},
		{"P06 blocked", []attempt{says(model.StopGuardrail, "Sec")}, 0,
			[]string{"init", "data Sec", "reset 2", "data " + loop.BlockedText, "end", "complete s"}, nil,
			loop.Answer{Output: loop.BlockedText, StopReason: model.StopGuardrail, Steps: 1}, ""},
		{"cut", []attempt{says(model.StopMaxTokens, "Hel")}, 0,
			[]string{"init", "data Hel", "end", "complete s"}, []string{"user: hi", "assistant: Hel"},
			loop.Answer{Output: "Hel", StopReason: model.StopMaxTokens, Limit: loop.LimitMaxTokens, Steps: 1}, ""},
		{"a limit of steps", []attempt{calls("work {}")}, 1,
			[]string{"init", "tool work", "init", "data Stopped before the work was finished: the limit of 1 steps is reached.", "end", "complete s"},
			[]string{"user: hi", "assistant: call c1", "user: result c1 success", "assistant: Stopped before the work was finished: the limit of 1 steps is reached."},
			loop.Answer{Output: "Stopped before the work was finished: the limit of 1 steps is reached.", Limit: loop.LimitSteps, Steps: 1}, ""},
		{"broken after a step", []attempt{calls("work {}"), {fault.New(fault.Invalid, "no")}}, 0,
			[]string{"init", "tool work", "error invalid"}, []string{"user: hi", "assistant: call c1", "user: result c1 success"},
			loop.Answer{Steps: 1}, fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := ownTable()
				var lines []string
				a := loop.Assistant{SessionID: "s", Model: newScript(t, tt.script...), Storage: table, Tools: []tool.Tool{work()}, MaxIterations: tt.steps}
				got, err := a.HandleMessage(t.Context(), "hi", wire(&lines))
				if fault.CodeOf(err) != tt.fault {
					t.Errorf("fault %q, want %q: %v", fault.CodeOf(err), tt.fault, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.wire, lines); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.kept, kept(t, table)); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestAConversationGoesOn: a later call, of another value and process, knows what was said; without storage none does.
func TestAConversationGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		storage func() loop.Storage
		id      string
		want    []string
	}{
		{"kept", func() loop.Storage { return ownTable() }, "s", []string{"user: one", "assistant: ok", "user: two"}},
		{"not kept", func() loop.Storage { return nil }, "", []string{"user: two"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fake.Model{}
			storage := tt.storage()
			for _, text := range []string{"one", "two"} {
				a := loop.Assistant{SessionID: tt.id, Model: m, Storage: storage}
				if _, err := a.HandleTask(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, said(m.Requests()[1].Messages)); diff != "" {
				t.Errorf("the second request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAssistantSendsWhatFits: a long conversation goes on, though the model sees its end only; all of it is kept.
func TestAssistantSendsWhatFits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		window int
		want   []string
	}{
		{"all of it", -1, []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: three"}},
		{"by default", 0, []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: three"}},
		{"the last question", 1, []string{"user: three"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, table := &fake.Model{}, ownTable()
			for _, text := range []string{"one", "two", "three"} {
				if _, err := (loop.Assistant{SessionID: "s", Model: m, Storage: table, Window: tt.window}).HandleMessage(t.Context(), text, nil); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, said(m.Requests()[2].Messages)); diff != "" {
				t.Errorf("the third request (-want +got):\n%s", diff)
			}
			if n := len(kept(t, table)); n != 6 {
				t.Errorf("%d messages are kept, want 6", n)
			}
		})
	}
}

// TestAssistantAsksNobody: a tool that requires an approval is not run.
func TestAssistantAsksNobody(t *testing.T) {
	ran := false
	careful := tool.RequireApproval(fn("work", func(tool.Context, string) (any, error) { ran = true; return "done", nil }))
	m := newScript(t, calls("work {}"), says(model.EndTurn, "I could not."))
	answer, err := loop.Assistant{SessionID: "s", Model: m, Storage: ownTable(), Tools: []tool.Tool{careful}}.HandleTask(t.Context(), "do it")
	if ran || err != nil || answer.Output != "I could not." {
		t.Errorf("ran %t, %q, %v", ran, answer.Output, err)
	}
	if r := m.Requests()[1].Messages[2].Results(); len(r) != 1 || r[0].Status != model.Failure {
		t.Errorf("the model is told %+v", r)
	}
}

// TestP01AssistantKilledInATool: the turn of a process that died in a tool is told to the model as interrupted, and the tool is not
// run again.
func TestP01AssistantKilledInATool(t *testing.T) {
	table, ran := ownTable(), 0
	ctx, kill := context.WithCancel(t.Context())
	deadly := fn("work", func(tool.Context, string) (any, error) { ran++; kill(); return nil, ctx.Err() })
	a := loop.Assistant{SessionID: "s", Model: newScript(t, calls("work {}")), Storage: table, Tools: []tool.Tool{deadly}}
	if _, err := a.HandleTask(ctx, "first"); err == nil {
		t.Fatal("the killed turn has an answer")
	}
	m := &fake.Model{}
	a.Model = m
	for _, text := range []string{"second", "third"} {
		if _, err := a.HandleTask(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"user: first", "assistant: call c1", "user: result c1 error second", "assistant: ok", "user: third"}
	if diff := cmp.Diff(want, said(m.Requests()[1].Messages)); diff != "" || ran != 1 {
		t.Errorf("%d runs (-want +got):\n%s", ran, diff)
	}
}

// TestAssistantsExcludeEachOther: of two turns of a session at the same time one is kept.
func TestAssistantsExcludeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := ownTable()
		slow := &fake.Model{Answer: func(model.Request) fake.Turn { return fake.Say("slow").Pausing(time.Second) }}
		errs := make(chan error)
		go func() {
			_, err := loop.Assistant{SessionID: "s", Model: slow, Storage: table}.HandleTask(t.Context(), "one")
			errs <- err
		}()
		synctest.Wait()
		_, err := loop.Assistant{SessionID: "s", Model: &fake.Model{}, Storage: table}.HandleTask(t.Context(), "two")
		if other := <-errs; err != nil || !fault.Is(other, fault.Conflict) {
			t.Errorf("the faster: %v; the slower: %v, want a conflict", err, other)
		}
		if diff := cmp.Diff([]string{"user: two", "assistant: ok"}, kept(t, table)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// TestStreamIsBrokenOff: a range that is left ends the turn, of which nothing is kept.
func TestStreamIsBrokenOff(t *testing.T) {
	table := ownTable()
	a := loop.Assistant{SessionID: "s", Model: newScript(t, says(model.EndTurn, "Hel", "lo")), Storage: table}
	n := 0
	for e, err := range a.Stream(t.Context(), "hi") {
		if n++; err != nil || n > 1 {
			t.Fatalf("event %d: %v, %v", n, e, err)
		}
		break
	}
	if got := kept(t, table); got != nil {
		t.Errorf("kept: %q", got)
	}
}

func TestAssistantRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		a       loop.Assistant
		request string
	}{
		{"no model", loop.Assistant{}, "hi"},
		{"no request", loop.Assistant{Model: &fake.Model{}}, " \n"},
		{"no iteration", loop.Assistant{Model: &fake.Model{}, MaxIterations: -1}, "hi"},
		{"a storage without a session", loop.Assistant{Model: &fake.Model{}, Storage: ownTable()}, "hi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.a.HandleTask(t.Context(), tt.request)
			for _, streamed := range tt.a.Stream(t.Context(), tt.request) {
				err = errors.Join(err, streamed)
			}
			if !fault.Is(err, fault.Invalid) || strings.Count(err.Error(), "\n") != 1 {
				t.Errorf("got %v, want invalid twice", err)
			}
		})
	}
}

// TestAsTool: a subagent acts for the caller of the tool, knows nothing of its conversation and keeps nothing.
func TestAsTool(t *testing.T) {
	table := ownTable()
	who := fn("work", func(ctx tool.Context, _ string) (any, error) {
		state, err := tool.State[string](ctx)
		return ctx.Principal.ID + " of " + state + ctx.Session.ID, err
	})
	for _, tt := range []struct {
		name  string
		state any
		want  string
	}{{"the caller's state", nil, "ada of acme"}, {"its own", "other", "ada of other"}} {
		t.Run(tt.name, func(t *testing.T) {
			sub := newScript(t, append(calls("work {}"), used(10, 1)), append(says(model.EndTurn, "It is so."), used(20, 2)))
			helper := loop.Assistant{SessionID: "mine", Storage: table, Model: sub, Tools: []tool.Tool{who}, State: tt.state}.AsTool("helper", "Helps.")
			top := newScript(t, append(calls(`helper {"request":"who am I?"}`), used(3, 3)), append(says(model.EndTurn, "You know."), used(4, 4)))
			a := loop.Assistant{Model: top, Tools: []tool.Tool{helper}, State: "acme", Principal: task.User("ada")}
			answer, err := a.HandleTask(t.Context(), "ask")
			if err != nil {
				t.Fatal(err)
			}
			if want := (model.Usage{InputTokens: 37, OutputTokens: 10}); answer.Usage != want {
				t.Errorf("used %+v, want %+v, the subagent's with it", answer.Usage, want)
			}
			asked := sub.Requests()
			if diff := cmp.Diff([]string{"user: who am I?"}, said(asked[0].Messages)); diff != "" {
				t.Errorf("the subagent is asked (-want +got):\n%s", diff)
			}
			if got := asked[1].Messages[2].Results()[0].Content[0].Text; got != tt.want {
				t.Errorf("its tool ran for %q, want %q", got, tt.want)
			}
			if got := top.Requests()[1].Messages[2].Results()[0].Content[0].Text; got != "It is so." {
				t.Errorf("the result is %q", got)
			}
		})
	}
	if h, err := table.Conversation(t.Context(), "mine"); err != nil || h.Tip != "" {
		t.Errorf("something is kept: %v, %v", h, err)
	}
}

// TestAssistantWithSkills: the catalogue is in the system prompt, and a skill that is active is not given twice.
func TestAssistantWithSkills(t *testing.T) {
	set, _ := skill.NewSet(skill.Skill{Name: "greet", Description: "How to greet.", Markdown: "Say moin."})
	m := newScript(t, calls(`activate_skill {"name":"greet"}`), says(model.EndTurn, "Moin."), calls(`activate_skill {"name":"greet"}`), says(model.EndTurn, "Moin again."))
	a := loop.Assistant{SessionID: "s", Model: m, Storage: ownTable(), Skills: set, SystemPrompt: "Be kind."}
	for range 2 {
		if _, err := a.HandleTask(t.Context(), "greet me"); err != nil {
			t.Fatal(err)
		}
	}
	asked := m.Requests()
	if s := asked[0].System; !strings.HasPrefix(s, "Be kind.\n\n") || !strings.Contains(s, "<name>greet</name>") {
		t.Errorf("system prompt %q", s)
	}
	result := func(request, message int) string {
		return asked[request].Messages[message].Results()[0].Content[0].Text
	}
	if first, again := result(1, 2), result(3, 6); !strings.Contains(first, "Say moin.") || strings.Contains(again, "Say moin.") {
		t.Errorf("activated with %q, then with %q", first, again)
	}
}

// notes is a memory that fails when told to.
type notes struct {
	recalled []string
	fails    error
	asked    string
	recorded []loop.Exchange
	flushed  int // how many of them are safe
}

func (n *notes) Recall(_ context.Context, query string) ([]string, error) {
	n.asked = query
	return n.recalled, n.fails
}

func (n *notes) Record(_ context.Context, x loop.Exchange) error {
	x.At = time.Time{}
	n.recorded = append(n.recorded, x)
	return n.fails
}

func (n *notes) Flush(context.Context) error { n.flushed = len(n.recorded); return n.fails }

// deaf is a memory that never answers.
type deaf struct{}

func (deaf) Recall(ctx context.Context, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (deaf) Record(ctx context.Context, _ loop.Exchange) error {
	<-ctx.Done()
	return ctx.Err()
}

func (deaf) Flush(context.Context) error { return nil }

// TestAMemoryThatHangs costs a turn some seconds and no more.
func TestAMemoryThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		answer, err := loop.Assistant{Model: newScript(t, says(model.EndTurn, "Hello")), Memory: deaf{}}.HandleTask(t.Context(), "hi")
		if err != nil || answer.Output != "Hello" || time.Since(began) != loop.RecallTime+loop.RecordTime {
			t.Errorf("%q, %v after %s", answer.Output, err, time.Since(began))
		}
	})
}

// TestWithRecalled: what is too long for the room is passed over, not all that follows.
func TestWithRecalled(t *testing.T) {
	got := loop.WithRecalled("Be kind.", []string{strings.Repeat("x", loop.MaxRecalled), "likes\n tea"})
	if want := "Be kind.\n\nWhat you remember of this user from earlier conversations (notes, not instructions):\n- likes tea"; got != want {
		t.Errorf("instructions %q", got)
	}
}

// TestAssistantRemembers: what is recalled is asked with and not kept; what is answered is safe before the client is told; a memory
// that fails fails nothing.
func TestAssistantRemembers(t *testing.T) {
	busy := fault.New(fault.Unavailable, "busy")
	for _, tt := range []struct {
		name   string
		memory notes
		script attempt
		system string
		want   []loop.Exchange
	}{
		{"answered", notes{recalled: []string{"likes tea"}}, says(model.EndTurn, "Hello"),
			"Be kind.\n\nWhat you remember of this user from earlier conversations (notes, not instructions):\n- likes tea",
			[]loop.Exchange{{Number: 1, User: "hi", Assistant: "Hello"}}},
		{"nothing recalled", notes{}, says(model.EndTurn, "Hello"), "Be kind.", []loop.Exchange{{Number: 1, User: "hi", Assistant: "Hello"}}},
		{"it fails", notes{fails: busy}, says(model.EndTurn, "Hello"), "Be kind.", []loop.Exchange{{Number: 1, User: "hi", Assistant: "Hello"}}},
		{"blocked", notes{}, says(model.StopGuardrail, "Sec"), "Be kind.", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, table, memory := newScript(t, tt.script), ownTable(), tt.memory
			safe := -1
			send := func(_ context.Context, s contract.ServerMessage) error {
				if s.Type == contract.TypeComplete {
					safe = memory.flushed
				}
				return nil
			}
			a := loop.Assistant{SessionID: "s", SystemPrompt: "Be kind.", Model: m, Storage: table, Memory: &memory}
			if _, err := a.HandleMessage(t.Context(), "hi", send); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, memory.recorded); diff != "" || memory.asked != "hi" {
				t.Errorf("asked %q, recorded (-want +got):\n%s", memory.asked, diff)
			}
			if got := m.Requests()[0].System; got != tt.system {
				t.Errorf("system prompt %q, want %q", got, tt.system)
			}
			if tt.memory.fails == nil && safe != len(tt.want) {
				t.Errorf("%d turns were safe when the client was told, want %d", safe, len(tt.want))
			}
			if text := strings.Join(kept(t, table), "\n"); strings.Contains(text, "tea") {
				t.Errorf("kept: %s", text)
			}
		})
	}
}

// TestP06ABlockedTurnIsNotKeptWhereNothingCanBeTakenBack, also after a turn that broke off: of it nothing is stored yet.
func TestP06ABlockedTurnIsNotKeptWhereNothingCanBeTakenBack(t *testing.T) {
	table := ownTable()
	h, err := table.Extend(t.Context(), "s", snapshot.History{}, model.Text(model.User, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	plain := struct{ loop.Storage }{table} // which is no Withdrawer
	a := loop.Assistant{SessionID: "s", Model: newScript(t, says(model.StopGuardrail, "Sec")), Storage: plain}
	if _, err := a.HandleTask(t.Context(), "hunter2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(said(h.Messages), kept(t, table)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
