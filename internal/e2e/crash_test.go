package e2e_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// kill ends the worker as kill -9 does, and lets the time go by after which another one may take over.
func (s stack) kill(sessionID string) {
	s.t.Helper()
	if n, err := s.Kill("run-turn"); err != nil || n == 0 {
		s.t.Fatalf("killed %d processes, %v", n, err)
	}
	s.anHourLater(s.t, sessionID)
}

func words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("word%d", i+1)
	}
	return strings.Join(all, " ")
}

// TestKilledInMidStream: the turn goes on in another worker and is stored whole. A client that understands resets sees the
// whole answer; an old one is told that it did not, and learns the answer by asking again.
func TestKilledInMidStream(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	old, modern := s.connect("ada", ""), s.connect("ada", "?features=reset")
	old.ask(id, "my name is Ada")
	modern.send(fmt.Sprintf(`{"action":"subscribe","session_id":%q}`, id))
	if m, raw := modern.next(); m.Type != contract.TypeSubscribed {
		t.Fatalf("subscribe was answered with %s", raw)
	}
	old.say(id, "say 150 words slow 20 ms")
	old.untilText(0)
	modern.untilText(0)
	s.kill(id)
	s.sweep(t)
	if h := old.turn(); h.code != "answer_restarted" || h.message == "" {
		t.Errorf("the old client heard %+v", h)
	}
	if h := modern.turn(); h.code != "" || h.resets != 1 || h.text != words(150) {
		t.Errorf("the modern client heard %d resets, the error %q, and %q", h.resets, h.code, h.text)
	}
	done := of[contract.TurnCompleted](t, s.story(t, id))
	if len(done) != 2 || done[1].Result != words(150) {
		t.Errorf("completed turns = %+v", done)
	}
	contains(t, "the answer to another question", old.ask(id, "What is my name?").text, "Ada")
	s.rest(t)
}

// asked counts model requests by what they end with.
type asked struct {
	bedrock.Responder
	fresh, withResults atomic.Int64
}

func (a *asked) Respond(ctx context.Context, r bedrock.Request) iter.Seq2[bedrock.Part, error] {
	if strings.Contains(string(r.Body), `"toolResult"`) {
		a.withResults.Add(1)
	} else {
		a.fresh.Add(1)
	}
	return a.Responder.Respond(ctx, r)
}

// TestKilledAfterATool: a worker dies while the model talks about a tool's result, twice. The tool's result is durable: no
// other worker asks for the call again.
func TestKilledAfterATool(t *testing.T) {
	t.Parallel()
	model := &asked{Responder: quick()}
	s, id := start(t, cloud.Options{Model: model}), uuid.NewString()
	p := s.connect("ada", "?features=reset")
	p.say(id, "call get_current_time slow 150 ms")
	for fence := int64(0); fence < 2; {
		fence = p.untilText(fence)
		s.kill(id)
		s.sweep(t)
	}
	h := p.turn()
	if h.code != "" {
		t.Errorf("the client heard %+v", h)
	}
	story := s.story(t, id)
	done := of[contract.TurnCompleted](t, story)
	if len(done) != 1 || !strings.HasPrefix(done[0].Result, "get_current_time answered: ") || !strings.HasSuffix(done[0].Result, h.text) {
		t.Errorf("completed turns = %+v, heard %q", done, h.text)
	}
	if requested, results := of[contract.ActionsRequested](t, story), of[contract.ActionResult](t, story); len(requested) != 1 || len(results) != 1 {
		t.Errorf("%d requests and %d results of tools, want one of each", len(requested), len(results))
	}
	if f, r := model.fresh.Load(), model.withResults.Load(); f != 1 || r != 3 {
		t.Errorf("the model was asked %d times for a call and %d times about its result, want 1 and 3", f, r)
	}
	s.rest(t)
}

// TestKilledInATask: the task ends once, with one completion.
func TestKilledInATask(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	id := s.task("ada", `{"request":"call get_current_time slow 150 ms"}`)
	bound := contract.TaskSessionPrefix + id
	eventually(t, "the model to talk about the result", func() bool { return len(of[contract.MessageAppended](t, s.story(t, bound))) > 0 })
	s.kill(bound)
	s.sweep(t)
	if got := s.finished("ada", id); got["status"] != "COMPLETED" {
		t.Errorf("task = %v", got)
	}
	s.rest(t)
	story := s.story(t, bound)
	if results, turns := of[contract.ActionResult](t, story), of[contract.TurnStarted](t, story); len(results) != 1 || len(turns) != 1 {
		t.Errorf("%d results in %d turns, want one in one", len(results), len(turns))
	}
	if n := len(s.completions(id)); n != 1 {
		t.Errorf("%d completions, want one", n)
	}
}

// TestTurnThatKillsItsWorkers is given up, with a reason, and the session can be used.
func TestTurnThatKillsItsWorkers(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	p := s.connect("ada", "?features=reset")
	p.say(id, "say 2000 words slow 20 ms")
	for fence := int64(0); fence <= session.MaxTries; {
		fence = p.untilText(fence)
		s.kill(id)
		s.sweep(t)
	}
	if h := p.turn(); h.code != "failed" || h.message != "worker_lost" {
		t.Errorf("the turn ended with %q: %q", h.code, h.message)
	}
	if failed := of[contract.TurnFailed](t, s.story(t, id)); len(failed) != 1 || failed[0].Error != "worker_lost" {
		t.Errorf("failed turns = %+v", failed)
	}
	if h := p.ask(id, `say "fine"`); h.text != "fine" {
		t.Errorf("the next turn = %+v", h)
	}
	s.rest(t)
}
