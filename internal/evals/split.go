package evals

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// TriggerFile is where a skill's queries are, relative to its folder.
const TriggerFile = "evals/triggers.json"

// Query is something a user may say, and whether the skill is for it.
type Query struct {
	Query         string `json:"query"`
	ShouldTrigger bool   `json:"should_trigger"`
}

// ParseQueries reads queries: a list. Faults: Invalid.
func ParseQueries(data []byte) ([]Query, error) {
	var all []Query
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fault.New(fault.Invalid, "queries: %v", err)
	}
	seen := map[string]bool{}
	for i, q := range all {
		if strings.TrimSpace(q.Query) == "" || seen[q.Query] {
			return nil, fault.New(fault.Invalid, "queries[%d]: the query is missing or there twice", i)
		}
		seen[q.Query] = true
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "there are no queries")
	}
	return all, nil
}

// Split are queries in two sets: failures of Train guide a change of the description, Validation says whether it helped.
type Split struct {
	Seed       uint64  `json:"seed"`
	Holdout    float64 `json:"holdout"`
	Source     string  `json:"source,omitempty"` // the file of the queries, if it is not the skill's own
	Train      []Query `json:"train"`
	Validation []Query `json:"validation"`
}

// The defaults of a split.
const (
	DefaultSeed    = 42
	DefaultHoldout = 0.4
)

// SplitQueries shuffles the queries of each label by the seed and holds that part of them back, at least one of a label that has
// two. The same arguments give the same split. Faults: Invalid.
func SplitQueries(all []Query, seed uint64, holdout float64) (Split, error) {
	s := Split{Seed: seed, Holdout: holdout, Train: []Query{}, Validation: []Query{}}
	if holdout <= 0 || holdout >= 1 {
		return s, fault.New(fault.Invalid, "holdout: must be between 0 and 1")
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for _, label := range []bool{true, false} {
		var of []Query
		for _, q := range all {
			if q.ShouldTrigger == label {
				of = append(of, q)
			}
		}
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		held := 0
		if len(of) > 1 {
			held = max(1, int(float64(len(of))*holdout))
		}
		s.Validation, s.Train = append(s.Validation, of[:held]...), append(s.Train, of[held:]...)
	}
	if len(s.Validation) == 0 {
		return s, fault.New(fault.Invalid, "%d queries are too few for two sets", len(all))
	}
	return s, nil
}

// Of reports whether the split is of these queries, in whatever order.
func (s Split) Of(all []Query) bool {
	byText := func(a, b Query) int { return strings.Compare(a.Query, b.Query) }
	return slices.Equal(slices.SortedFunc(slices.Values(all), byText), slices.SortedFunc(slices.Values(slices.Concat(s.Train, s.Validation)), byText))
}

// The sets of queries.
const (
	TrainSet      = "train"
	ValidationSet = "validation"
	AllSet        = "all"
	FreshSet      = "fresh" // of no split
)

// Set gives the queries of a set. Faults: Invalid.
func (s Split) Set(name string) ([]Query, error) {
	switch name {
	case TrainSet:
		return s.Train, nil
	case ValidationSet:
		return s.Validation, nil
	case AllSet:
		return append(append([]Query{}, s.Train...), s.Validation...), nil
	}
	return nil, fault.New(fault.Invalid, "the set %q is none of train, validation, all", name)
}
