package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

type triggerSplit struct {
	Skill   string  `arg:"" help:"The skill's folder, or its name in agent/skills."`
	Queries string  `help:"Another file of queries." placeholder:"FILE"`
	Seed    uint64  `help:"Of the shuffle; it is kept with the split." default:"42" placeholder:"N"`
	Holdout float64 `help:"Part of the queries held back for validation." default:"0.4" placeholder:"FRACTION"`
	Force   bool    `help:"Replace a split that is there: results before and after do not compare."`
}

// Run implements the command.
func (t triggerSplit) Run(c *cli, s *surroundings) error {
	subject, err := openSubject(t.Skill)
	if err != nil {
		return err
	}
	defer subject.Close()
	split, err := t.split(subject)
	if err != nil {
		return err
	}
	w := workspaceOf(c.Trigger.Workspace, subject)
	if err := w.WriteSplit(split, t.Force); err != nil {
		return err
	}
	return s.answer(split, "%d queries to train, %d to validate, seed %d: %s", len(split.Train), len(split.Validation), split.Seed, shown(w.SplitFile()))
}

func (t triggerSplit) split(subject *evals.Subject) (evals.Split, error) {
	queries, err := readQueries(t.Queries, subject)
	if err != nil {
		return evals.Split{}, err
	}
	split, err := evals.SplitQueries(queries, t.Seed, t.Holdout)
	if t.Queries != "" && err == nil {
		if split.Source, err = filepath.Abs(t.Queries); err != nil {
			err = fmt.Errorf("find %s: %w", t.Queries, err)
		}
	}
	return split, err
}

// readQueries reads a file of queries; without one, the skill's own.
func readQueries(file string, subject *evals.Subject) (all []evals.Query, err error) {
	var data []byte
	if file != "" {
		data, err = os.ReadFile(file)
	} else {
		data, err = subject.Read(evals.TriggerFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the queries: %w", err)
	}
	return evals.ParseQueries(data)
}

// queries gives the split, which is made if there is none, or the fresh queries that are asked in its place.
func (t triggerRun) queries(s *surroundings, w evals.Workspace, subject *evals.Subject) (split evals.Split, fresh []evals.Query, err error) {
	if t.Queries != "" {
		fresh, err = readQueries(t.Queries, subject)
		return split, fresh, err
	}
	split, err = w.ReadSplit()
	if fault.Is(err, fault.NotFound) {
		split, err = triggerSplit{Seed: evals.DefaultSeed, Holdout: evals.DefaultHoldout}.split(subject)
		if err == nil {
			err = w.WriteSplit(split, false)
		}
		return split, nil, err
	}
	if now, wrong := readQueries(split.Source, subject); err == nil && wrong == nil && !split.Of(now) {
		s.note("the queries have changed since they were split, and those of the split are asked; %s trigger split --force takes the new ones, and results before and after do not compare",
			s.program)
	}
	return split, nil, err
}
