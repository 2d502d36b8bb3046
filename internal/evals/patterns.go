package evals

import (
	"fmt"
	"maps"
	"slices"
)

// Patterns are what the means hide.
type Patterns struct {
	AlwaysPass []string `json:"always_pass,omitempty"` // assertions that hold with and without the skill: they show nothing
	AlwaysFail []string `json:"always_fail,omitempty"` // never hold: broken, or too hard
	OnlySkill  []string `json:"only_with_skill,omitempty"`
	OnlyBase   []string `json:"only_without_skill,omitempty"` // hold only in the baseline: the skill does harm
	Uneven     []string `json:"uneven,omitempty"`             // evals whose runs of one configuration differ
	Outliers   []string `json:"outliers,omitempty"`           // runs that took three times as long or as many tokens as the others
}

// tally counts how often an assertion held.
type tally struct{ passed, total [2]int } // with the skill, in the baseline

// patterns finds them.
func (b *Benchmark) patterns(baseline string) Patterns {
	var p Patterns
	counts := map[string]*tally{}
	for _, r := range b.Runs {
		side := 0
		if r.Configuration == baseline {
			side = 1
		}
		for _, one := range r.Results {
			name := r.Eval + ": " + one.Text
			if counts[name] == nil {
				counts[name] = &tally{}
			}
			counts[name].total[side]++
			if one.Passed {
				counts[name].passed[side]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		p.sort(name, *counts[name])
	}
	p.Uneven, p.Outliers = b.uneven(), b.outliers()
	return p
}

func (p *Patterns) sort(name string, t tally) {
	if t.total[0] == 0 || t.total[1] == 0 {
		return
	}
	all := func(side int) bool { return t.passed[side] == t.total[side] }
	none := func(side int) bool { return t.passed[side] == 0 }
	switch {
	case all(0) && all(1):
		p.AlwaysPass = append(p.AlwaysPass, name)
	case none(0) && none(1):
		p.AlwaysFail = append(p.AlwaysFail, name)
	case all(0) && none(1):
		p.OnlySkill = append(p.OnlySkill, name)
	case none(0) && all(1):
		p.OnlyBase = append(p.OnlyBase, name)
	}
}

// groups are the runs by eval and configuration.
func (b *Benchmark) groups() map[string][]RunScore {
	all := map[string][]RunScore{}
	for _, r := range b.Runs {
		key := r.Eval + " " + r.Configuration
		all[key] = append(all[key], r)
	}
	return all
}

func (b *Benchmark) uneven() (found []string) {
	groups := b.groups()
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		var rates []float64
		for _, r := range groups[name] {
			if r.PassRate != nil {
				rates = append(rates, *r.PassRate)
			}
		}
		if s := Measure(rates); s.StdDev > 0 {
			found = append(found, fmt.Sprintf("%s: from %g to %g", name, s.Min, s.Max))
		}
	}
	return found
}

// outliers compares each run with the mean of the others of its configuration.
func (b *Benchmark) outliers() (found []string) {
	for i, r := range b.Runs {
		var seconds, tokens []float64
		for j, other := range b.Runs {
			if i != j && other.Configuration == r.Configuration {
				seconds, tokens = append(seconds, other.TimeSeconds), append(tokens, float64(other.Tokens))
			}
		}
		name := fmt.Sprintf("%s %s run %d", r.Eval, r.Configuration, r.Run)
		if mean := Measure(seconds).Mean; mean > 0 && r.TimeSeconds >= max(3*mean, 1) { // less than a second is noise
			found = append(found, fmt.Sprintf("%s: %g s, the others %g s", name, r.TimeSeconds, mean))
		}
		if mean := Measure(tokens).Mean; mean > 0 && float64(r.Tokens) >= 3*mean {
			found = append(found, fmt.Sprintf("%s: %d tokens, the others %g", name, r.Tokens, mean))
		}
	}
	return found
}
