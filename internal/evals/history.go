package evals

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// TriggerLine is one iteration of a description.
type TriggerLine struct {
	Iteration   int             `json:"iteration"`
	Description string          `json:"description"`
	Train       *TriggerSummary `json:"train,omitempty"`
	Validation  *TriggerSummary `json:"validation,omitempty"`
	Failures    []string        `json:"failures,omitempty"` // queries of the train set that failed: these guide the next description
	TooLong     bool            `json:"too_long,omitempty"`
}

// TriggerHistory is all iterations, and the number of the best: the highest pass rate of the validation set, of those the first. One
// with queries that are undecided is no candidate. 0: none is. What was measured with another split is left out.
type TriggerHistory struct {
	Lines []TriggerLine `json:"iterations"`
	Best  int           `json:"best"`
}

// TriggerHistory reads them.
func (w Workspace) TriggerHistory() (TriggerHistory, error) {
	h := TriggerHistory{Lines: []TriggerLine{}}
	all, err := numbered(filepath.Join(string(w), "trigger"), iterationName)
	if err != nil {
		return h, err
	}
	split, err := w.ReadSplit()
	known := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return h, err
	}
	best := -1.0
	for _, n := range all {
		line := TriggerLine{Iteration: n}
		for _, set := range []string{TrainSet, ValidationSet} {
			var r TriggerResult
			err := readJSON(filepath.Join(w.Trigger(n), set+".json"), &r)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return h, err
			}
			if line.Description = r.Description; !known || r.of(split) {
				line.add(set, r)
			}
		}
		h.Lines = append(h.Lines, line)
		if v := line.Validation; v != nil && v.Undecided == 0 && v.PassRate != nil && *v.PassRate > best {
			best, h.Best = *v.PassRate, n
		}
	}
	return h, nil
}

// of reports whether the result is of that set of the split.
func (t TriggerResult) of(s Split) bool {
	queries, err := s.Set(t.Set)
	return err == nil && slices.EqualFunc(t.Results, queries, func(r Row, q Query) bool {
		return r.Query == q.Query && r.ShouldTrigger == q.ShouldTrigger
	})
}

func (l *TriggerLine) add(set string, r TriggerResult) {
	l.TooLong = utf8.RuneCountInString(r.Description) > skill.MaxDescription
	if set == ValidationSet {
		l.Validation = &r.Summary
		return
	}
	l.Train = &r.Summary
	for _, row := range r.Results {
		if !row.Pass && row.Runs > 0 {
			l.Failures = append(l.Failures, row.Query)
		}
	}
}
