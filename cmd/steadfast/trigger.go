package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// trigger are the commands that measure a skill's description. They need no stack.
type trigger struct {
	Workspace string `help:"Folder for the results, as that of eval." placeholder:"PATH"`

	Split  triggerSplit  `cmd:"" help:"Divide the queries of evals/triggers.json into a train and a validation set, once for all iterations."`
	Run    triggerRun    `cmd:"" help:"Ask the queries of a set several times and count how often the skill is reached for."`
	Report triggerReport `cmd:"" help:"Show the iterations, the best of them, and what failed in the train set."`
}

type triggerRun struct {
	runsModel
	Skill     string  `arg:"" help:"The skill's folder, or its name in agent/skills."`
	Set       string  `help:"Which queries." default:"train" enum:"train,validation,all"`
	Queries   string  `help:"Ask those of a file in place of a set: fresh ones, which have guided no change." placeholder:"FILE"`
	Runs      int     `help:"Of each query." default:"3" placeholder:"N"`
	Threshold float64 `help:"The rate above which a query counts as triggering." default:"0.5" placeholder:"RATE"`
	Inclusive bool    `help:"A rate at the threshold triggers, too."`
	Alone     bool    `help:"Only this skill in the catalogue, without the others beside it."`
	New       bool    `help:"Begin a new iteration even if nothing has changed."`
}

// Run implements the command.
func (t triggerRun) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if t.Runs < 1 || t.Threshold < 0 || t.Threshold > 1 {
		return &client.Error{Code: string(fault.Invalid), Message: "--runs must be at least 1 and --threshold from 0 to 1"}
	}
	subject, err := openSubject(t.Skill)
	if err != nil {
		return err
	}
	defer subject.Close()
	w := workspaceOf(c.Trigger.Workspace, subject)
	split, fresh, err := t.queries(s, w, subject)
	if err != nil {
		return err
	}
	agent, stop, err := t.agent(ctx)
	if err != nil {
		return err
	}
	defer stop()
	others, closeOthers, err := t.others(subject)
	if err != nil {
		return err
	}
	defer closeOthers()
	release, err := w.Hold()
	if err != nil {
		return err
	}
	defer release()
	result, n, err := evals.Trigger{
		Agent: agent, ModelName: t.Model, Subject: subject, Others: others, Workspace: w, Split: split, Set: t.Set, Fresh: fresh,
		Runs: t.Runs, Jobs: t.Jobs, Timeout: t.Timeout, Threshold: t.Threshold, Inclusive: t.Inclusive, New: t.New,
		Progress: func(done, errored, n int) {
			if done%10 == 0 || done == n {
				s.note("%d/%d runs, %d failed", done, n, errored)
			}
		},
	}.Run(ctx)
	if len(result.Results) == 0 {
		return err
	}
	if printed := s.printTriggers(result, n); printed != nil {
		return printed
	}
	return err
}

// others are the skills beside the one that is measured: a model chooses among them.
func (t triggerRun) others(subject *evals.Subject) ([]skill.Skill, func(), error) {
	if t.Alone {
		return nil, func() {}, nil
	}
	set, _, done, err := skills{Dir: []string{filepath.Dir(subject.Dir)}}.load(nil)
	if err != nil {
		return nil, nil, err
	}
	others := slices.DeleteFunc(set.All(), func(one skill.Skill) bool { return one.Name == subject.Skill.Name })
	return others, done, nil
}

func (s *surroundings) printTriggers(r evals.TriggerResult, n int) error {
	if s.json {
		return s.answer(map[string]any{"iteration": n, "result": r}, "")
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RESULT\tWANTED\tTRIGGERED\tFAILED RUNS\tQUERY")
	for _, row := range r.Results {
		word, wanted := "fail", "no"
		switch {
		case row.Runs == 0:
			word = "unknown"
		case row.Pass:
			word = "pass"
		}
		if row.ShouldTrigger {
			wanted = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d\t%s\n", word, wanted, row.Triggers, row.Runs, row.Errored, oneLine(row.Query))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	m := r.Summary
	s.print(nil, "iteration %d, %s: %d of %d queries pass (%s); precision %.4g, recall %.4g, accuracy %s; %d runs failed",
		n, r.Set, m.Passed, m.Total-m.Undecided, rate(m.PassRate), m.Precision, m.Recall, rate(m.Accuracy), m.Errored)
	return nil
}

type triggerReport struct {
	Skill string `arg:"" help:"The skill's folder, or its name in agent/skills."`
}

// Run implements the command.
func (t triggerReport) Run(c *cli, s *surroundings) error {
	subject, err := openSubject(t.Skill)
	if err != nil {
		return err
	}
	defer subject.Close()
	h, err := workspaceOf(c.Trigger.Workspace, subject).TriggerHistory()
	if err != nil {
		return err
	}
	if s.json {
		return s.answer(h, "")
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ITERATION\tTRAIN\tVALIDATION\tDESCRIPTION")
	for _, line := range h.Lines {
		name := fmt.Sprint(line.Iteration)
		if line.Iteration == h.Best {
			name += " (best)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, passed(line.Train), passed(line.Validation), oneLine(line.Description))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if len(h.Lines) == 0 {
		s.note("nothing is measured yet")
		return nil
	}
	last := h.Lines[len(h.Lines)-1]
	for _, query := range last.Failures {
		s.print(nil, "failed in train: %s", query)
	}
	if last.TooLong {
		s.note("the description is longer than %d characters", skill.MaxDescription)
	}
	return nil
}

func passed(m *evals.TriggerSummary) string {
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d", m.Passed, m.Total-m.Undecided)
}
