package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// The configurations of a case.
const (
	WithSkill    = "with_skill"
	WithoutSkill = "without_skill"
	OldSkill     = "old_skill" // the baseline is an earlier version
)

// The files of a workspace.
const (
	timingFile     = "timing.json"
	gradingFile    = "grading.json"
	transcriptFile = "transcript.json"
	failedFile     = "failed.json"
	metadataFile   = "eval_metadata.json"
	outputsDir     = "outputs"
	answerFile     = "answer.md"

	BenchmarkFile = "benchmark.json"
	FeedbackFile  = "feedback.json"
	ReportFile    = "report.html"
	manifestFile  = "run.json"
)

// Timing is what a run took.
type Timing struct {
	TotalTokens int   `json:"total_tokens"`
	DurationMs  int64 `json:"duration_ms"`
}

// Failed is why a run has no result.
type Failed struct {
	Error      string `json:"error"`
	DurationMs int64  `json:"duration_ms"`
}

// Manifest says how an iteration is run. Two runs with one manifest belong to one iteration.
type Manifest struct {
	Skill     string `json:"skill"`
	Digest    string `json:"skill_digest"` // of all its files but evals
	Cases     string `json:"cases_digest"` // prompts and input files; assertions may change and be graded anew
	Model     string `json:"model"`
	Runs      int    `json:"runs"`
	Baseline  string `json:"baseline"`                  // the configuration
	Old       string `json:"baseline_digest,omitempty"` // of the earlier version
	Prompt    string `json:"instructions_digest"`
	CreatedAt string `json:"created_at"`
}

// same compares what decides, not when it began.
func (m Manifest) same(other Manifest) bool {
	m.CreatedAt, other.CreatedAt = "", ""
	return m == other
}

// Workspace is the folder of a skill's results.
type Workspace string

// Iteration is the folder of one pass over all cases.
type Iteration string

// Iteration gives the folder of the n-th iteration.
func (w Workspace) Iteration(n int) Iteration {
	return Iteration(filepath.Join(string(w), "iteration-"+strconv.Itoa(n)))
}

var iterationName = regexp.MustCompile(`^iteration-([1-9][0-9]*)$`)

// Iterations lists the numbers of the iterations, in order.
func (w Workspace) Iterations() ([]int, error) { return numbered(string(w), iterationName) }

func numbered(dir string, name *regexp.Regexp) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var all []int
	for _, e := range entries {
		if m := name.FindStringSubmatch(e.Name()); m != nil && e.IsDir() {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// Last gives the newest iteration's number. Faults: NotFound.
func (w Workspace) Last() (int, error) {
	all, err := w.Iterations()
	if err == nil && len(all) == 0 {
		err = fault.New(fault.NotFound, "%s has no iteration yet: run the evals first", string(w))
	}
	if err != nil {
		return 0, err
	}
	return all[len(all)-1], nil
}

// Begin gives the iteration that m belongs to: the newest if it was begun with the same, else a new one.
func (w Workspace) Begin(m Manifest, anew bool, now time.Time) (n int, err error) {
	all, err := w.Iterations()
	if err != nil {
		return 0, err
	}
	if len(all) > 0 {
		n = all[len(all)-1]
		var old Manifest
		err := readJSON(filepath.Join(string(w.Iteration(n)), manifestFile), &old)
		if err == nil && old.same(m) && !anew {
			return n, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	m.CreatedAt = now.UTC().Format(time.RFC3339)
	n++
	return n, writeJSON(filepath.Join(string(w.Iteration(n)), manifestFile), m)
}

// Manifest reads how the iteration is run. Of one that was made by hand or by another tool it says what the folders tell. Faults:
// NotFound.
func (i Iteration) Manifest() (m Manifest, err error) {
	err = readJSON(filepath.Join(string(i), manifestFile), &m)
	if errors.Is(err, fs.ErrNotExist) {
		return i.inferred()
	}
	return m, err
}

// inferred is the manifest of an iteration without one.
func (i Iteration) inferred() (Manifest, error) {
	m := Manifest{Baseline: WithoutSkill}
	cases, err := os.ReadDir(string(i))
	for _, c := range cases {
		for _, configuration := range []string{WithSkill, WithoutSkill, OldSkill} {
			dir := filepath.Join(string(i), c.Name(), configuration)
			if !strings.HasPrefix(c.Name(), "eval-") || !exists(dir) {
				continue
			}
			if configuration == OldSkill {
				m.Baseline = OldSkill
			}
			runs, err := numbered(dir, runName)
			if err != nil {
				return m, err
			}
			m.Runs = max(m.Runs, len(runs), 1)
		}
	}
	if err != nil || m.Runs == 0 {
		return m, fault.New(fault.NotFound, "%s is no iteration: it has no %s, and no case with results", string(i), manifestFile)
	}
	return m, nil
}

// RunDir is the folder of a run: the configuration's own if there is one run only, else one below it.
func (i Iteration) RunDir(c Case, configuration string, run, runs int) string {
	dir := filepath.Join(string(i), c.Dir(), configuration)
	if runs > 1 {
		dir = filepath.Join(dir, "run-"+strconv.Itoa(run))
	}
	return dir
}

// readJSON reads a file of the workspace.
func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// writeJSON writes a file, whole or not at all, and its folder.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(path, append(data, '\n'))
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	temporary := path + ".part"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
