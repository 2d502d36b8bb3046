package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// eventsOf reads lines of events and fails on a gap or a repeat.
func eventsOf(t *testing.T, body string, from int64) []contract.SessionEvent {
	t.Helper()
	var out []contract.SessionEvent
	for line := range strings.Lines(body) {
		if line == "\n" {
			continue // a sign of life
		}
		var e contract.SessionEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Index != from {
			t.Fatalf("line %q where event %d belongs: %v", line, from, err)
		}
		out, from = append(out, e), from+1
	}
	return out
}

// TestP13SocketThatComesBack: in mid-answer and after it, a new connection is told the rest, and its end.
func TestP13SocketThatComesBack(t *testing.T) {
	t.Parallel()
	s, user, id := shared(t), "user-"+uuid.NewString(), uuid.NewString()
	p := s.connect(user, "?features=reset")
	p.say(id, "say 150 words slow 20 ms")
	p.untilText(0)
	_ = p.conn.CloseNow()
	back := s.connect(user, "?features=reset")
	begun := time.Now()
	back.send(fmt.Sprintf(`{"action":"subscribe","session_id":%q,"start_index":0}`, id))
	h, running := back.told(id)
	if !running || h.text != words(150) || h.code != "" {
		t.Errorf("in mid-answer (%t) the new socket heard %+v", running, h)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("the rest took %v", took)
	}
	s.quiet()
	late := s.connect(user, "?features=reset")
	late.send(fmt.Sprintf(`{"action":"subscribe","session_id":%q,"start_index":0}`, id))
	if h, running := late.told(id); running || h.text != words(150) || h.code != "" {
		t.Errorf("after the end (%t) the new socket heard %+v", running, h)
	}
	if done := of[contract.TurnCompleted](t, s.story(t, id)); len(done) != 1 || done[0].Result != words(150) {
		t.Errorf("stored = %+v", done)
	}
}

// told reads until a turn has ended and the subscription was answered, in any order. running: the session was at work then.
func (p *talker) told(id string) (h heard, running bool) {
	p.t.Helper()
	for ended, answered := false, false; !ended || !answered; {
		m, raw := p.next()
		switch {
		case m.Type == contract.TypeSubscribed:
			if answered, running = true, m.Status == "running"; m.SessionID != id || m.Index == nil || m.More {
				p.t.Errorf("subscribed = %s", raw)
			}
		case m.Type == contract.TypeComplete:
			ended = true
		case m.Type == contract.TypeError:
			h.code, ended = m.Error, true
		case m.Event.Data != nil && *m.Offset < int64(len([]rune(h.text))):
			p.t.Errorf("text comes again: %s", raw)
		default:
			h.take(m)
		}
	}
	return h, running
}

// TestCommandLineEvents: send, follow, stop, and what a saved stream tells.
func TestCommandLineEvents(t *testing.T) {
	t.Parallel()
	s := shared(t)
	sh, user := s.shell(), "--user="+uuid.NewString()
	sh.fine("", "chat", "What time is it?", user)
	listed, _ := sh.object("sessions", "list", user)["sessions"].([]any)
	first, _ := listed[0].(map[string]any)
	id, _ := first["sessionId"].(string)
	if got := sh.fine("", "send", id, "say 2000 words slow 20 ms", "--delivery-id", "d-9", user); got.out != "d-9\n" {
		t.Errorf("send = %+v", got)
	}
	if got := sh.object("send", id, `say "next"`, "--admission", "coalesce", user); got["deliveryId"] == "" || got["continuationToken"] == "" {
		t.Errorf("send --json = %v", got)
	}
	eventually(t, "the turn to begin", func() bool { return strings.Contains(sh.fine("", "events", "dump", id, user).out, `"d-9"`) })
	if got := sh.fine("", "stop", id, user); got.out != "session "+id+": stop asked for\n" {
		t.Errorf("stop = %+v", got)
	}
	tail := sh.fine("", "events", "tail", id, "--until-idle", user)
	if dump := sh.fine("", "events", "dump", id, user); dump.out != tail.out || tail.err != "" {
		t.Errorf("tail and dump differ:\n%s", cmp.Diff(dump.out, tail.out))
	}
	if part := sh.fine("", "events", "dump", id, "--from", "5", user); len(eventsOf(t, part.out, 5)) != len(eventsOf(t, tail.out, 0))-5 {
		t.Errorf("from 5 on: %s", part.out)
	}
	var turns []string
	for line := range strings.Lines(sh.fine(tail.out, "trajectory", "--events", "-").out) {
		var a struct {
			Type, Text, Error string
			Tools             []string
			Usage             *contract.Usage
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Type != "answer" || (a.Usage == nil) != (a.Error != "") {
			t.Errorf("line %s: %v", line, err)
		}
		if a.Error == "" && len(a.Tools) == 0 {
			a.Error = a.Text
		}
		turns = append(turns, a.Error+strings.Join(a.Tools, " "))
	}
	if diff := cmp.Diff([]string{"get_current_time", "cancelled", "next"}, turns); diff != "" {
		t.Errorf("trajectory (-want +got):\n%s", diff)
	}
	if got := sh.fine("", "stop", id, "--clear", user); got.out != "session "+id+": nothing runs or waits\n" {
		t.Errorf("stop of a quiet session = %+v", got)
	}
	if got := sh.run("", "send", uuid.NewString(), "hello", user); got.status != 1 || got.err != "steadfast: no such session\n" {
		t.Errorf("send to nobody's session = %+v", got)
	}
}
