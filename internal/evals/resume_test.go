package evals_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// TestARunThatFailsIsCountedApartAndTriedAgain: nothing is counted as zero, and what is done is not done twice.
func TestARunThatFailsIsCountedApartAndTriedAgain(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	broken := true
	m := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		if broken && strings.HasPrefix(req.Messages[0].PlainText(), "Refund order 7") {
			return "", nil, 0, fault.New(fault.Denied, "no access")
		}
		return clerk(req)
	}}
	r := runner(s, w, m)
	ran, err := r.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 of 4 runs failed") || ran.Failed != 1 || ran.Done != 3 {
		t.Fatalf("Run = %+v, %v", ran.Progress, err)
	}
	_, err = evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
	must(t, err)
	b, err := evals.Aggregate(ran.Dir, evals.WithoutSkill, 1)
	must(t, err)
	if b.Complete() || len(b.Failed) != 1 || !strings.Contains(b.Failed[0], "eval-order-7 without_skill run 1: model call of step 1: no access") || b.RunSummary.Configurations[1].Tokens.Mean != 100 {
		t.Errorf("the benchmark is %+v", b)
	}
	broken = false
	before := m.count()
	ran, err = r.Run(t.Context())
	must(t, err)
	if asked := m.count() - before; asked != 1 || ran.Kept != 3 || ran.Iteration != 1 {
		t.Errorf("the second time asks the model %d times, %+v", asked, ran.Progress)
	}
	_, err = evals.Aggregate(ran.Dir, evals.WithoutSkill, 1)
	must(t, err)
	b, err = evals.ReadBenchmark(ran.Dir)
	must(t, err)
	if diff := cmp.Diff([]string{"eval-order-7 without_skill run 1: grading.json"}, b.Missing); diff != "" || b.Complete() {
		t.Errorf("missing before it is graded (-want +got):\n%s", diff)
	}
}

// TestAnInterruptedIterationGoesOn: what the end of the program cut is neither done nor failed.
func TestAnInterruptedIterationGoesOn(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	m := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		if n++; n == 4 { // in the middle of the third run
			stop()
			return "", nil, 0, ctx.Err()
		}
		return clerk(req)
	}}
	r := runner(s, w, m)
	ran, err := r.Run(ctx)
	if !errors.Is(err, context.Canceled) || ran.Done != 2 || ran.Failed != 0 {
		t.Fatalf("Run = %+v, %v", ran.Progress, err)
	}
	for _, name := range tree(t, string(w)) {
		if strings.HasSuffix(name, "failed.json") || strings.HasSuffix(name, ".part") {
			t.Errorf("%s is left", name)
		}
	}
	ran, err = r.Run(t.Context())
	must(t, err)
	if ran.Iteration != 1 || ran.Kept != 2 || ran.Done != 4 {
		t.Errorf("the second time: %+v", ran.Progress)
	}
}

// TestIterations: the same goes on, a change begins anew, as does who asks for it; several runs have folders of their own.
func TestIterations(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	m := &scripted{answer: clerk}
	r := runner(s, w, m)
	run := func(r evals.Runner) evals.Ran {
		t.Helper()
		ran, err := r.Run(t.Context())
		must(t, err)
		return ran
	}
	if n := run(r).Iteration; n != 1 {
		t.Errorf("the first iteration is %d", n)
	}
	must(t, os.WriteFile(filepath.Join(s.Dir, "SKILL.md"), []byte("---\nname: refund\ndescription: Gives money back.\n---\nPay."), 0o644))
	changed := r
	changed.Subject = open(t, s.Dir)
	if n := run(changed).Iteration; n != 2 {
		t.Errorf("after a change comes iteration %d", n)
	}
	changed.New, changed.Runs, changed.Jobs = true, 3, 4
	ran := run(changed)
	if ran.Iteration != 3 || ran.Total != 12 {
		t.Errorf("anew with three runs: %d, %+v", ran.Iteration, ran.Progress)
	}
	if _, err := os.Stat(filepath.Join(string(ran.Dir), "eval-order-7", "with_skill", "run-3", "timing.json")); err != nil {
		t.Error(err)
	}
	changed.New, changed.Runs = false, 1
	changed.Old = s
	old := run(changed)
	if _, err := os.Stat(filepath.Join(string(old.Dir), "eval-order-7", "old_skill", "timing.json")); err != nil || old.Iteration != 4 {
		t.Errorf("with an earlier version: iteration %d, %v", old.Iteration, err)
	}
	changed.Only = []string{"three"}
	if _, err := changed.Run(t.Context()); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "there are: eval-order-7, eval-two-") {
		t.Errorf("a case that is not there: %v", err)
	}
}

// TestSomeCases: one that is named twice runs once, and those that do not run are seen to be missing.
func TestSomeCases(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	r := runner(s, w, &scripted{answer: clerk})
	r.Only, r.Jobs = []string{"two", "eval-two-refund-order-8-please-and"}, 4
	ran, err := r.Run(t.Context())
	must(t, err)
	if ran.Total != 2 || ran.Done != 2 {
		t.Errorf("Run = %+v", ran.Progress)
	}
	_, err = evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
	must(t, err)
	b, err := evals.Aggregate(ran.Dir, evals.WithoutSkill, 1)
	must(t, err)
	want := []string{"eval-order-7 with_skill run 1: timing.json", "eval-order-7 without_skill run 1: timing.json"}
	if diff := cmp.Diff(want, b.Missing); diff != "" || len(b.Runs) != 2 {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}
