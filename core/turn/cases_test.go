package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// say sends a message and lets it be answered.
func say(t *testing.T, ctx context.Context, s *stage.Stage, text string) {
	t.Helper()
	_, err := s.Send(ctx, id, text)
	must(t, err, s.Rest(ctx, id), s.Check(id))
}

// told lists the events of some types, with what they say.
func told(t *testing.T, s *stage.Stage, sessionID string, types ...string) []string {
	t.Helper()
	events, err := s.Events(t.Context(), sessionID)
	must(t, err)
	var list []string
	for _, e := range events {
		for _, kind := range types {
			if e.Type == kind {
				list = append(list, kind+" "+string(e.Data))
			}
		}
	}
	return list
}

// sent renders a request's messages.
func sent(req model.Request) []string {
	var list []string
	for _, m := range req.Messages {
		data, _ := json.Marshal(m.Content)
		list = append(list, string(m.Role)+" "+string(data))
	}
	return list
}

func lastRequest(s *stage.Stage) model.Request {
	all := s.Model.Requests()
	return all[len(all)-1]
}

func TestP01AKilledToolIsAnsweredWithAnError(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Acting = func(ctx tool.Context) { fake.Kill(ctx) }
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Drain(ctx))
		s.Acting = nil
		say(t, ctx, s, "hello")
		want := []string{
			`user [{"text":"use the tools"}]`,
			`assistant [{"text":"let me see"},{"toolUse":{"toolUseId":"call_10","name":"look_up","input":{"text":"a"}}},{"toolUse":{"toolUseId":"call_11","name":"write_down","input":{"text":"b"}}}]`,
			`user [{"toolResult":{"toolUseId":"call_10","status":"error","content":[{"text":"` + interrupted + `"}]}},{"toolResult":{"toolUseId":"call_11","status":"error","content":[{"text":"` + interrupted + `"}]}},{"text":"hello"}]`,
		}
		if diff := cmp.Diff(want, sent(lastRequest(s))); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		if got := s.Ran.Runs(); got != "" {
			t.Errorf("tools ran: %s", got)
		}
		say(t, ctx, s, "still there?")
		if diff := cmp.Diff(want, sent(lastRequest(s))[:3]); diff != "" {
			t.Errorf("the second restore (-want +got):\n%s", diff)
		}
		h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
		must(t, err)
		if _, changed := snapshot.Repair(h.Messages); changed {
			t.Error("the stored history still needs repair")
		}
	})
}

var interrupted = model.Interrupted("").Content[0].Text

func TestP01AfterATurnThatKillsItsWorkers(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Acting = func(ctx tool.Context) { fake.Kill(ctx) }
		_, err := s.Send(ctx, id, "use the tools")
		must(t, err, s.Rest(ctx, id))
		want := []string{`turn.failed {"status":"failed","error":"worker_lost","usage":{"inputTokens":10,"outputTokens":10,"cacheReadTokens":0,"cacheWriteTokens":0}}`}
		if diff := cmp.Diff(want, told(t, s, id, "turn.failed")); diff != "" {
			t.Errorf("the turn (-want +got):\n%s", diff)
		}
		say(t, ctx, s, "hello")
		if m := lastRequest(s).Messages[2]; len(m.Results()) != 2 || m.PlainText() != "hello" {
			t.Errorf("after the calls the model gets %v", m)
		}
		h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
		must(t, err)
		if _, changed := snapshot.Repair(h.Messages); changed {
			t.Error("the stored history still needs repair")
		}
	})
}

func TestP02ParallelResultsInOneMessage(t *testing.T) {
	answer := func(req model.Request) fake.Turn {
		if len(req.Messages[len(req.Messages)-1].Results()) > 0 {
			return fake.Say("done")
		}
		return fake.Calls("", call(1, "nap", "3s"), call(2, "nap", "panic"), call(3, "nap", "1s"))
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Tools = tool.Registry{tool.New("nap", "Waits.", func(_ tool.Context, in stage.Note) (string, error) {
			d, err := time.ParseDuration(in.Text)
			if err != nil {
				time.Sleep(5 * time.Second)
				panic("no nap")
			}
			time.Sleep(d)
			return in.Text, nil
		})}
		say(t, ctx, s, "go")
		results := lastRequest(s).Messages[2].Results()
		var got []string
		for _, r := range results {
			got = append(got, fmt.Sprintf("%s %s", r.ID, r.Status))
		}
		if diff := cmp.Diff([]string{"call_1 success", "call_2 error", "call_3 success"}, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestP04TheStopReasonIsNotTrusted(t *testing.T) {
	cut := fake.Turn{
		{Event: model.TextDelta{Text: "so far"}}, {Event: model.BlockStop{}},
		{Event: model.ToolStart{Block: 1, ID: "call_1", Name: "look_up"}}, {Event: model.ToolInput{Block: 1, JSON: `{"text":"a`}},
		{Event: model.Stop{Reason: model.StopMaxTokens}},
	}
	for _, tt := range []struct {
		name      string
		first     fake.Turn
		completed string
		runs      string
		history   int
	}{
		{"the limit cuts a call", cut, `{"result":"so far","limit":"max_tokens"`, "", 2},
		{"the turn has ended with a whole call", fake.Calls("", call(1, "look_up", "a")).Stopping(model.EndTurn), `{"result":"done with tools"`, "look_up a: 1", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := func(req model.Request) fake.Turn {
				if len(req.Messages) == 1 {
					return tt.first
				}
				return helpful(req)
			}
			bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				say(t, ctx, s, "go")
				if got := told(t, s, id, "turn.completed", "turn.failed"); len(got) != 1 || !strings.HasPrefix(got[0], "turn.completed "+tt.completed) {
					t.Errorf("the turn ends %v, want %s", got, tt.completed)
				}
				if got := s.Ran.Runs(); got != tt.runs {
					t.Errorf("tools ran: %q, want %q", got, tt.runs)
				}
				h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
				must(t, err)
				if len(h.Messages) != tt.history {
					t.Errorf("%d messages stored, want %d: %v", len(h.Messages), tt.history, h.Messages)
				}
				say(t, ctx, s, "and now?")
			})
		})
	}
}

func TestP05AFailedAttemptLeavesNothing(t *testing.T) {
	good := fake.Say("one ", "two ", "three")
	for _, tt := range []struct {
		name string
		bad  fake.Turn
	}{
		{"an error in mid-stream", good.Failing(2, fault.New(fault.Unavailable, "throttled"))},
		{"a stream that closes silently", good.Cut(2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			bubble(t, func(model.Request) fake.Turn {
				if n++; n == 1 {
					return tt.bad
				}
				return good
			}, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				say(t, ctx, s, "go")
				if diff := cmp.Diff([]string{`message.completed {"text":"one two three"}`}, told(t, s, id, "message.completed")); diff != "" {
					t.Errorf("the answer (-want +got):\n%s", diff)
				}
				if got := finalText(t, s); got != "one two three" {
					t.Errorf("the deltas of the last attempt say %q", got)
				}
				h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
				must(t, err)
				if len(h.Messages) != 2 || h.Messages[1].PlainText() != "one two three" {
					t.Errorf("stored: %v", h.Messages)
				}
			})
		})
	}
}

// finalText joins what a reader shows: pieces of a higher attempt void those before.
func finalText(t *testing.T, s *stage.Stage) string {
	t.Helper()
	text, attempt := "", 0
	for _, line := range told(t, s, id, "message.appended") {
		var d contract.MessageAppended
		must(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "message.appended ")), &d))
		if d.Attempt > attempt {
			text, attempt = "", d.Attempt
		}
		text += d.Delta
	}
	return text
}

func TestP05RetriesAreBounded(t *testing.T) {
	bubble(t, func(model.Request) fake.Turn { return fake.Say("half").Cut(1) }, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "go")
		if n := len(s.Model.Requests()); n != 3 {
			t.Errorf("%d calls of the model, want 3", n)
		}
		if got := told(t, s, id, "turn.completed", "turn.failed"); len(got) != 1 || !strings.HasPrefix(got[0], `turn.failed {"status":"failed"`) {
			t.Errorf("the turn ends %v", got)
		}
	})
}
