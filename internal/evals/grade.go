package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Result is the grade of one assertion.
type Result struct {
	Text     string `json:"text"`
	Passed   bool   `json:"passed"`
	Evidence string `json:"evidence"`
	By       string `json:"by,omitempty"` // check, script or judge
}

// Grading is the grade of a run. Digest identifies the assertions it was graded by, and the scripts of them.
type Grading struct {
	Results []Result `json:"assertion_results"`
	Summary Summary  `json:"summary"`
	Digest  string   `json:"assertions_digest,omitempty"`
}

// Summary counts. PassRate is nil when there was nothing to grade.
type Summary struct {
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Total    int      `json:"total"`
	PassRate *float64 `json:"pass_rate"`
}

// summarize counts the results.
func summarize(results []Result) Summary {
	s := Summary{Total: len(results)}
	for _, r := range results {
		if r.Passed {
			s.Passed++
		}
	}
	s.Failed = s.Total - s.Passed
	if rate := s.exact(); rate != nil {
		s.PassRate = new(round(*rate))
	}
	return s
}

// exact is the pass rate before it is rounded: what is computed from it is rounded once.
func (s Summary) exact() *float64 {
	if s.Total == 0 {
		return nil
	}
	return new(float64(s.Passed) / float64(s.Total))
}

// UnmarshalJSON takes the results also under the name expectations, and counts them itself.
func (g *Grading) UnmarshalJSON(data []byte) error {
	type plain Grading
	var in struct {
		plain
		Expectations []Result `json:"expectations"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*g = Grading(in.plain)
	g.Results = append(g.Results, in.Expectations...)
	g.Summary = summarize(g.Results)
	return nil
}

// Grader grades the runs of an iteration by the assertions as they are now.
type Grader struct {
	Subject *Subject
	Judge   *Judge // nil: assertions that need one stay ungraded, which is an error
	Scripts bool   // the skill's own scripts may run
	Jobs    int    // runs graded at the same time; 0: 1
	Again   bool   // also what is graded by these assertions already
}

// Graded counts what Grade did.
type Graded struct{ Graded, Kept, Missing int }

// Grade writes grading.json for every run that has a result. Idempotent: what is graded by the same assertions is kept. Faults:
// NotFound, Invalid; errors of single runs are joined, and leave those runs ungraded.
func (g Grader) Grade(ctx context.Context, i Iteration) (Graded, error) {
	suite, err := g.Subject.Suite()
	if err != nil {
		return Graded{}, err
	}
	m, err := i.Manifest()
	if err != nil {
		return Graded{}, err
	}
	var runs []job
	for _, c := range suite.Cases {
		for _, configuration := range []string{WithSkill, m.Baseline} {
			for run := 1; run <= m.Runs; run++ {
				runs = append(runs, job{c: c, configuration: configuration, dir: i.RunDir(c, configuration, run, m.Runs)})
			}
		}
	}
	var mu sync.Mutex
	var out Graded
	var failed []error
	each(runs, g.Jobs, func(j job) {
		kept, there, err := g.one(ctx, j)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("grade %s %s: %w", j.c.Dir(), j.configuration, err))
		case !there:
			out.Missing++
		case kept:
			out.Kept++
		default:
			out.Graded++
		}
	})
	return out, errors.Join(failed...)
}

func (g Grader) one(ctx context.Context, j job) (kept, there bool, err error) {
	if !exists(filepath.Join(j.dir, timingFile)) {
		return false, false, nil
	}
	digest, err := g.digest(j.c)
	if err != nil {
		return false, true, err
	}
	path := filepath.Join(j.dir, gradingFile)
	var old Grading
	if err := readJSON(path, &old); err == nil && old.Digest == digest && !g.Again {
		return true, true, nil
	}
	out, err := readOutputs(filepath.Join(j.dir, outputsDir))
	if err != nil {
		return false, true, err
	}
	grading := Grading{Results: []Result{}, Digest: digest}
	for _, a := range j.c.Assertions {
		r, err := g.result(ctx, j, a, out)
		if err != nil {
			return false, true, err
		}
		grading.Results = append(grading.Results, r)
	}
	grading.Summary = summarize(grading.Results)
	return false, true, writeJSON(path, grading)
}

// digest identifies what a case is graded by. A script that cannot be read is told when it is to run.
func (g Grader) digest(c Case) (string, error) {
	asked, err := json.Marshal(c.Assertions)
	if err != nil {
		return "", fmt.Errorf("encode assertions: %w", err)
	}
	for _, a := range c.Assertions {
		if a.Script == "" {
			continue
		}
		if script, err := g.Subject.Read(a.Script); err == nil {
			asked = append(asked, digestOf(string(script))...)
		}
	}
	return digestOf(string(asked)), nil
}

func (g Grader) result(ctx context.Context, j job, a Assertion, out outputs) (Result, error) {
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case a.Script != "":
		return g.script(ctx, a, filepath.Join(j.dir, outputsDir))
	case a.Mechanical():
		return a.check(out), nil
	case g.Judge == nil:
		return Result{}, fault.New(fault.Invalid, "%q needs a judge, and there is none", a.Text)
	}
	return g.Judge.judge(ctx, j.c, a, out)
}
