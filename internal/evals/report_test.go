package evals_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

func TestReportAndCompare(t *testing.T) {
	files := skillFiles()
	files["refund/evals/evals.json"] = strings.Replace(cases, "Refund order 7", "Refund order 7 <script>alert(1)</script>", 1)
	dir := folder(t, files)
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	worse := false
	m := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		if worse && strings.Contains(req.Messages[0].PlainText(), "order 8") {
			return "Yes.", nil, 900, nil
		}
		return clerk(req)
	}}
	r := runner(s, w, m)
	for _, worse = range []bool{false, true} {
		r.New = worse
		ran, err := r.Run(t.Context())
		must(t, err)
		_, err = evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
		must(t, err)
		_, err = evals.Aggregate(ran.Dir, evals.WithoutSkill, 1)
		must(t, err)
	}
	must(t, evals.Feedback{"eval-order-7": "", "eval-two-refund-order-8-please-and": "too <short>"}.Write(w.Iteration(2)))
	path, err := evals.Report(w, 2)
	must(t, err)
	page, err := os.ReadFile(path)
	must(t, err)
	for _, want := range []string{
		"<title>refund, iteration 2</title>", "0.75 ± 0.3536, 2 runs", `width:75.0%`, "&lt;script&gt;", "Feedback: fine", "too &lt;short&gt;",
		`<a href="eval-order-7/with_skill/">`, `<a href="eval-order-7/without_skill/">without skill</a>`, "Since iteration 1", "No longer holds:", "says no", "difference &#43;0.5",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Error("the report runs what a case says")
	}
	a, err := evals.ReadBenchmark(w.Iteration(1))
	must(t, err)
	b, err := evals.ReadBenchmark(w.Iteration(2))
	must(t, err)
	c := evals.Compare(1, 2, a, b)
	if *c.Metrics[0].Difference != -0.25 || len(c.Gained) != 0 || cmp.Diff([]string{"eval-two-refund-order-8-please-and: says no"}, c.Lost) != "" {
		t.Errorf("compared: %+v", c)
	}
	if back := evals.Compare(2, 1, b, a); len(back.Gained) != 1 || *back.Metrics[0].Difference != 0.25 {
		t.Errorf("the other way: %+v", back)
	}
}

// TestOtherToolsFiles: what other tools write is read.
func TestOtherToolsFiles(t *testing.T) {
	var g evals.Grading
	must(t, json.Unmarshal([]byte(`{"expectations":[{"text":"a","passed":true,"evidence":"e"},{"text":"b","passed":false,"evidence":""},{"text":"c","passed":true,"evidence":""}],"summary":{"pass_rate":0.67}}`), &g))
	if g.Summary.Total != 3 || *g.Summary.PassRate != 0.6667 {
		t.Errorf("grading %+v", g)
	}
	must(t, json.Unmarshal([]byte(`{"assertion_results":[]}`), &g))
	if g.Summary.PassRate != nil {
		t.Errorf("nothing to grade has the rate %v", *g.Summary.PassRate)
	}
	i := evals.Workspace(t.TempDir()).Iteration(1)
	must(t, os.MkdirAll(string(i), 0o755), os.WriteFile(filepath.Join(string(i), "feedback.json"), []byte(`{"reviews":[{"run_id":"eval-a","feedback":"no"}],"status":"done"}`), 0o644))
	f, err := evals.ReadFeedback(i)
	must(t, err)
	if f["eval-a"] != "no" {
		t.Errorf("feedback %v", f)
	}
}

// TestWhatIsNotMeasuredIsNotZero: neither in the benchmark nor between two of them.
func TestWhatIsNotMeasuredIsNotZero(t *testing.T) {
	rate := 0.75
	known := evals.Benchmark{Runs: []evals.RunScore{{Eval: "eval-a", Configuration: evals.WithSkill, Run: 1, PassRate: &rate, Tokens: 7}}}
	for name, c := range map[string]evals.Comparison{"before": evals.Compare(1, 2, evals.Benchmark{}, known), "after": evals.Compare(1, 2, known, evals.Benchmark{})} {
		for _, m := range c.Metrics {
			if m.Difference != nil {
				t.Errorf("with nothing %s, the difference of %s is %g", name, m.Name, *m.Difference)
			}
		}
	}
	raw, err := json.Marshal(evals.Measure(nil))
	must(t, err)
	if want := `{"mean":null,"stddev":null,"min":null,"max":null,"n":0}`; string(raw) != want {
		t.Errorf("nothing measured is %s, want %s", raw, want)
	}
	var back evals.Stat
	must(t, json.Unmarshal(raw, &back))
	if back != (evals.Stat{}) {
		t.Errorf("read back %+v", back)
	}
}

// TestReportShowsWhatFailed: of several runs the evidence is of one that failed; assertions stand in the order of the case.
func TestReportShowsWhatFailed(t *testing.T) {
	files := skillFiles()
	files["refund/evals/evals.json"] = `[{"id":1,"name":"one","prompt":"Say it","assertions":[{"text":"z is said","contains":"z"},{"text":"a is said","contains":"a"}]},{"id":2,"name":"bare","prompt":"Say nothing"}]`
	dir := folder(t, files)
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	n := 0
	r := runner(s, w, &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		n++
		return []string{"a", "a", "only that", "a", "z", "a and z"}[n%6], nil, 10, nil
	}})
	r.Runs = 3
	ran, err := r.Run(t.Context())
	must(t, err)
	_, err = evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
	must(t, err)
	b, err := evals.Aggregate(ran.Dir, evals.WithoutSkill, 3)
	must(t, err)
	if diff := cmp.Diff([]string{"eval-bare"}, b.Ungraded); diff != "" {
		t.Errorf("without assertions (-want +got):\n%s", diff)
	}
	path, err := evals.Report(w, 1)
	must(t, err)
	page, err := os.ReadFile(path)
	must(t, err)
	text := string(page)
	if !strings.Contains(text, `<td class="n bad">1/3</td>`) {
		t.Error("z holds in one run of three with the skill")
	}
	z, a := strings.Index(text, "<td>z is said</td>"), strings.Index(text, "<td>a is said</td>")
	if z < 0 || a < z {
		t.Errorf("z is at %d, a at %d of the report", z, a)
	}
	if !strings.Contains(text[z:a], "&#34;z&#34; is in none of: answer.md") {
		t.Errorf("the evidence of z is not that of a run that failed: %s", text[z:a])
	}
}

// TestAnIterationByHand: results that were put there by hand, or by another tool, are put together too.
func TestAnIterationByHand(t *testing.T) {
	dir := folder(t, map[string]string{
		"csv-analyzer-workspace/iteration-1/eval-top-months-chart/with_skill/timing.json":     `{"total_tokens": 3800, "duration_ms": 45000}`,
		"csv-analyzer-workspace/iteration-1/eval-top-months-chart/with_skill/grading.json":    `{"assertion_results":[{"text":"a","passed":true,"evidence":"e"},{"text":"b","passed":true,"evidence":"e"}],"summary":{"passed":9}}`,
		"csv-analyzer-workspace/iteration-1/eval-top-months-chart/without_skill/timing.json":  `{"total_tokens": 2100, "duration_ms": 32000}`,
		"csv-analyzer-workspace/iteration-1/eval-top-months-chart/without_skill/grading.json": `{"expectations":[{"text":"a","passed":true},{"text":"b","passed":false}]}`,
		"csv-analyzer-workspace/iteration-2/eval-a/with_skill/run-1/timing.json":              `{"total_tokens": 1, "duration_ms": 1}`,
		"csv-analyzer-workspace/iteration-2/eval-a/with_skill/run-2/timing.json":              `{"total_tokens": 1, "duration_ms": 1}`,
		"csv-analyzer-workspace/iteration-2/eval-a/old_skill/run-1/timing.json":               `{"total_tokens": 1, "duration_ms": 1}`,
		"csv-analyzer-workspace/iteration-3/notes.txt":                                        "nothing",
	})
	w := evals.Workspace(filepath.Join(dir, "csv-analyzer-workspace"))
	m, err := w.Iteration(1).Manifest()
	must(t, err)
	b, err := evals.Aggregate(w.Iteration(1), m.Baseline, m.Runs)
	must(t, err)
	if d := b.RunSummary.Delta; !b.Complete() || *d.PassRate != 0.5 || *d.TimeSeconds != 13 || *d.Tokens != 1700 {
		t.Errorf("the benchmark is %+v", b)
	}
	path, err := evals.Report(w, 1)
	must(t, err)
	page, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(page), "<h1>csv-analyzer</h1>\n<p class=\"quiet\">iteration 1, against without skill</p>") {
		t.Errorf("the report is %s", page)
	}
	if m, err = w.Iteration(2).Manifest(); err != nil || m.Runs != 2 || m.Baseline != evals.OldSkill {
		t.Errorf("the second: %+v, %v", m, err)
	}
	if _, err = w.Iteration(3).Manifest(); !fault.Is(err, fault.NotFound) {
		t.Errorf("the third has nothing: %v", err)
	}
}
