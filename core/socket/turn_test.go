package socket_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
	"github.com/steadfast-agents/steadfast/core/socket"
)

func TestTurnTellsAnOldClientWhatItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s-1", "t-1", 7)
		turn.Start(nil)
		turn.Start(nil)
		turn.Text("It is ", nil)
		turn.ToolUse("get_current_time", "tu-1")
		turn.Text("noon.", new(int64(9)))
		turn.Complete(new(int64(12)), nil, "dlv_1")
		turn.Text("too late", nil)
		turn.Close()

		got := c.of("a")
		want := []string{"init", "It is ", "tool get_current_time", "noon.", "end", "complete s-1dlv_1"}
		if diff := cmp.Diff(want, story(got)); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
		for i, p := range got {
			m := p.message
			if m.TurnID != "t-1" || m.Fence != 7 || m.Seq == nil || *m.Seq != int64(i) {
				t.Errorf("post %d: turn %q fence %d seq %v, want t-1, 7, %d", i, m.TurnID, m.Fence, m.Seq, i)
			}
		}
		if got[3].message.Index == nil || *got[3].message.Index != 9 {
			t.Errorf("index of the second text = %v, want 9", got[3].message.Index)
		}
	})
}

func TestFrameOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := map[string]any{}
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s-1", "t-1", 2)
		turn.Text("<b>", new(int64(4)))
		turn.Close()
		body, err := json.Marshal(c.of("a")[0].message)
		if err != nil || json.Unmarshal(body, &m) != nil {
			t.Fatal(err)
		}
		want := map[string]any{"type": "stream_event", "event": map[string]any{"data": "<b>"},
			"turn_id": "t-1", "fence": 2.0, "seq": 0.0, "index": 4.0, "offset": 0.0}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("frame (-want +got):\n%s", diff)
		}
	})
}

func TestTextIsGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		begin := time.Now()
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		var source strings.Builder
		for i := range 200 {
			piece := fmt.Sprintf("token%d ", i)
			source.WriteString(piece)
			turn.Text(piece, nil)
			time.Sleep(7 * time.Millisecond)
		}
		turn.Complete(nil, nil)
		turn.Close()

		got := c.of("a")
		if at := got[0].at.Sub(begin); at != 0 {
			t.Errorf("first piece after %v, want at once", at)
		}
		if n := len(got); n < 20 || n > 45 {
			t.Errorf("%d posts for 200 pieces in 1.4 s, want tens", n)
		}
		for i := 1; i < len(got)-2; i++ {
			if wait := got[i].at.Sub(got[i-1].at); wait > socket.GatherTime {
				t.Errorf("post %d came %v after the last one, want at most %v", i, wait, socket.GatherTime)
			}
		}
		if text := shown(t, got); text != source.String() {
			t.Errorf("joined text differs: %q", text)
		}
	})
}

func TestMuchTextIsNotGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		defer turn.Close()
		turn.Text("first", nil)
		turn.Text(strings.Repeat("x", socket.GatherBytes-1), nil)
		synctest.Wait()
		if n := len(c.of("a")); n != 1 {
			t.Fatalf("%d posts below the limit, want 1", n)
		}
		turn.Text("y", nil)
		synctest.Wait()
		if n := len(c.of("a")); n != 2 {
			t.Errorf("%d posts at the limit, want 2", n)
		}
	})
}

func TestFlushPostsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		defer turn.Close()
		turn.Text("one ", nil)
		turn.Text("two", nil)
		turn.Flush()
		synctest.Wait()
		if diff := cmp.Diff([]string{"one ", "two"}, story(c.of("a"))); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
	})
}

func TestP05FailedAttemptIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("old"), capable("new")}, "s", "t", 1)
		turn.Start(nil)
		turn.Step()
		turn.Text("Let me look. ", nil)
		turn.ToolUse("look", "tu-1")
		turn.Step()
		turn.Text("The answ", nil)
		turn.Flush()
		turn.Text("er is", nil) // gathered when the attempt fails: never shown
		turn.Reset(2)
		turn.Text("The answer is 4.", nil)
		turn.Complete(nil, nil)
		turn.Close()

		want := []string{"init", "Let me look. ", "tool look", "The answ", "reset", "The answer is 4.", "end", "complete s"}
		if diff := cmp.Diff(want, story(c.of("new"))); diff != "" {
			t.Errorf("posts to a client with resets (-want +got):\n%s", diff)
		}
		if text := shown(t, c.of("new")); text != "Let me look. The answer is 4." {
			t.Errorf("text at the end = %q", text)
		}
		want = []string{"init", "Let me look. ", "tool look", "The answ", "error answer_restarted"}
		if diff := cmp.Diff(want, story(c.of("old"))); diff != "" {
			t.Errorf("posts to an old client (-want +got):\n%s", diff)
		}
	})
}

func TestResetBeforeAnyTextIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("old"), capable("new")}, "s", "t", 1)
		turn.Start(nil)
		turn.Step()
		turn.Reset(2)
		turn.Text("ok", nil)
		turn.Complete(nil, nil)
		turn.Close()
		want := []string{"init", "ok", "end", "complete s"}
		for _, id := range []string{"old", "new"} {
			if diff := cmp.Diff(want, story(c.of(id))); diff != "" {
				t.Errorf("posts to %s (-want +got):\n%s", id, diff)
			}
		}
	})
}

func TestResumeKeepsWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("old"), capable("new")}, "s", "t", 2)
		var told retell.Turn
		told.Text("ten so far", nil)
		told.Step()
		turn.Resume(told)
		turn.Add(plain("late"))
		turn.Start(nil)
		turn.Reset(2)
		turn.Text("again", nil)
		turn.Complete(nil, nil)
		turn.Close()
		if diff := cmp.Diff([]string{"reset", "again", "end", "complete s"}, story(c.of("new"))); diff != "" {
			t.Errorf("posts to a client with resets (-want +got):\n%s", diff)
		}
		if got := *c.of("new")[1].message.Offset; got != 10 {
			t.Errorf("offset = %d, want 10", got)
		}
		if diff := cmp.Diff([]string{"error answer_restarted"}, story(c.of("old"))); diff != "" {
			t.Errorf("posts to an old client (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"init", "ten so far", "again", "end", "complete s"}, story(c.of("late"))); diff != "" {
			t.Errorf("posts to a late client (-want +got):\n%s", diff)
		}
	})
}

func TestP10EachAnsweredSendIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("old"), capable("new")}, "s", "t", 1)
		turn.Complete(nil, nil, "d1", "d2")
		turn.Close()
		if diff := cmp.Diff([]string{"end", "complete sd1"}, story(c.of("old"))); diff != "" {
			t.Errorf("posts to an old client (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"end", "complete sd1", "complete sd2"}, story(c.of("new"))); diff != "" {
			t.Errorf("posts to a new client (-want +got):\n%s", diff)
		}
	})
}

func TestP13LateSubscriberGetsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		turn.Start(nil)
		turn.Text("häl", new(int64(5)))
		turn.Add(plain("b"))
		turn.Add(plain("b"))
		turn.Text("ften", nil)
		turn.Fail("timeout", "The model took too long.", "d1")
		turn.Close()
		if diff := cmp.Diff([]string{"init", "häl", "ften", "error timeout"}, story(c.of("b"))); diff != "" {
			t.Errorf("posts to the late one (-want +got):\n%s", diff)
		}
		for i, again := range []bool{true, true, false} {
			m := c.of("b")[i].message
			if (m.Seq == nil) != again || m.Fence != 1 || m.TurnID != "t" {
				t.Errorf("frame %d = seq %v, fence %d, turn %s; want no seq where it tells again: %t", i, m.Seq, m.Fence, m.TurnID, again)
			}
		}
		first := c.of("b")[2].message
		if *first.Seq != 2 || *first.Offset != 3 {
			t.Errorf("seq %d, offset %d of its first new frame, want 2 and 3", *first.Seq, *first.Offset)
		}
		last := c.of("a")[3].message
		if last.Message != "The model took too long." || last.DeliveryID != "d1" {
			t.Errorf("failure = %+v", last)
		}
	})
}

func TestP15EveryFrameFits(t *testing.T) {
	nasty := "\"\n\\😀é\u2028\x01<&>\t世"
	tests := []struct{ name, text string }{
		{"200 KB of quotes, newlines and emoji", strings.Repeat(nasty, 200*1024/len(nasty))},
		{"worst escape", strings.Repeat("\x01", 100_000)},
		{"exactly one frame of ascii and a bit", strings.Repeat("a", socket.MaxFrameBytes+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c connections
				turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", strings.Repeat("t", 256), 1<<62)
				turn.Text(tt.text, new(int64(1<<62)))
				turn.Complete(nil, nil)
				turn.Close()
				posts := c.of("a")
				for i, p := range posts {
					if p.bytes > socket.MaxFrameBytes {
						t.Errorf("post %d has %d bytes, the limit is %d", i, p.bytes, socket.MaxFrameBytes)
					}
					if ends := i == len(posts)-3; p.message.Event != nil && p.message.Event.Data != nil && (p.message.Index != nil) != ends {
						t.Errorf("post %d: index %v, want it on the last piece only", i, p.message.Index)
					}
				}
				if shown(t, posts) != tt.text {
					t.Error("joined pieces differ from the source")
				}
			})
		})
	}
}

func FuzzP15Frames(f *testing.F) {
	f.Add("plain", uint16(9000))
	f.Add("\"\\\n\x00\u2028😀", uint16(4000))
	f.Fuzz(func(t *testing.T, unit string, times uint16) {
		text := strings.ToValidUTF8(strings.Repeat(unit, int(times)%(200_000/(len(unit)+1)+1)), "?")
		synctest.Test(t, func(t *testing.T) {
			var c connections
			turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
			turn.Text(text, nil)
			turn.Close()
			for i, p := range c.of("a") {
				if p.bytes > socket.MaxFrameBytes {
					t.Errorf("post %d has %d bytes", i, p.bytes)
				}
			}
			if c.of("a") != nil && shown(t, c.of("a")) != text {
				t.Error("joined pieces differ from the source")
			}
		})
	})
}

func TestTooLongToolNameIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c connections
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		turn.ToolUse(strings.Repeat("n", socket.MaxFrameBytes), "tu")
		turn.Fail("failed", strings.Repeat("\"é", socket.MaxFrameBytes))
		turn.Close()
		posts := c.of("a")
		if len(posts) != 1 || *posts[0].message.Seq != 0 {
			t.Fatalf("posts = %v, want the error alone", story(posts))
		}
		m := posts[0].message.Message
		if posts[0].bytes > socket.MaxFrameBytes || posts[0].bytes < socket.MaxFrameBytes-8 || !strings.HasSuffix(m, "...") {
			t.Errorf("error of %d bytes ending in %q", posts[0].bytes, m[len(m)-6:])
		}
	})
}

func ExampleCaster() {
	var service connections // *apigatewaymanagementapi.Client in a function
	caster := service.caster()
	turn := caster.Turn([]socket.Subscriber{{ConnectionID: "L0SM9cOFvHcCIhw="}}, "s-1", "t-1", 1)
	turn.Start(nil)
	turn.Text("Hello", nil)
	turn.Text(", world.", nil)
	turn.Complete(nil, nil)
	turn.Close()
	_ = caster.Post(context.Background(), "L0SM9cOFvHcCIhw=", contract.ServerMessage{Type: contract.TypePong})
	for _, line := range story(service.of("L0SM9cOFvHcCIhw=")) {
		fmt.Printf("%q\n", line)
	}
	// Output:
	// "init"
	// "Hello"
	// ", world."
	// "end"
	// "complete s-1"
	// "pong "
}
