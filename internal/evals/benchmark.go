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
)

// Benchmark is what an iteration measured. Of the configurations the first is the skill, the second the baseline.
type Benchmark struct {
	RunSummary RunSummary `json:"run_summary"`
	StdDevKind string     `json:"stddev_kind"` // sample
	Runs       []RunScore `json:"runs"`
	Patterns   Patterns   `json:"patterns"`
	Failed     []string   `json:"failed,omitempty"`   // runs that ended in an error, and count nowhere
	Missing    []string   `json:"missing,omitempty"`  // what is not there: runs, timings, grades
	Ungraded   []string   `json:"ungraded,omitempty"` // evals without an assertion: no pass rate
}

// RunSummary is the middle of it.
type RunSummary struct {
	Configurations []Configuration // the skill, and the baseline
	Delta          Delta
}

// Configuration are the statistics of all runs of one configuration.
type Configuration struct {
	Name        string `json:"-"`
	PassRate    Stat   `json:"pass_rate"`
	TimeSeconds Stat   `json:"time_seconds"`
	Tokens      Stat   `json:"tokens"`
}

// Delta is the skill's mean minus the baseline's; nil where one of them has no run.
type Delta struct {
	PassRate    *float64 `json:"pass_rate"`
	TimeSeconds *float64 `json:"time_seconds"`
	Tokens      *float64 `json:"tokens"`
}

// MarshalJSON writes the configurations by name, in order.
func (s RunSummary) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for _, c := range s.Configurations {
		raw, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s,", c.Name, raw)
	}
	raw, err := json.Marshal(s.Delta)
	fmt.Fprintf(&b, "\"delta\":%s}", raw)
	return []byte(b.String()), err
}

// UnmarshalJSON reads it: the skill first.
func (s *RunSummary) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*s = RunSummary{}
	for _, name := range []string{WithSkill, WithoutSkill, OldSkill} {
		if raw, ok := all[name]; ok {
			c := Configuration{Name: name}
			if err := json.Unmarshal(raw, &c); err != nil {
				return err
			}
			s.Configurations = append(s.Configurations, c)
		}
	}
	if raw, ok := all["delta"]; ok {
		return json.Unmarshal(raw, &s.Delta)
	}
	return nil
}

// RunScore is one run.
type RunScore struct {
	Eval          string   `json:"eval"`
	Configuration string   `json:"configuration"`
	Run           int      `json:"run"`
	PassRate      *float64 `json:"pass_rate"` // not rounded; nil without assertions
	TimeSeconds   float64  `json:"time_seconds"`
	Tokens        int      `json:"tokens"`
	Results       []Result `json:"results,omitempty"`
}

var runName = regexp.MustCompile(`^run-([1-9][0-9]*)$`)

// Aggregate puts the numbers of an iteration together and writes benchmark.json. What is missing or failed is listed, never
// counted as zero. Idempotent. Faults: NotFound; Benchmark.Complete says whether all was there.
func Aggregate(i Iteration, baseline string, runs int) (Benchmark, error) {
	b := Benchmark{StdDevKind: "sample", Runs: []RunScore{}}
	entries, err := os.ReadDir(string(i))
	if err != nil {
		return b, fmt.Errorf("aggregate: %w", err)
	}
	configurations := []string{WithSkill, baseline}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "eval-") {
			continue
		}
		for _, configuration := range configurations {
			if err := b.collect(i, e.Name(), configuration, runs); err != nil {
				return b, err
			}
		}
	}
	for _, name := range configurations {
		b.RunSummary.Configurations = append(b.RunSummary.Configurations, b.measure(name))
	}
	b.RunSummary.Delta = delta(b.values(WithSkill), b.values(baseline))
	b.Patterns = b.patterns(baseline)
	return b, writeJSON(filepath.Join(string(i), BenchmarkFile), b)
}

// Complete says whether every run has its result and its grade.
func (b Benchmark) Complete() bool { return len(b.Failed)+len(b.Missing) == 0 && len(b.Runs) > 0 }

// collect reads the runs of one case in one configuration: those below it, or its own.
func (b *Benchmark) collect(i Iteration, eval, configuration string, runs int) error {
	dir := filepath.Join(string(i), eval, configuration)
	below, err := numbered(dir, runName)
	if err != nil {
		return err
	}
	if len(below) == 0 && runs <= 1 {
		return b.add(dir, RunScore{Eval: eval, Configuration: configuration, Run: 1})
	}
	for n := 1; n <= runs; n++ {
		if !slices.Contains(below, n) {
			below = append(below, n)
		}
	}
	slices.Sort(below)
	for _, n := range below {
		if err := b.add(filepath.Join(dir, "run-"+strconv.Itoa(n)), RunScore{Eval: eval, Configuration: configuration, Run: n}); err != nil {
			return err
		}
	}
	return nil
}

func (b *Benchmark) add(dir string, r RunScore) error {
	name := fmt.Sprintf("%s %s run %d", r.Eval, r.Configuration, r.Run)
	var timing Timing
	switch err := readJSON(filepath.Join(dir, timingFile), &timing); {
	case errors.Is(err, fs.ErrNotExist) && exists(filepath.Join(dir, failedFile)):
		var failed Failed
		err := readJSON(filepath.Join(dir, failedFile), &failed)
		b.Failed = append(b.Failed, name+": "+failed.Error)
		return err
	case errors.Is(err, fs.ErrNotExist):
		b.Missing = append(b.Missing, name+": "+timingFile)
		return nil
	case err != nil:
		return err
	}
	var grading Grading
	switch err := readJSON(filepath.Join(dir, gradingFile), &grading); {
	case errors.Is(err, fs.ErrNotExist):
		b.Missing = append(b.Missing, name+": "+gradingFile)
		return nil
	case err != nil:
		return err
	}
	if grading.Summary.Total == 0 && !slices.Contains(b.Ungraded, r.Eval) {
		b.Ungraded = append(b.Ungraded, r.Eval)
	}
	r.PassRate, r.Results = grading.Summary.exact(), grading.Results
	r.TimeSeconds, r.Tokens = float64(timing.DurationMs)/1000, timing.TotalTokens
	b.Runs = append(b.Runs, r)
	return nil
}

// values are what the runs of a configuration came to, those of all cases together.
type values struct{ rates, seconds, tokens []float64 }

func (b *Benchmark) values(configuration string) (v values) {
	for _, r := range b.Runs {
		if r.Configuration != configuration {
			continue
		}
		if r.PassRate != nil {
			v.rates = append(v.rates, *r.PassRate)
		}
		v.seconds, v.tokens = append(v.seconds, r.TimeSeconds), append(v.tokens, float64(r.Tokens))
	}
	return v
}

func (b *Benchmark) measure(configuration string) Configuration {
	v := b.values(configuration)
	return Configuration{Name: configuration, PassRate: Measure(v.rates), TimeSeconds: Measure(v.seconds), Tokens: Measure(v.tokens)}
}

func delta(skill, baseline values) Delta {
	return Delta{difference(skill.rates, baseline.rates), difference(skill.seconds, baseline.seconds), difference(skill.tokens, baseline.tokens)}
}
