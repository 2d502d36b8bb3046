package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// Trigger measures how often a description makes a model reach for the skill.
type Trigger struct {
	Agent     Agent
	ModelName string
	Subject   *Subject
	Others    []skill.Skill // that are in the catalogue too
	Workspace Workspace
	Split     Split
	Set       string        // of the split
	Fresh     []Query       // asked in place of a set, as FreshSet: an honest check, for they have guided nothing
	Runs      int           // of each query; 0: 3
	Jobs      int           // at the same time; 0: 1
	Timeout   time.Duration // of a run; 0: 30 s
	Threshold float64
	Inclusive bool
	New       bool                       // begin a new iteration even if the description is the same
	Progress  func(done, errored, n int) // nil: nobody watches. One call at a time
}

// Trigger is the folder of the n-th iteration of a skill's description.
func (w Workspace) Trigger(n int) string {
	return filepath.Join(string(w), "trigger", "iteration-"+strconv.Itoa(n))
}

// SplitFile is where the split is kept: it stays the same for all iterations.
func (w Workspace) SplitFile() string { return filepath.Join(string(w), "trigger", "split.json") }

// ReadSplit reads it. Faults: NotFound.
func (w Workspace) ReadSplit() (s Split, err error) {
	err = readJSON(w.SplitFile(), &s)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New(fault.NotFound, "the queries are not split yet")
	}
	return s, err
}

// WriteSplit keeps it, with its sets as files of their own. Faults: Conflict if another one is there.
func (w Workspace) WriteSplit(s Split, force bool) error {
	var old Split
	if err := readJSON(w.SplitFile(), &old); err == nil && !force && digestOf(fmt.Sprint(old)) != digestOf(fmt.Sprint(s)) {
		return fault.New(fault.Conflict, "%s holds another split: results before and after would not compare; force it to begin anew", w.SplitFile())
	}
	dir := filepath.Dir(w.SplitFile())
	return errors.Join(writeJSON(filepath.Join(dir, "train_queries.json"), s.Train),
		writeJSON(filepath.Join(dir, "validation_queries.json"), s.Validation), writeJSON(w.SplitFile(), s))
}

// Run measures a set in the iteration of the description: runs that are there are kept, failed ones are made again. It gives the
// iteration's number. Idempotent once all runs are there. Faults: Invalid; an error that says how many runs failed; ctx's.
func (t Trigger) Run(ctx context.Context) (TriggerResult, int, error) {
	if len(t.Fresh) > 0 {
		t.Set, t.Split = FreshSet, Split{}
	}
	result := TriggerResult{
		SkillName: t.Subject.Skill.Name, Description: t.Subject.Skill.Description, Set: t.Set, Seed: t.Split.Seed,
		Model: t.ModelName, Threshold: t.Threshold, Inclusive: t.Inclusive,
	}
	queries, err := t.queries()
	if err != nil {
		return result, 0, err
	}
	n, err := t.iteration()
	if err != nil {
		return result, n, err
	}
	attempts, err := t.all(ctx, t.Workspace.Trigger(n), queries)
	if err != nil {
		return result, n, err
	}
	result.Score(queries, attempts)
	err = t.write(n, result, attempts)
	if err == nil && result.Summary.Errored > 0 {
		err = fmt.Errorf("%d of %d %w; run again to try them once more", result.Summary.Errored, len(attempts), errRuns)
	}
	return result, n, err
}

// write keeps the result; that of all queries is also one of each set.
func (t Trigger) write(n int, result TriggerResult, attempts []Attempt) error {
	all := []TriggerResult{result}
	for _, set := range []string{TrainSet, ValidationSet} {
		if t.Set != AllSet {
			break
		}
		part := result
		queries, err := t.Split.Set(set)
		if err != nil {
			return err
		}
		part.Set = set
		part.Score(queries, attempts)
		all = append(all, part)
	}
	for _, one := range all {
		if err := writeJSON(filepath.Join(t.Workspace.Trigger(n), one.Set+".json"), one); err != nil {
			return err
		}
	}
	return nil
}

func (t Trigger) queries() ([]Query, error) {
	if len(t.Fresh) > 0 {
		return t.Fresh, nil
	}
	return t.Split.Set(t.Set)
}

// triggerManifest says what an iteration measures.
type triggerManifest struct {
	Description string `json:"description"`
	Model       string `json:"model"`
	Others      string `json:"others_digest"`
}

// iteration gives that of the description and model: the newest if it has them, else a new one.
func (t Trigger) iteration() (int, error) {
	m := triggerManifest{t.Subject.Skill.Description, t.ModelName, digestOf(t.Agent.Instructions + t.Agent.system(t.set()))}
	all, err := numbered(filepath.Join(string(t.Workspace), "trigger"), iterationName)
	if err != nil {
		return 0, err
	}
	n := 0
	if len(all) > 0 {
		n = all[len(all)-1]
		var old triggerManifest
		if err := readJSON(filepath.Join(t.Workspace.Trigger(n), manifestFile), &old); err != nil {
			return 0, err
		}
		if old == m && !t.New {
			return n, nil
		}
	}
	return n + 1, writeJSON(filepath.Join(t.Workspace.Trigger(n+1), manifestFile), m)
}

// set are the skills in the catalogue.
func (t Trigger) set() skill.Set {
	one := t.Subject.Skill
	one.HiddenFromModel = false
	set, _ := skill.NewSet(append([]skill.Skill{one}, t.Others...)...)
	return set
}

// all makes the runs that are missing.
func (t Trigger) all(ctx context.Context, dir string, queries []Query) ([]Attempt, error) {
	runs := t.Runs
	if runs <= 0 {
		runs = 3
	}
	path := filepath.Join(dir, "attempts.json")
	all, err := kept(path, queries, runs)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var failed []error
	errored := 0
	t.tell(len(all.done), 0, len(all.order))
	each(all.missing(), t.Jobs, func(p asked) {
		if ctx.Err() != nil {
			return
		}
		a := t.one(ctx, p.query, p.run)
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return // it was cut, which is no failure
		}
		all.done[p] = a
		if a.Error != "" {
			errored++
		}
		failed = append(failed, writeJSON(path, attemptsFile{slices.Concat(all.others, all.list())}))
		t.tell(len(all.done), errored, len(all.order))
	})
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	return all.list(), context.Cause(ctx)
}

func (t Trigger) tell(done, errored, n int) {
	if t.Progress != nil {
		t.Progress(done, errored, n)
	}
}

// errTriggered ends a run that has shown what it was for.
var errTriggered = errors.New("triggered")

// one makes a run: it has triggered when the skill is activated or its SKILL.md is read, anywhere in it.
func (t Trigger) one(ctx context.Context, query string, run int) Attempt {
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	set := t.set()
	inner, cancel := context.WithTimeoutCause(ctx, timeout, fault.New(fault.Unavailable, "the run took longer than %v", timeout))
	defer cancel()
	inner, stop := context.WithCancelCause(inner)
	defer stop(nil)
	tools := slices.Concat(t.Agent.Tools, set.Tools(&skill.Active{}))
	_, err := t.Agent.do(inner, query, t.Agent.system(set), tools, func(c model.ToolUse) {
		if t.reaches(c) {
			stop(errTriggered)
		}
	})
	a := Attempt{Query: query, Run: run, Triggered: errors.Is(context.Cause(inner), errTriggered)}
	if err != nil && !a.Triggered {
		a.Error = err.Error()
	}
	return a
}

// reaches reports whether a call reaches for the skill.
func (t Trigger) reaches(c model.ToolUse) bool {
	var in struct{ Name, Path string }
	if json.Unmarshal(c.Input, &in) != nil {
		return false
	}
	if one, ok := t.set().Get(in.Name); !ok || one.Name != t.Subject.Skill.Name {
		return false
	}
	return c.Name == skill.ActivateName || c.Name == skill.ReadName && path.Clean(in.Path) == skill.FileName
}
