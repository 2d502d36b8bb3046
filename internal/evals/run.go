package evals

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Runner runs the cases of a skill, each in every configuration.
type Runner struct {
	Agent     Agent
	ModelName string        // for the record
	Subject   *Subject      // the skill
	Old       *Subject      // an earlier version as the baseline; nil: no skill
	Workspace Workspace     // where results go
	Only      []string      // the cases to run, by folder, name or id; nil: all
	Runs      int           // of each case and configuration; 0: 1
	Jobs      int           // at the same time; 0: 1
	Timeout   time.Duration // of a run; 0: 10 minutes
	New       bool          // begin a new iteration even if nothing has changed
	Now       func() time.Time
	Progress  func(Progress) // nil: nobody watches. One call at a time
}

// Progress is how far an iteration is.
type Progress struct {
	Iteration, Done, Failed, Kept, Total int    // Kept: of Done, those from an earlier try
	Last                                 string // the run that has just ended; "" at the beginning
	Err                                  error  // why it failed
	Took                                 time.Duration
}

// Ran is what a Run came to.
type Ran struct {
	Iteration int
	Dir       Iteration
	Progress
}

// errRuns is for runs without a result.
var errRuns = errors.New("runs failed")

// job is one run that is to be made.
type job struct {
	c             Case
	configuration string
	dir, name     string
}

// Run runs what the iteration lacks. A run that fails leaves failed.json, is counted and is tried again by the next Run; the
// others go on. Idempotent once all runs are there. Faults: Invalid, NotFound; an error that says how many runs failed; ctx's.
func (r Runner) Run(ctx context.Context) (Ran, error) {
	suite, err := r.Subject.Suite()
	if err != nil {
		return Ran{}, err
	}
	cases, err := r.pick(suite.Cases)
	if err != nil {
		return Ran{}, err
	}
	m, err := r.manifest(suite)
	if err != nil {
		return Ran{}, err
	}
	n, err := r.Workspace.Begin(m, r.New, r.now())
	if err != nil {
		return Ran{}, err
	}
	ran := Ran{Iteration: n, Dir: r.Workspace.Iteration(n)}
	if err := ran.Dir.describe(suite.Cases); err != nil {
		return ran, err
	}
	ran.Progress, err = r.all(ctx, n, r.jobs(ran.Dir, cases, m))
	if err == nil && ran.Failed > 0 {
		err = fmt.Errorf("%d of %d %w; run again to try them once more", ran.Failed, ran.Total, errRuns)
	}
	return ran, err
}

func (r Runner) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r Runner) pick(cases []Case) ([]Case, error) {
	if len(r.Only) == 0 {
		return cases, nil
	}
	var picked []Case
	for _, name := range r.Only {
		i := slices.IndexFunc(cases, func(c Case) bool { return name == c.Dir() || name == c.Name || name == string(c.ID) })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "there is no eval %q; there are: %s", name, strings.Join(dirs(cases), ", "))
		}
		if !slices.Contains(dirs(picked), cases[i].Dir()) { // two runs in one folder would undo each other
			picked = append(picked, cases[i])
		}
	}
	return picked, nil
}

func dirs(cases []Case) []string {
	names := make([]string, 0, len(cases))
	for _, c := range cases {
		names = append(names, c.Dir())
	}
	return names
}

func (r Runner) manifest(suite Suite) (m Manifest, err error) {
	m = Manifest{Skill: r.Subject.Skill.Name, Model: r.ModelName, Runs: max(r.Runs, 1), Baseline: WithoutSkill, Prompt: digestOf(r.Agent.Instructions)}
	if m.Digest, err = r.Subject.Digest(); err != nil {
		return m, err
	}
	if m.Cases, err = r.Subject.casesDigest(suite.Cases); err != nil {
		return m, err
	}
	if r.Old != nil {
		m.Baseline = OldSkill
		m.Old, err = r.Old.Digest()
	}
	return m, err
}

// describe makes the folder of every case, also of those that do not run this time: what has no result is then seen to be missing.
func (i Iteration) describe(cases []Case) error {
	for _, c := range cases {
		meta := map[string]any{"eval_id": c.ID, "eval_name": c.Name, "prompt": c.Prompt, "expected_output": c.ExpectedOutput, "assertions": c.Assertions}
		if err := writeJSON(filepath.Join(string(i), c.Dir(), metadataFile), meta); err != nil {
			return err
		}
	}
	return nil
}

// jobs are the runs of the cases.
func (r Runner) jobs(dir Iteration, cases []Case, m Manifest) []job {
	var all []job
	for _, c := range cases {
		for run := 1; run <= m.Runs; run++ {
			for _, configuration := range []string{WithSkill, m.Baseline} {
				name := fmt.Sprintf("%s %s", c.Dir(), configuration)
				if m.Runs > 1 {
					name += fmt.Sprintf(" run %d", run)
				}
				all = append(all, job{c, configuration, dir.RunDir(c, configuration, run, m.Runs), name})
			}
		}
	}
	return all
}

// all runs the jobs, a few at the same time.
func (r Runner) all(ctx context.Context, iteration int, jobs []job) (Progress, error) {
	p := Progress{Iteration: iteration, Total: len(jobs)}
	var todo []job
	for _, j := range jobs {
		if exists(filepath.Join(j.dir, timingFile)) {
			p.Done, p.Kept = p.Done+1, p.Kept+1
		} else {
			todo = append(todo, j)
		}
	}
	r.tell(p)
	var mu sync.Mutex
	each(todo, r.Jobs, func(j job) {
		if ctx.Err() != nil {
			return
		}
		began := r.now()
		err := r.one(ctx, j)
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil && err != nil {
			return // it was cut, which is no failure
		}
		p.Last, p.Err, p.Took = j.name, err, r.now().Sub(began)
		if err != nil {
			p.Failed++
		} else {
			p.Done++
		}
		r.tell(p)
	})
	return p, context.Cause(ctx)
}

func (r Runner) tell(p Progress) {
	if r.Progress != nil {
		r.Progress(p)
	}
}

// each calls do for all, n at the same time, and waits.
func each[T any](all []T, n int, do func(T)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, max(n, 1))
	for _, one := range all {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			do(one)
		})
	}
	wg.Wait()
}
