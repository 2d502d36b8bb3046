package fake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Steps is a question about workers that meet: whatever the order of their calls, is the end one that some order of whole
// workers gives?
type Steps struct {
	Name string
	New  func() *Meeting // a fresh world, the same each time

	Preemptions int           // how often an order may leave a worker that could go on; 0 means 2
	Cap         int           // orders tried exhaustively at most; 0 means 2000
	Random      int           // orders drawn at random, without bound on preemptions; 0 means 200, negative none
	Seed        uint64        // of the random orders
	Kill        bool          // an order may kill one worker before one of its calls; needs Recover
	Slow        time.Duration // an order may let this much time pass once, while workers wait at a call; 0: never
	Rounds      int           // rounds of recovery; 0 means 50
}

// Meeting is one world with two or three workers in it, inside of a testing/synctest bubble.
type Meeting struct {
	World   *World
	Workers []func(ctx context.Context) error // an error of a worker is no violation
	Recover func(ctx context.Context) error   // as of Run; may be nil
	End     func() string                     // may be nil: then only Check counts
	Check   func() error                      // may be nil
}

// StepsReport is what an exploration of orders found.
type StepsReport struct {
	Name       string
	Orders     int
	Complete   bool // every order within the bound of preemptions was tried
	Violations []Order
}

// Order is an order of calls that led to a wrong end.
type Order struct {
	Trace   []string
	Problem string
}

// String is the problem and the calls that led to it.
func (o Order) String() string { return o.Problem + "\n  " + strings.Join(o.Trace, "\n  ") }

// String is the summary line.
func (r StepsReport) String() string {
	all := "all within the bound"
	if !r.Complete {
		all = "capped"
	}
	return fmt.Sprintf("explored %s: %d orders (%s), %d violations", r.Name, r.Orders, all, len(r.Violations))
}

// ExploreSteps tries orders of the workers' calls, exhaustively up to the bounds and then at random, and fails the test for
// each of the first violations.
func ExploreSteps(t *testing.T, s Steps) {
	t.Helper()
	r := SearchSteps(t, s)
	for _, o := range r.Violations[:min(len(r.Violations), 5)] {
		t.Error(o)
	}
	t.Log(r)
}

// SearchSteps is ExploreSteps without failing the test.
func SearchSteps(t *testing.T, s Steps) StepsReport {
	t.Helper()
	r := StepsReport{Name: s.Name}
	allowed := s.serial(t, &r)
	judge := func(o orderOutcome) {
		r.Orders++
		if o.problem == "" && !slices.Contains(allowed, o.end) {
			o.problem = "no order of whole workers ends like this:\n" + o.end
		}
		if o.problem != "" {
			r.Violations = append(r.Violations, Order{o.trace, o.problem})
		}
	}
	r.Complete = s.exhaust(t, judge)
	random := s.Random
	if random == 0 {
		random = 200
	}
	for n := range max(random, 0) {
		dice := rand.New(rand.NewPCG(s.Seed, uint64(n)))
		judge(s.run(t, func(options []option, _ int) int { return roll(dice, options) }, 1<<30))
	}
	return r
}

// roll draws an option; deaths and delays are drawn seldom, so that they strike anywhere and not mostly at the beginning.
func roll(dice *rand.Rand, options []option) int {
	calls := slices.IndexFunc(options, func(o option) bool { return o.kind != letGo })
	if calls < 0 || dice.IntN(8) == 0 {
		calls = len(options)
	}
	return dice.IntN(calls)
}

// serial gives the ends of all orders of whole workers.
func (s Steps) serial(t *testing.T, r *StepsReport) []string {
	var ends []string
	var count int
	synctest.Test(t, func(*testing.T) { count = len(s.New().Workers) })
	for _, order := range permutations(count) {
		o := s.run(t, func(options []option, _ int) int { return first(options, order) }, 1<<30)
		if o.problem != "" {
			r.Violations = append(r.Violations, Order{o.trace, "one worker after the other: " + o.problem})
		}
		ends = append(ends, o.end)
	}
	return ends
}

// first picks a call of the earliest worker of order that has one.
func first(options []option, order []int) int {
	for _, w := range order {
		for i, o := range options {
			if o.kind == letGo && o.worker == w {
				return i
			}
		}
	}
	return 0
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// exhaust walks the tree of choices depth first. It reports whether it saw all of it.
func (s Steps) exhaust(t *testing.T, judge func(orderOutcome)) bool {
	budget, limit := s.Preemptions, s.Cap
	if budget == 0 {
		budget = 2
	}
	if limit == 0 {
		limit = 2000
	}
	var prefix []int
	for range limit {
		var widths []int
		o := s.run(t, func(options []option, depth int) int {
			widths = append(widths, len(options))
			if depth < len(prefix) {
				return min(prefix[depth], len(options)-1)
			}
			prefix = append(prefix, 0)
			return 0
		}, budget)
		judge(o)
		prefix = prefix[:min(len(prefix), len(widths))]
		for len(prefix) > 0 && prefix[len(prefix)-1] >= widths[len(prefix)-1]-1 {
			prefix = prefix[:len(prefix)-1]
		}
		if len(prefix) == 0 {
			return true
		}
		prefix[len(prefix)-1]++
	}
	return false
}
