package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// await waits until the session's log has an event of a type, and gives its time.
func (s stack) await(id, kind string) time.Time {
	s.t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		told := s.story(s.t, id)
		for _, e := range told {
			if at, err := e.At.Time(); err == nil && e.Type == kind {
				return at
			}
		}
		if time.Since(began) > time.Minute {
			s.t.Fatalf("no %s after a minute: %v", kind, told.types())
		}
	}
}

// TestTurnLongerThanItsFunction runs a turn that takes several invocations. None of its tools runs twice, and its usage is that of all
// of them.
func TestTurnLongerThanItsFunction(t *testing.T) {
	t.Parallel()
	long := []struct{ timeout, calls, slow, least int }{{10, 6, 2300, 12}}
	if os.Getenv("SOAK") == "1" {
		long = append(long, struct{ timeout, calls, slow, least int }{10, 20, 3200, 60}, struct{ timeout, calls, slow, least int }{60, 20, 4600, 90})
	}
	for _, l := range long {
		t.Run(fmt.Sprintf("a turn of over %d s on a function with %d s", l.least, l.timeout), func(t *testing.T) {
			t.Parallel()
			s, id := start(t, cloud.Options{Parameters: map[string]string{"RunTurnTimeout": fmt.Sprint(l.timeout)}}), uuid.NewString()
			c := s.connect("ada", "?features=reset")
			began := time.Now()
			c.say(id, strings.Repeat("call get_current_time then ", l.calls-1)+fmt.Sprintf(`call get_current_time, slow %d ms, say "done"`, l.slow))
			heard := c.turn()
			took := time.Since(began)
			if took < time.Duration(l.least)*time.Second || took < time.Duration(l.timeout)*time.Second {
				t.Errorf("it took %v, it was to be longer", took)
			}
			told := s.story(t, id)
			done, results := of[contract.TurnCompleted](t, told), of[contract.ActionResult](t, told)
			if len(done) != 1 || heard.text != done[0].Result || heard.code != "" {
				t.Fatalf("completed: %+v, heard %+v", done, heard)
			}
			ids := map[string]bool{}
			for _, r := range results {
				ids[r.ID] = true
			}
			if len(results) != l.calls || len(ids) != l.calls {
				t.Errorf("%d results of %d calls, want %d", len(results), len(ids), l.calls)
			}
			var sum contract.Usage
			for _, step := range of[contract.StepCompleted](t, told) {
				sum.InputTokens += step.Usage.InputTokens
				sum.OutputTokens += step.Usage.OutputTokens
				sum.CacheReadTokens += step.Usage.CacheReadTokens
				sum.CacheWriteTokens += step.Usage.CacheWriteTokens
			}
			spent := done[0].Usage
			if spent.CostUSD == nil || *spent.CostUSD <= 0 {
				t.Errorf("the turn cost nothing: %+v", spent)
			}
			spent.CostUSD = nil
			if diff := cmp.Diff(sum, spent); diff != "" {
				t.Errorf("usage of the turn is not that of its steps (-steps +turn):\n%s", diff)
			}
			state := s.rows(t)["SESSION#"+id+" STATE"]
			t.Logf("%v, owners: %v", took.Round(time.Second), state["fence"])
		})
	}
}

// TestAnswerLongerThanItsFunction ends with a word for it, and the session stays usable.
func TestAnswerLongerThanItsFunction(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{Parameters: map[string]string{"RunTurnTimeout": "10"}}), uuid.NewString()
	c := s.connect("ada", "?features=reset")
	c.say(id, "say 200 words slow 100 ms")
	if heard := c.turn(); heard.code != "failed" || heard.message != "timeout" {
		t.Errorf("heard %+v", heard)
	}
	if heard := c.ask(id, `say "still there"`); heard.text != "still there" {
		t.Errorf("the next answer is %q", heard.text)
	}
}

// TestTurnsWaitInLine: of three users' turns one runs, and the others wait for it in the order of their messages.
func TestTurnsWaitInLine(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Parameters: map[string]string{"MaxRunningTurns": "1"}})
	ids := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
	var users []*talker
	for i := range ids {
		users = append(users, s.connect(fmt.Sprintf("user%d", i), ""))
	}
	long := []int{100, 5, 5} // the first lasts until the others wait
	for i, id := range ids {
		users[i].say(id, fmt.Sprintf("say %d words slow 100 ms", long[i]))
		s.await(id, map[int]string{0: "turn.started", 1: "turn.queued", 2: "turn.queued"}[i])
	}
	var last time.Time
	for i, id := range ids {
		ended := s.await(id, "turn.completed")
		told := s.story(t, id)
		if queued := of[contract.TurnQueued](t, told); i > 0 && (len(queued) != 1 || queued[0].Position != i) {
			t.Errorf("turn %d was told %+v of the line", i, queued)
		}
		if done := of[contract.TurnCompleted](t, told); len(done) != 1 || done[0].Result != words(long[i]) {
			t.Errorf("turn %d: %+v", i, done)
		}
		if s.await(id, "turn.started").Before(last) {
			t.Errorf("turn %d began before the one before it had ended", i)
		}
		last = ended
	}
}
