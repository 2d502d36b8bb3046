package turn_test

import (
	"flag"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/core/turn"
	"pgregory.net/rapid"
)

// deed is one thing that happens; n chooses among its variants.
type deed struct {
	what string
	n    int
}

var deeds = []string{
	"send", "send", "send", "send", "stop", "clear", "task", "create task", "cancel", "drain", "drain", "drain", "sweep", "pass", "back", "crash", "crash", "lose trigger", "worker", "delete",
}

// midst are those that may happen in the middle of an answer.
var midst = []string{"nothing", "nothing", "send", "send", "stop", "clear", "task", "cancel", "sweep", "lease over", "take over", "worker", "drain", "crash", "delete"}

func drawDeeds(rt *rapid.T, what []string, least, most int, label string) []deed {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) deed {
		return deed{rapid.SampledFrom(what).Draw(rt, "what"), rapid.IntRange(0, 11).Draw(rt, "n")}
	}), least, most).Draw(rt, label)
}

// race is a deed that comes just before a read or write: after is how many pass first.
type race struct {
	after int
	deed  deed
}

func drawRaces(rt *rapid.T) []race {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) race {
		what := rapid.SampledFrom([]string{"send", "send", "stop", "clear", "task", "cancel", "sweep", "take over", "take over", "worker", "drain", "delete"})
		return race{rapid.IntRange(0, 25).Draw(rt, "after"), deed{what.Draw(rt, "what"), rapid.IntRange(0, 11).Draw(rt, "n")}}
	}), 0, 6).Draw(rt, "races")
}

// TestWhateverHappens lets random things happen to a session, its tasks and its workers, and then asks that all promises were
// kept and rest is found.
func TestWhateverHappens(t *testing.T) {
	checks := checks
	if soak {
		checks = "20000"
	}
	if set := flag.Lookup("rapid.checks"); set.Value.String() == set.DefValue {
		if err := flag.Set("rapid.checks", checks); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		happen := drawDeeds(rt, deeds, 1, 14, "deeds")
		inMidst := drawDeeds(rt, midst, 0, 8, "midst")
		answers := rapid.SliceOfN(rapid.IntRange(0, 7), 0, 8).Draw(rt, "answers")
		races := drawRaces(rt)
		short := rapid.Bool().Draw(rt, "short invocations")
		narrow := rapid.Bool().Draw(rt, "narrow window")
		places := rapid.SampledFrom([]turn.Capacity{{}, {}, {Stack: 1}, {Stack: 2, Principal: 1}}).Draw(rt, "places")
		n++
		var err error
		var trace []string
		synctest.Test(t, func(t *testing.T) {
			c := &chaos{midst: inMidst, races: races, answers: answers, short: short, narrow: narrow, places: places}
			err = c.run(t.Context(), happen)
			trace = c.trace
		})
		if err != nil {
			rt.Fatalf("%v\n%s", err, strings.Join(trace, "\n"))
		}
	})
	t.Logf("%d runs", n)
}
