package socket_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// asking is a connection that wants to be told what it missed.
func asking(id string, at int64, features ...string) socket.Subscriber {
	return socket.Subscriber{ConnectionID: id, Features: features, Asked: at}
}

func TestWhoAsksAgainIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{asking("a", 1, contract.FeatureReset)}, "s", "t", 1)
		turn.Start(nil)
		turn.Text("one ", nil)
		turn.ToolUse("look", "tu-1")
		turn.Step()
		turn.Text("tow", nil)
		turn.Flush()
		turn.Reset(2)
		turn.Text("two", nil)
		synctest.Wait()
		turn.Add(asking("a", 1, contract.FeatureReset))
		turn.Add(asking("a", 2, contract.FeatureReset))
		turn.Complete(nil, nil)
		turn.Add(asking("a", 3, contract.FeatureReset))
		turn.Close()
		want := []string{"init", "one ", "tool look", "tow", "reset", "two", "init", "one ", "tool look", "reset", "two", "end", "complete s"}
		if diff := cmp.Diff(want, story(c.of("a"))); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
		if got := *c.of("a")[9].message.Offset; got != 4 {
			t.Errorf("what is told again takes back what follows %d characters, want 4", got)
		}
	})
}

// A connection that fell out of the turn comes back when it asks again.
func TestWhoFellBehindMayAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{fail: func(_ context.Context, _ string, nth int) error {
			if nth == 2 {
				return status(500)
			}
			return nil
		}}
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		turn.Start(nil)
		turn.Text("lost", nil)
		turn.Flush()
		synctest.Wait()
		turn.Add(asking("a", 7))
		turn.Text(" and found", nil)
		turn.Complete(nil, nil)
		turn.Close()
		want := []string{"init", "error delivery_failed", "init", "lost", " and found", "end", "complete s"}
		if diff := cmp.Diff(want, story(c.of("a"))); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
	})
}

// An owner that goes on with a turn tells those from the beginning who asked, and nobody else.
func TestResumeTellsThoseWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a"), asking("b", 1)}, "s", "t", 2)
		var told retell.Turn
		told.Text("so far ", nil)
		told.Step()
		turn.Resume(told)
		turn.Text("so good", nil)
		turn.Complete(nil, nil)
		turn.Close()
		if diff := cmp.Diff([]string{"so good", "end", "complete s"}, story(c.of("a"))); diff != "" {
			t.Errorf("posts to who saw it all (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"init", "so far ", "so good", "end", "complete s"}, story(c.of("b"))); diff != "" {
			t.Errorf("posts to who asked (-want +got):\n%s", diff)
		}
		if got := shown(t, c.of("b")); got != "so far so good" {
			t.Errorf("shown = %q", got)
		}
	})
}

func TestP15WhatIsToldAgainFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn(nil, "s", "t", 2)
		turn.Start(nil)
		text := strings.Repeat("\"\n\\😀é<", 20_000)
		turn.Text(text, new(int64(3)))
		turn.Add(plain("late"))
		turn.Complete(nil, nil)
		turn.Close()
		posts := c.of("late")
		if got := shown(t, posts); got != text {
			t.Errorf("%d bytes are shown, want %d", len(got), len(text))
		}
		indexes := 0
		for _, p := range posts {
			if p.bytes > socket.MaxFrameBytes {
				t.Errorf("a frame has %d bytes", p.bytes)
			}
			if p.message.Index != nil {
				indexes++
			}
		}
		if indexes != 1 {
			t.Errorf("%d frames have an index, want the last of the text alone", indexes)
		}
	})
}

func TestTell(t *testing.T) {
	var c connections
	text := strings.Repeat("x", 70_000)
	message := func(m contract.ServerMessage) contract.ServerMessage { m.TurnID = "t"; return m }
	err := c.caster().Tell(t.Context(), "a",
		message(contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &contract.StreamEventBody{Data: &text}, Offset: new(int64(0))}),
		message(contract.ServerMessage{Type: contract.TypeComplete, SessionID: "s"}))
	if posts := c.of("a"); err != nil || shown(t, posts) != text || len(posts) != 4 {
		t.Errorf("Tell(...) = %v with %d posts", err, len(posts))
	}
	c = connections{fail: failing("a", status(410))}
	if err := c.caster().Tell(t.Context(), "a", contract.ServerMessage{Type: contract.TypePong}, contract.ServerMessage{Type: contract.TypePong}); err == nil || c.triesOf("a") != 1 {
		t.Errorf("Tell(...) to nobody = %v after %d posts, want an error after one", err, c.triesOf("a"))
	}
}
