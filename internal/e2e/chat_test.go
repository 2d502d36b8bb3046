package e2e_test

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestConversation: the first turn uses a tool, the second knows the first, and after a restart on the same folder a third
// knows both.
func TestConversation(t *testing.T) {
	t.Parallel()
	id, data := uuid.NewString(), t.TempDir()
	before := start(t, cloud.Options{Data: data})
	p := before.connect("ada", "")
	first := p.ask(id, "What time is it?")
	if diff := cmp.Diff([]string{"get_current_time"}, first.tools); diff != "" {
		t.Errorf("tools of the first turn (-want +got):\n%s", diff)
	}
	if !regexp.MustCompile(`\d\d:\d\d`).MatchString(first.text) {
		t.Errorf("the first answer tells no time: %q", first.text)
	}
	contains(t, "the second answer", p.ask(id, "What did I say first?").text, "What time is it?")
	want := []string{
		"session.started",
		"turn.started", "message.received", "step.started", "actions.requested", "action.result", "actions.completed", "step.completed",
		"step.started", "message.appended", "message.completed", "step.completed", "turn.completed", "session.waiting",
		"turn.started", "message.received", "step.started", "message.appended", "message.completed", "step.completed", "turn.completed", "session.waiting",
	}
	if diff := cmp.Diff(want, before.story(t, id).types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	before.rest(t)
	address, err := url.Parse(before.info.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	before.stop()

	after := start(t, cloud.Options{Data: data, Addr: address.Host})
	p = after.connect("ada", "")
	contains(t, "the third answer", p.ask(id, "What did I say first?").text, "What time is it?")
	contains(t, "the fourth answer", p.ask(id, "What did I say last?").text, "What did I say first?")
	after.rest(t)
}

// TestP10SecondMessageInterruptsTheFirst: each message is answered for itself, the first by a notice.
func TestP10SecondMessageInterruptsTheFirst(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	p.say(id, "say 2000 words slow 20 ms")
	p.untilText(0)
	p.say(id, `say "the second one"`)
	if first := p.turn(); first.code != "interrupted" {
		t.Errorf("the first turn ended with %q (%s), want interrupted", first.code, first.message)
	}
	if second := p.turn(); second.text != "the second one" || second.code != "" {
		t.Errorf("the second turn = %+v", second)
	}
	failed := of[contract.TurnFailed](t, s.story(t, id))
	if len(failed) != 1 || failed[0].Status != "interrupted" || failed[0].Error != "turn interrupted" {
		t.Errorf("failed turns = %+v, want one, interrupted", failed)
	}
	if done := of[contract.TurnCompleted](t, s.story(t, id)); len(done) != 1 || done[0].Result != "the second one" {
		t.Errorf("completed turns = %+v, want the second alone", done)
	}
}

// TestStop: a turn ends soon after it was told to, and the session can be used as before.
func TestStop(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	p.say(id, "say 2000 words slow 20 ms")
	p.untilText(0)
	asked := time.Now()
	p.send(`{"action":"stop","session_id":"` + id + `"}`)
	if h := p.turn(); h.code != "cancelled" {
		t.Errorf("the turn ended with %q (%s), want cancelled", h.code, h.message)
	}
	if took := time.Since(asked); took > 4*time.Second { // 2 s are promised; this machine may be busy
		t.Errorf("the stop took %v", took)
	}
	if h := p.ask(id, `say "still here"`); h.text != "still here" {
		t.Errorf("after the stop: %+v", h)
	}
	if failed := of[contract.TurnFailed](t, s.story(t, id)); len(failed) != 1 || failed[0].Status != "cancelled" {
		t.Errorf("failed turns = %+v, want one, cancelled", failed)
	}
}

// TestTwoClientsFollowOneSession: both hear every turn from the moment they have spoken.
func TestTwoClientsFollowOneSession(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	one, two := s.connect("ada", ""), s.connect("ada", "")
	one.ask(id, `say "first"`)
	if h := two.ask(id, `say "second"`); h.text != "second" {
		t.Errorf("the second client heard %+v", h)
	}
	if h := one.turn(); h.text != "second" {
		t.Errorf("the first client heard %+v of the second turn", h)
	}
}

// TestFailingModel: what a model does wrong is tried again where that helps, and else told in one message. The session rests
// afterwards.
func TestFailingModel(t *testing.T) {
	t.Parallel()
	s := shared(t)
	tests := []struct {
		name, say, query string
		code, text       string
		resets           int
	}{
		{"throttled once", "fail ThrottlingException once", "", "", "offline model", 0},
		{"refused", "fail ValidationException", "", "failed", "", 0},
		{"P05: cut off once, and the client can take a reset", "say 9 words cut after 3 once", "?features=reset", "", "word1 word2 word3 word4 word5 word6 word7 word8 word9", 1},
		{"P05: cut off once, and the client cannot", "say 8 words cut after 3 once", "", "answer_restarted", "word1", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stack{s.world, t}
			p, id := s.connect("ada", tt.query), uuid.NewString()
			p.say(id, tt.say+", for "+id) // "once" is remembered by the request
			h := p.turn()
			if h.code != tt.code || h.resets != tt.resets {
				t.Errorf("the turn = %+v", h)
			}
			contains(t, "the answer", h.text, tt.text)
			eventually(t, "the session to wait", func() bool {
				return s.as("ada", "GET", "/agent/sessions/"+id, "").is(t, 200)["status"] == "waiting"
			})
			if tt.code == "failed" { // the model reads what it was told before: it would refuse again
				return
			}
			if again := s.connect("ada", "").ask(id, `say "fine"`); again.text != "fine" {
				t.Errorf("the next turn = %+v", again)
			}
		})
	}
}
