package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// ofIteration are the arguments of commands that work on an iteration.
type ofIteration struct {
	Skill     string `arg:"" help:"The skill's folder, or its name in agent/skills."`
	Iteration int    `help:"The iteration; the newest when not given." placeholder:"N"`
}

// open finds the iteration. The subject must be closed.
func (o ofIteration) open(c *cli) (subject *evals.Subject, w evals.Workspace, n int, err error) {
	if subject, err = openSubject(o.Skill); err != nil {
		return nil, "", 0, err
	}
	w, n = workspaceOf(c.Eval.Workspace, subject), o.Iteration
	if n == 0 {
		n, err = w.Last()
	}
	if err == nil {
		_, err = w.Iteration(n).Manifest()
	}
	if err != nil {
		_ = subject.Close() // only read from
		return nil, "", 0, err
	}
	return subject, w, n, nil
}

type evalGrade struct {
	ofIteration
	grading
	Jobs  int  `help:"Runs graded at the same time." default:"2" placeholder:"N"`
	Again bool `help:"Also what is graded already."`
}

// Run implements the command.
func (g evalGrade) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	subject, w, n, err := g.open(c)
	if err != nil {
		return err
	}
	defer subject.Close()
	m, err := w.Iteration(n).Manifest()
	if err != nil {
		return err
	}
	grader, stop, err := g.grader(ctx, subject, cmp.Or(m.Model, "offline"), g.Jobs)
	if err != nil {
		return err
	}
	defer stop()
	release, err := w.Hold()
	if err != nil {
		return err
	}
	defer release()
	grader.Again = g.Again
	graded, err := grader.Grade(ctx, w.Iteration(n))
	if err != nil {
		return err
	}
	if _, err := evals.Aggregate(w.Iteration(n), m.Baseline, m.Runs); err != nil { // a report of grades that are gone would mislead
		return err
	}
	return s.answer(map[string]int{"iteration": n, "graded": graded.Graded, "kept": graded.Kept, "missing": graded.Missing},
		"iteration %d: %d graded, %d graded before, %d without a result", n, graded.Graded, graded.Kept, graded.Missing)
}

type evalAggregate struct{ ofIteration }

// Run implements the command.
func (a evalAggregate) Run(c *cli, s *surroundings) error {
	subject, w, n, err := a.open(c)
	if err != nil {
		return err
	}
	defer subject.Close()
	return s.aggregate(w.Iteration(n), true)
}

// aggregate computes and prints the numbers of an iteration. whole: something missing is an error.
func (s *surroundings) aggregate(i evals.Iteration, whole bool) error {
	m, err := i.Manifest()
	if err != nil {
		return err
	}
	b, err := evals.Aggregate(i, m.Baseline, m.Runs)
	if err != nil {
		return err
	}
	path := shown(filepath.Join(string(i), evals.BenchmarkFile))
	if s.json {
		err = s.answer(b, "")
	} else {
		err = s.printBenchmark(b)
		s.note("written to %s", path)
	}
	if err == nil && whole && !b.Complete() {
		err = &client.Error{Code: string(fault.Conflict), Message: "not everything is there: " + firstOf(slices.Concat(b.Failed, b.Missing))}
	}
	return err
}

// firstOf tells the first of a list, and how many there are besides.
func firstOf(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(all[:most], "; "), len(all)-most)
}

type evalFeedback struct {
	ofIteration
	Eval string `arg:"" help:"The case's folder, as eval-first, or its name."`
	Text string `arg:"" help:"What is wrong, so that somebody can act on it; empty: it is fine."`
}

// Run implements the command.
func (f evalFeedback) Run(c *cli, s *surroundings) error {
	subject, w, n, err := f.open(c)
	if err != nil {
		return err
	}
	defer subject.Close()
	i := w.Iteration(n)
	name := f.Eval
	if !strings.HasPrefix(name, "eval-") {
		name = "eval-" + name
	}
	if strings.ContainsAny(name, `/\`) || !isFolder(filepath.Join(string(i), name)) {
		return &client.Error{Code: string(fault.NotFound), Message: fmt.Sprintf("iteration %d has no case %s", n, name)}
	}
	all, err := evals.ReadFeedback(i)
	if err != nil {
		return err
	}
	all[name] = strings.TrimSpace(f.Text)
	if err := all.Write(i); err != nil {
		return err
	}
	return s.answer(all, "noted in %s", shown(filepath.Join(string(i), evals.FeedbackFile)))
}

type evalReport struct{ ofIteration }

// Run implements the command.
func (r evalReport) Run(c *cli, s *surroundings) error {
	subject, w, n, err := r.open(c)
	if err != nil {
		return err
	}
	defer subject.Close()
	path, err := evals.Report(w, n)
	if err != nil {
		return err
	}
	return s.answer(map[string]string{"report": path}, "%s", shown(path))
}

type evalCompare struct {
	Skill string `arg:"" help:"The skill's folder, or its name in agent/skills."`
	From  int    `arg:"" optional:"" help:"An iteration."`
	To    int    `arg:"" optional:"" help:"A later one."`
}

// Run implements the command.
func (e evalCompare) Run(c *cli, s *surroundings) error {
	subject, w, _, err := ofIteration{Skill: e.Skill}.open(c)
	if err != nil {
		return err
	}
	defer subject.Close()
	all, err := w.Iterations()
	if err != nil {
		return err
	}
	if e.From == 0 && len(all) > 1 {
		e.From, e.To = all[len(all)-2], all[len(all)-1]
	}
	if e.From == 0 || e.To == 0 {
		return &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("two iterations are needed; there are: %v", all)}
	}
	before, err := evals.ReadBenchmark(w.Iteration(e.From))
	if err != nil {
		return err
	}
	after, err := evals.ReadBenchmark(w.Iteration(e.To))
	if err != nil {
		return err
	}
	compared := evals.Compare(e.From, e.To, before, after)
	if s.json {
		return s.answer(compared, "")
	}
	return s.printComparison(compared)
}
