package fake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// Flow is a piece of work that must come to the same end wherever it is cut off.
type Flow struct {
	Name   string
	New    func() *Run // a fresh world, the same each time
	Modes  []Mode      // the disturbances to try at each call; nil: KillBefore, KillAfter, LoseAnswer
	Rounds int         // how many rounds of recovery may be needed; 0 means 50
	Pairs  int         // also so many runs with two disturbances, drawn by Seed: the second may strike the recovery
	Seed   uint64
}

// Run is one world with the flow in it. It is made and used inside of a testing/synctest bubble, so waiting costs no time.
type Run struct {
	World *World
	// Do is the flow. Its context is that of a worker, which ends when Do returns.
	Do func(ctx context.Context) error
	// Recover is one round of what happens afterwards: deliver what waits, let time pass, sweep. Rounds go on, each as a new
	// worker, until one had no error and no effect outside. nil means: Do again until it succeeds.
	Recover func(ctx context.Context) error
	// End writes what must be the same however the flow was disturbed.
	End func() string
	// Check tells what must hold at the end beside that; may be nil.
	Check func() error
}

// Report is what an exploration found.
type Report struct {
	Flow       string
	Calls      int // of the undisturbed run, up to the last with an effect
	Points     int // runs in which a disturbance struck
	Violations []Violation
}

// Violation is a disturbance that the flow did not survive.
type Violation struct {
	What    string // the disturbances and the calls they struck
	Problem string
}

// String is the violation in a line and its problem below.
func (v Violation) String() string { return v.What + ": " + v.Problem }

// String is the summary line.
func (r Report) String() string {
	return fmt.Sprintf("explored %s: %d points, %d violations", r.Flow, r.Points, len(r.Violations))
}

// Explore runs the flow undisturbed, then once for every call and mode, and fails the test for each violation.
func Explore(t *testing.T, f Flow) {
	t.Helper()
	r := Search(t, f)
	for _, v := range r.Violations {
		t.Error(v)
	}
	t.Log(r)
}

// Search is Explore without failing the test.
func Search(t *testing.T, f Flow) Report {
	t.Helper()
	calm := f.run(t)
	r := Report{Flow: f.Name, Calls: calm.calls}
	if calm.problem != "" {
		r.Violations = append(r.Violations, Violation{"undisturbed", calm.problem})
		return r
	}
	for k := 1; k <= calm.calls; k++ {
		for _, mode := range f.modes() {
			r.judge(calm, f.run(t, Disturbance{At: k, Mode: mode}))
		}
	}
	dice := rand.New(rand.NewPCG(f.Seed, 0))
	for range f.Pairs {
		first := f.draw(dice, 0, calm.calls)
		r.judge(calm, f.run(t, first, f.draw(dice, first.At, calm.calls)))
	}
	return r
}

func (f Flow) modes() []Mode {
	if f.Modes != nil {
		return f.Modes
	}
	return []Mode{KillBefore, KillAfter, LoseAnswer}
}

// draw makes a disturbance of one of the next calls after a call.
func (f Flow) draw(dice *rand.Rand, after, calls int) Disturbance {
	modes := f.modes()
	return Disturbance{At: after + 1 + dice.IntN(max(calls, 1)), Mode: modes[dice.IntN(len(modes))]}
}

// judge counts a disturbed run and keeps what is wrong with it.
func (r *Report) judge(calm, o outcome) {
	if o.what == "" {
		return
	}
	r.Points++
	if o.problem == "" && o.end != calm.end {
		o.problem = "another end (-undisturbed +disturbed):\n" + cmp.Diff(calm.end, o.end)
	}
	if o.problem != "" {
		r.Violations = append(r.Violations, Violation{o.what, o.problem})
	}
}

// outcome is what became of one run.
type outcome struct {
	end, problem string
	what         string // the disturbances that struck, "" for none
	calls        int    // up to the last with an effect
}

// run makes a world, disturbs it and lets it come to its end.
func (f Flow) run(t *testing.T, plan ...Disturbance) (o outcome) {
	synctest.Test(t, func(t *testing.T) {
		run := f.New()
		for _, d := range plan {
			run.World.Disturb(d)
		}
		err := asWorker(t.Context(), "do", run.Do)
		if err != nil && plan == nil {
			o.problem = "the undisturbed flow failed: " + err.Error()
			return
		}
		o.calls, err = settle(t.Context(), run.World, run.recovery(err), f.rounds())
		o.what = struck(run.World.Calls(), plan)
		if err != nil {
			o.problem = err.Error()
			return
		}
		run.World.Calm() // who looks at the end is not disturbed
		o.end, o.problem = finish(run.End, run.Check)
	})
	return o
}

// struck tells which calls the disturbances met.
func struck(calls []Call, plan []Disturbance) string {
	var out []string
	for _, d := range plan {
		if d.At <= len(calls) {
			c := calls[d.At-1]
			out = append(out, fmt.Sprintf("%s at call %d (%s %s)", d.Mode, d.At, c.Name, c.Note))
		}
	}
	return strings.Join(out, ", then ")
}

func (f Flow) rounds() int {
	if f.Rounds == 0 {
		return 50
	}
	return f.Rounds
}

// recovery is Recover, or Do as long as it fails.
func (r *Run) recovery(err error) func(context.Context) error {
	if r.Recover != nil {
		return r.Recover
	}
	return func(ctx context.Context) error {
		if err != nil {
			err = r.Do(ctx)
		}
		return err
	}
}

// asWorker calls do as a new worker, which is dead afterwards: nothing it left behind goes on. A panic is an error.
func asWorker(ctx context.Context, name string, do func(context.Context) error) (err error) {
	ctx = WithWorker(ctx, name)
	defer Kill(ctx)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	err = do(ctx)
	if Killed(ctx) {
		err = errors.Join(err, ErrKilled)
	}
	return err
}

// settle goes on with rounds of recovery until one had neither error nor effect. It gives the number of calls before that
// round.
func settle(ctx context.Context, w *World, round func(context.Context) error, limit int) (calls int, err error) {
	for n := range limit {
		calls = len(w.Calls())
		effects := w.Effects()
		err = asWorker(ctx, fmt.Sprintf("recovery-%d", n+1), round)
		if err == nil && w.Effects() == effects {
			return calls, nil
		}
	}
	if err != nil {
		return calls, fmt.Errorf("recovery still fails after %d rounds: %w", limit, err)
	}
	return calls, fmt.Errorf("recovery is not quiet after %d rounds", limit)
}

// finish reads the end of a run. What panics there is a problem too.
func finish(end func() string, check func() error) (text, problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = fmt.Sprintf("panic: %v", p)
		}
	}()
	if end != nil {
		text = end()
	}
	if check == nil {
		return text, ""
	}
	if err := check(); err != nil {
		return text, err.Error()
	}
	return text, ""
}
