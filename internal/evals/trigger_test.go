package evals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

func queries(yes, no int) (all []evals.Query) {
	for i := range yes {
		all = append(all, evals.Query{Query: fmt.Sprintf("yes %d", i), ShouldTrigger: true})
	}
	for i := range no {
		all = append(all, evals.Query{Query: fmt.Sprintf("no %d", i)})
	}
	return all
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		yes, no, train, validation int
		holdout                    float64
	}{{10, 10, 12, 8, 0.4}, {9, 8, 11, 6, 0.4}, {2, 2, 2, 2, 0.4}, {1, 3, 3, 1, 0.4}, {5, 5, 8, 2, 0.2}} {
		all := queries(tc.yes, tc.no)
		s, err := evals.SplitQueries(all, 42, tc.holdout)
		must(t, err)
		if len(s.Train) != tc.train || len(s.Validation) != tc.validation || s.Seed != 42 {
			t.Errorf("%d+%d: %d to train, %d to validate, want %d, %d", tc.yes, tc.no, len(s.Train), len(s.Validation), tc.train, tc.validation)
		}
		both, err := s.Set(evals.AllSet)
		must(t, err)
		less := func(a, b evals.Query) int { return strings.Compare(a.Query, b.Query) }
		slices.SortFunc(both, less)
		slices.SortFunc(all, less)
		if diff := cmp.Diff(all, both); diff != "" {
			t.Errorf("together (-want +got):\n%s", diff)
		}
		again, err := evals.SplitQueries(queries(tc.yes, tc.no), 42, tc.holdout)
		must(t, err)
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("the same seed gives another split:\n%s", diff)
		}
	}
	first, _ := evals.SplitQueries(queries(10, 10), 1, 0.4)
	second, _ := evals.SplitQueries(queries(10, 10), 2, 0.4)
	if cmp.Equal(first.Train, second.Train) {
		t.Error("two seeds give one split")
	}
	for _, bad := range []float64{0, 1, -1} {
		if _, err := evals.SplitQueries(queries(4, 4), 1, bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("holdout %g: %v", bad, err)
		}
	}
	if _, err := evals.SplitQueries(queries(1, 1), 1, 0.4); !fault.Is(err, fault.Invalid) {
		t.Errorf("two queries: %v", err)
	}
}

// attempts makes the runs of a query: y triggered, n did not, e failed.
func attempts(query, runs string) (all []evals.Attempt) {
	for i, r := range runs {
		a := evals.Attempt{Query: query, Run: i + 1, Triggered: r == 'y'}
		if r == 'e' {
			a.Error = "timeout"
		}
		all = append(all, a)
	}
	return all
}

// TestScore: by hand. Runs: positives 2+1+2 triggered of 3+2+3 that ended, negatives 1+2 of 3+4: precision 5/8, recall 5/8,
// accuracy (5+4)/15.
func TestScore(t *testing.T) {
	list := []evals.Query{{Query: "a", ShouldTrigger: true}, {Query: "b", ShouldTrigger: true}, {Query: "c", ShouldTrigger: true},
		{Query: "d"}, {Query: "e"}, {Query: "f", ShouldTrigger: true}}
	runs := slices.Concat(attempts("a", "yyn"), attempts("b", "yne"), attempts("c", "yny"), attempts("d", "nyn"), attempts("e", "yynn"), attempts("f", "eee"))
	r := evals.TriggerResult{Threshold: 0.5}
	r.Score(list, runs)
	want := []evals.Row{
		{Query: "a", ShouldTrigger: true, Triggers: 2, Runs: 3, TriggerRate: new(0.6667), Pass: true},
		{Query: "b", ShouldTrigger: true, Triggers: 1, Runs: 2, TriggerRate: new(0.5), Errored: 1}, // at the threshold both fail
		{Query: "c", ShouldTrigger: true, Triggers: 2, Runs: 3, TriggerRate: new(0.6667), Pass: true},
		{Query: "d", Triggers: 1, Runs: 3, TriggerRate: new(0.3333), Pass: true},
		{Query: "e", Triggers: 2, Runs: 4, TriggerRate: new(0.5)},
		{Query: "f", ShouldTrigger: true, Errored: 3}, // says nothing about the description
	}
	if diff := cmp.Diff(want, r.Results); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	summary := evals.TriggerSummary{Total: 6, Passed: 3, Failed: 2, Undecided: 1, PassRate: new(0.6), Errored: 4, Precision: 0.625, Recall: 0.625, Accuracy: new(0.6)}
	if diff := cmp.Diff(summary, r.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	r.Inclusive = true
	r.Score(list, runs)
	if !r.Results[1].Pass || r.Results[4].Pass || r.Summary.Passed != 4 {
		t.Errorf("with the threshold itself: %+v", r.Results)
	}
	r.Score([]evals.Query{{Query: "d"}}, attempts("d", "nnn"))
	if r.Summary.Precision != 1 || r.Summary.Recall != 1 || *r.Summary.Accuracy != 1 {
		t.Errorf("when nothing fires: %+v", r.Summary)
	}
	r.Score([]evals.Query{{Query: "f", ShouldTrigger: true}}, attempts("f", "eee"))
	if r.Summary.PassRate != nil || r.Summary.Accuracy != nil {
		t.Errorf("when all runs fail, nothing is known: %+v", r.Summary)
	}
}

// chooser activates for "yes", reads the skill's file for "read", gives up on "bad" as long as broken, and answers the rest.
type chooser struct{ broken bool }

func (c *chooser) answer(req model.Request) (string, []model.ToolUse, int, error) {
	text := req.Messages[0].PlainText()
	switch {
	case strings.HasPrefix(text, "bad") && c.broken:
		return "", nil, 0, fault.New(fault.Denied, "no access")
	case len(req.Messages) == 1 && strings.HasPrefix(text, "later"): // another tool first
		return "", []model.ToolUse{call("t", "read_skill_file", map[string]string{"name": "refund", "path": "terms.md"})}, 1, nil
	case strings.HasPrefix(text, "yes"), strings.HasPrefix(text, "later"):
		return "", []model.ToolUse{call("a", "activate_skill", map[string]string{"name": "refund"})}, 1, nil
	case strings.HasPrefix(text, "read"):
		return "", []model.ToolUse{call("a", "read_skill_file", map[string]string{"name": "refund", "path": "./SKILL.md"})}, 1, nil
	}
	return "no", nil, 1, nil
}

func TestTrigger(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	split := evals.Split{Seed: 7, Train: []evals.Query{{"yes 1", true}, {"read it", true}, {"later", true}, {"no 1", false}, {"bad", false}}, Validation: []evals.Query{{"yes 2", true}, {"no 2", false}}}
	c := &chooser{broken: true}
	m := &scripted{answer: c.answer}
	trigger := evals.Trigger{
		Agent: evals.Agent{Model: m, Sleep: func(context.Context, time.Duration) error { return nil }}, ModelName: "m", Subject: s, Workspace: w,
		Split: split, Set: evals.TrainSet, Jobs: 4, Threshold: 0.5,
	}
	r, n, err := trigger.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "3 of 15 runs failed") || n != 1 {
		t.Fatalf("Run = %d, %v", n, err)
	}
	if r.Summary.Passed != 4 || r.Summary.Undecided != 1 || r.Summary.Errored != 3 || r.Seed != 7 {
		t.Errorf("summary %+v", r.Summary)
	}
	c.broken = false
	before := m.count()
	r, n, err = trigger.Run(t.Context())
	must(t, err)
	if asked := m.count() - before; asked != 3 || n != 1 || r.Summary.Passed != 5 {
		t.Errorf("the second time asks %d times, iteration %d, %+v", asked, n, r.Summary)
	}
	trigger.Set = evals.ValidationSet
	_, _, err = trigger.Run(t.Context())
	must(t, err)
	trigger.Subject.Skill.Description = "Something else."
	_, n, err = trigger.Run(t.Context())
	must(t, err)
	if n != 2 {
		t.Errorf("another description is measured in iteration %d", n)
	}
	trigger.Set = evals.AllSet
	before = m.count()
	_, _, err = trigger.Run(t.Context())
	must(t, err)
	if asked := m.count() - before; asked != 18 { // three times the five of the train set, one of which takes two steps: those of the validation set are there
		t.Errorf("all after the validation set asks %d times", asked)
	}
	h, err := w.TriggerHistory()
	must(t, err)
	if h.Best != 1 || len(h.Lines) != 2 || h.Lines[0].Train == nil || h.Lines[1].Train.Passed != 5 || h.Lines[1].Validation.Passed != 2 || h.Lines[1].Description != "Something else." {
		t.Errorf("history %+v", h)
	}
	must(t, w.WriteSplit(evals.Split{Train: split.Train, Validation: split.Validation[:1]}, false))
	if h, err = w.TriggerHistory(); err != nil || h.Best != 0 || h.Lines[0].Validation != nil || h.Lines[0].Train == nil {
		t.Errorf("with another split, whose results do not compare: %+v, %v", h, err)
	}
}

// TestASplitStays: another one would make iterations incomparable.
func TestASplitStays(t *testing.T) {
	w := evals.Workspace(t.TempDir())
	if _, err := w.ReadSplit(); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v", err)
	}
	one, _ := evals.SplitQueries(queries(4, 4), 1, 0.4)
	two, _ := evals.SplitQueries(queries(4, 4), 2, 0.4)
	must(t, w.WriteSplit(one, false), w.WriteSplit(one, false))
	if err := w.WriteSplit(two, false); !fault.Is(err, fault.Conflict) {
		t.Errorf("another: %v", err)
	}
	must(t, w.WriteSplit(two, true))
	got, err := w.ReadSplit()
	must(t, err)
	if diff := cmp.Diff(two, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// TestTheBestIsMeasured: an iteration whose queries could not all be asked is not the best one, however few pass elsewhere.
func TestTheBestIsMeasured(t *testing.T) {
	w := evals.Workspace(t.TempDir())
	set := []evals.Query{{Query: "a", ShouldTrigger: true}, {Query: "b", ShouldTrigger: true}}
	for n, runs := range [][]evals.Attempt{
		slices.Concat(attempts("a", "eee"), attempts("b", "eee")), slices.Concat(attempts("a", "yyy"), attempts("b", "eee")),
		slices.Concat(attempts("a", "nnn"), attempts("b", "yyy")), slices.Concat(attempts("a", "yyy"), attempts("b", "nnn")),
	} {
		r := evals.TriggerResult{Threshold: 0.5, Description: fmt.Sprint(n)}
		r.Score(set, runs)
		raw, err := json.Marshal(r)
		must(t, err, os.MkdirAll(w.Trigger(n+1), 0o755), os.WriteFile(filepath.Join(w.Trigger(n+1), "validation.json"), raw, 0o644))
	}
	h, err := w.TriggerHistory()
	must(t, err)
	if h.Best != 3 {
		t.Errorf("the best is %d, want 3: the first of those that are known in full", h.Best)
	}
}
