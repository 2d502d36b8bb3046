package evals

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed report.html
var page string

// reportView is what the page shows.
type reportView struct {
	Skill, Model, Baseline, Created string
	Iteration                       int
	Metrics                         []metricView
	Evals                           []evalView
	Patterns                        []patternView
	Problems                        []string
	Compared                        *Comparison
}

type metricView struct {
	Name string
	Bars []barView
	Note string
}

type barView struct {
	Label, Value string
	Percent      float64 // of the widest
	Skill        bool
}

type evalView struct {
	Name, Prompt, Feedback string
	Reviewed               bool
	Rows                   []assertionView
}

type assertionView struct {
	Text           string
	Skill, Base    string // 2/3
	SkillOK, Worse bool
	Evidence       string
}

type patternView struct {
	Name string
	List []string
}

// Report writes report.html of an iteration, with the difference to the one before it if that was aggregated, and gives its path.
// Idempotent.
func Report(w Workspace, n int) (string, error) {
	i := w.Iteration(n)
	m, err := i.Manifest()
	if err != nil {
		return "", err
	}
	b, err := ReadBenchmark(i)
	if err != nil {
		return "", err
	}
	feedback, err := ReadFeedback(i)
	if err != nil {
		return "", err
	}
	v := reportView{Skill: cmp.Or(m.Skill, strings.TrimSuffix(filepath.Base(string(w)), "-workspace")), Model: m.Model, Baseline: m.Baseline, Created: m.CreatedAt, Iteration: n}
	v.Metrics, v.Patterns = b.metricViews(), b.patternViews()
	v.Problems = slices.Concat(b.Failed, b.Missing)
	for _, eval := range b.Ungraded {
		v.Problems = append(v.Problems, eval+": no assertions, so no pass rate")
	}
	v.Evals = b.evalViews(i, feedback)
	if before, err := ReadBenchmark(w.Iteration(n - 1)); err == nil {
		v.Compared = new(Compare(n-1, n, before, b))
	}
	parsed, err := template.New("report").Funcs(template.FuncMap{"mean": meanOf, "signed": signed, "label": label}).Parse(page)
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, v); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	path := filepath.Join(string(i), ReportFile)
	return path, writeFile(path, []byte(out.String()))
}

// label is a configuration for people.
func label(configuration string) string { return strings.ReplaceAll(configuration, "_", " ") }

// meanOf is a mean for people; without runs there is none.
func meanOf(s Stat) string {
	if s.N == 0 {
		return "-"
	}
	return Number(s.Mean)
}

func signed(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v > 0:
		return "+" + Number(*v)
	}
	return Number(*v)
}

// metricViews are the bars.
func (b Benchmark) metricViews() []metricView {
	metrics := []struct {
		name  string
		of    func(Configuration) Stat
		delta *float64
		full  float64 // what the whole width stands for; 0: the largest
		unit  string
	}{
		{"Pass rate", func(c Configuration) Stat { return c.PassRate }, b.RunSummary.Delta.PassRate, 1, ""},
		{"Time", func(c Configuration) Stat { return c.TimeSeconds }, b.RunSummary.Delta.TimeSeconds, 0, " s"},
		{"Tokens", func(c Configuration) Stat { return c.Tokens }, b.RunSummary.Delta.Tokens, 0, ""},
	}
	var all []metricView
	for _, m := range metrics {
		view := metricView{Name: m.name, Note: "no difference known"}
		if m.delta != nil {
			view.Note = "difference " + signed(m.delta) + m.unit
		}
		full := m.full
		for _, c := range b.RunSummary.Configurations {
			if m.full == 0 {
				full = max(full, m.of(c).Mean)
			}
		}
		for i, c := range b.RunSummary.Configurations {
			s := m.of(c)
			bar := barView{Label: label(c.Name), Skill: i == 0, Value: "no runs"}
			if s.N > 0 {
				bar.Value = fmt.Sprintf("%s%s ± %s, %d runs", Number(s.Mean), m.unit, Number(s.StdDev), s.N)
			}
			if full > 0 {
				bar.Percent = min(100*s.Mean/full, 100)
			}
			view.Bars = append(view.Bars, bar)
		}
		all = append(all, view)
	}
	return all
}

func (b Benchmark) patternViews() (all []patternView) {
	p := b.Patterns
	for _, v := range []patternView{
		{"Pass only with the skill: this is what it adds", p.OnlySkill}, {"Pass only without the skill: here it does harm", p.OnlyBase},
		{"Pass always: they show nothing about the skill", p.AlwaysPass}, {"Fail always: broken, or too hard", p.AlwaysFail},
		{"Runs of one eval differ", p.Uneven}, {"Three times the others", p.Outliers},
	} {
		if len(v.List) > 0 {
			all = append(all, v)
		}
	}
	return all
}

// evalViews are the cases with their assertions, both in the order of the runs.
func (b Benchmark) evalViews(i Iteration, feedback Feedback) []evalView {
	var order []string
	runs := map[string][]RunScore{}
	for _, r := range b.Runs {
		if runs[r.Eval] == nil {
			order = append(order, r.Eval)
		}
		runs[r.Eval] = append(runs[r.Eval], r)
	}
	all := make([]evalView, 0, len(order))
	for _, name := range order {
		text, reviewed := feedback[name]
		all = append(all, evalView{Name: name, Prompt: i.prompt(name), Feedback: text, Reviewed: reviewed, Rows: assertionViews(runs[name])})
	}
	return all
}

// row is an assertion in all runs of a case. The evidence is of a run with the skill: of one that fails, if one does.
type row struct {
	tally
	text, evidence string
	failed         bool
}

func assertionViews(runs []RunScore) []assertionView {
	var rows []*row
	for _, r := range runs {
		side := 0
		if r.Configuration != WithSkill {
			side = 1
		}
		for _, one := range r.Results {
			at := slices.IndexFunc(rows, func(r *row) bool { return r.text == one.Text })
			if at < 0 {
				at, rows = len(rows), append(rows, &row{text: one.Text})
			}
			rows[at].count(side, one)
		}
	}
	all := make([]assertionView, 0, len(rows))
	for _, r := range rows {
		all = append(all, assertionView{
			Text: r.text, Skill: fmt.Sprintf("%d/%d", r.passed[0], r.total[0]), Base: fmt.Sprintf("%d/%d", r.passed[1], r.total[1]),
			SkillOK: r.passed[0] == r.total[0], Worse: r.passed[0]*r.total[1] < r.passed[1]*r.total[0], Evidence: r.evidence,
		})
	}
	return all
}

func (r *row) count(side int, one Result) {
	r.total[side]++
	if one.Passed {
		r.passed[side]++
	}
	if side == 0 && !r.failed {
		r.evidence, r.failed = one.Evidence, !one.Passed
	}
}

// prompt is what a case asked, or "".
func (i Iteration) prompt(eval string) string {
	var meta struct {
		Prompt string `json:"prompt"`
	}
	if readJSON(filepath.Join(string(i), eval, metadataFile), &meta) != nil {
		return "" // the page is for people: the numbers do not depend on it
	}
	return meta.Prompt
}
