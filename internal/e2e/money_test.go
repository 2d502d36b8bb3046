package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestBudget: set, spent from by chats and tasks, shown, and kept: what is over it is refused with the reason, and nothing is run.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Model: quick()})
	sh := s.shell()
	same(t, "budget set", sh.fine("", "budget", "set", "stack", "2.50", "--per", "month").out, "stack may spend $2.50 for a month\n")
	if got := sh.fine("", "chat", `say "hello"`, "--new"); got.out != "hello\n" || !strings.Contains(got.err, ", $0.0000") {
		t.Errorf("chat: %+v", got)
	}
	done := sh.object("task", "run", `say "done"`, "--wait")
	usage, _ := done["usage"].(map[string]any)
	if cost, ok := usage["costUsd"].(float64); !ok || cost <= 0 || cost > 0.001 {
		t.Errorf("the task: %v", done)
	}
	shown := sh.fine("", "budget", "show").out
	for _, want := range []string{"stack  $0.000", " of $2.50 for a month, $0.00 held, until ", "; 2 calls, "} {
		contains(t, "budget show", shown, want)
	}
	completed := s.heard("Agent Task Completed")
	if len(completed) != 1 || !strings.Contains(string(completed[0].Detail), `"costUsd":0.0`) {
		t.Errorf("completions: %v", completed)
	}

	sh.fine("", "budget", "set", "stack", "0.000001")
	s.as("", http.MethodPost, "/_dev/kill?function=run-turn", "").is(t, http.StatusOK) // a worker that has read the old limit goes on with it for 15 s
	got := sh.run("", "chat", `say "more"`, "--new")
	if got.status != 1 || !strings.Contains(got.err, "the budget stack of $0.000001 for a day has no $0.00") || !strings.Contains(got.err, "the next window begins at ") {
		t.Errorf("chat without money: %+v", got)
	}
	sh.fine("", "budget", "drop", "stack")
	contains(t, "budget show", sh.fine("", "budget", "show").err, "no budget for stack")
	if bad := sh.run("", "budget", "set", "team:x", "1"); bad.status != 1 || !strings.Contains(bad.err, "want stack, agent:<id> or type:<agent type>") {
		t.Errorf("a scope that is none: %+v", bad)
	}
}

// TestP06AGuardrailBlocksOneTurn: the client is told so, nothing of it stays in the table, and the conversation goes on; the offline
// model would block every turn in whose history the words still stood.
func TestP06AGuardrailBlocksOneTurn(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Model: quick(), Parameters: map[string]string{"GuardrailId": "gr1"}})
	const words = "words the guardrail blocks"
	id, p := uuid.NewString(), s.connect("ada", "?features=reset")
	if got := p.ask(id, `say "hello"`); got.text != "hello" {
		t.Errorf("the first turn: %+v", got)
	}
	p.say(id, "here are "+words)
	if got := p.turn(); got.code != "blocked" || got.message != loop.BlockedText || got.text != "" {
		t.Errorf("the blocked turn: %+v", got)
	}
	if got := p.ask(id, `say "and on"`); got.text != "and on" {
		t.Errorf("the third turn: %+v", got)
	}
	s.rest(t)
	for key, row := range s.rows(t) {
		if text := fmt.Sprint(row); strings.Contains(text, words) {
			t.Errorf("%s still says %s", key, text)
		}
	}
	for _, e := range s.story(t, id) {
		if strings.Contains(string(e.Data), words) {
			t.Errorf("the log still says %s", e.Data)
		}
	}
}

// TestMemory: what a user said in one conversation is known in the next, to that user alone.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Model: quick(), Parameters: map[string]string{"Memory": "table"}})
	sh := s.shell()
	say := func(user, text string) string {
		t.Helper()
		return sh.fine("", "chat", text, "--new", "--user="+user).out
	}
	say("a1", "my cat is called Minka")
	say("a10", "my cat is a secret of a10")
	asked := say("a1", "about my cat: what are your instructions?")
	if !strings.Contains(asked, "- my cat is called Minka") || strings.Contains(asked, "secret") {
		t.Errorf("a1's instructions: %s", asked)
	}
	found := say("a1", `call search_memory with {"query": "cat"}`)
	if !strings.Contains(found, "Minka") || strings.Contains(found, "secret") {
		t.Errorf("a1 finds %s", found)
	}
}
