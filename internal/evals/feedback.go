package evals

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Feedback is what a person says about the cases of an iteration, by their folders. An empty text: it is fine.
type Feedback map[string]string

// UnmarshalJSON reads it, also as a list of reviews.
func (f *Feedback) UnmarshalJSON(data []byte) error {
	var in struct {
		Reviews []struct {
			RunID    string `json:"run_id"`
			Feedback string `json:"feedback"`
		} `json:"reviews"`
	}
	*f = Feedback{}
	if json.Unmarshal(data, &in) == nil && in.Reviews != nil {
		for _, r := range in.Reviews {
			(*f)[r.RunID] = r.Feedback
		}
		return nil
	}
	var plain map[string]string
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	for name, text := range plain {
		(*f)[name] = text
	}
	return nil
}

// ReadFeedback reads feedback.json; without one there is none.
func ReadFeedback(i Iteration) (Feedback, error) {
	f := Feedback{}
	err := readJSON(filepath.Join(string(i), FeedbackFile), &f)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// Write keeps it.
func (f Feedback) Write(i Iteration) error {
	return writeJSON(filepath.Join(string(i), FeedbackFile), map[string]string(f))
}

// ReadBenchmark reads benchmark.json. Faults: NotFound.
func ReadBenchmark(i Iteration) (b Benchmark, err error) {
	err = readJSON(filepath.Join(string(i), BenchmarkFile), &b)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New(fault.NotFound, "%s has no %s: aggregate it first", string(i), BenchmarkFile)
	}
	return b, err
}
