package evals

import (
	"maps"
	"slices"
)

// Comparison is two iterations side by side.
type Comparison struct {
	From    int         `json:"from"`
	To      int         `json:"to"`
	Metrics []MetricRow `json:"metrics"` // of the skill's configuration
	Evals   []EvalRow   `json:"evals"`
	Gained  []string    `json:"gained"` // assertions that hold in all runs now, and did not
	Lost    []string    `json:"lost"`   // the other way round
}

// MetricRow is one measure.
type MetricRow struct {
	Name       string   `json:"name"`
	From       Stat     `json:"from"`
	To         Stat     `json:"to"`
	Difference *float64 `json:"difference"` // nil where one of them has no run
}

// EvalRow is the mean pass rate of one case; nil where it has none.
type EvalRow struct {
	Eval string   `json:"eval"`
	From *float64 `json:"from"`
	To   *float64 `json:"to"`
}

// Compare compares what the skill's configuration came to.
func Compare(from, to int, a, b Benchmark) Comparison {
	c := Comparison{From: from, To: to, Gained: []string{}, Lost: []string{}, Metrics: []MetricRow{}, Evals: []EvalRow{}}
	x, y := a.values(WithSkill), b.values(WithSkill)
	for _, m := range []struct {
		name     string
		from, to []float64
	}{{"pass rate", x.rates, y.rates}, {"seconds", x.seconds, y.seconds}, {"tokens", x.tokens, y.tokens}} {
		c.Metrics = append(c.Metrics, MetricRow{m.name, Measure(m.from), Measure(m.to), difference(m.to, m.from)})
	}
	before, after := a.rates(), b.rates()
	for _, name := range union(before, after) {
		c.Evals = append(c.Evals, EvalRow{name, before[name], after[name]})
	}
	held, holds := a.holding(), b.holding()
	for _, name := range union(held, holds) {
		was, known := held[name]
		is, still := holds[name]
		switch {
		case !known || !still || was == is:
		case is:
			c.Gained = append(c.Gained, name)
		default:
			c.Lost = append(c.Lost, name)
		}
	}
	return c
}

func union[V any](a, b map[string]V) []string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

// rates are the mean pass rates of the cases with the skill.
func (b Benchmark) rates() map[string]*float64 {
	all := map[string][]float64{}
	for _, r := range b.Runs {
		if r.Configuration == WithSkill && r.PassRate != nil {
			all[r.Eval] = append(all[r.Eval], *r.PassRate)
		}
	}
	means := map[string]*float64{}
	for name, values := range all {
		means[name] = new(Measure(values).Mean)
	}
	return means
}

// holding says of each assertion whether it held in all runs with the skill.
func (b Benchmark) holding() map[string]bool {
	all := map[string]bool{}
	for _, r := range b.Runs {
		if r.Configuration != WithSkill {
			continue
		}
		for _, one := range r.Results {
			name := r.Eval + ": " + one.Text
			before, known := all[name]
			all[name] = one.Passed && (before || !known)
		}
	}
	return all
}
