package evals_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// scripted is a model that answers by what the request holds, strictly checked, with a usage of its own.
type scripted struct {
	mu     sync.Mutex
	asked  []model.Request
	answer func(model.Request) (text string, calls []model.ToolUse, tokens int, err error)
}

func (m *scripted) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked = append(m.asked, req)
		if err := model.Check(req); err != nil {
			yield(nil, err)
			return
		}
		text, calls, tokens, err := m.answer(req)
		if err != nil {
			yield(nil, err)
			return
		}
		stop := model.EndTurn
		var events []model.Event
		if text != "" {
			events = append(events, model.TextDelta{Text: text}, model.BlockStop{})
		}
		for i, c := range calls {
			stop = model.StopToolUse
			events = append(events, model.ToolStart{Block: i + 1, ID: c.ID, Name: c.Name},
				model.ToolInput{Block: i + 1, JSON: string(c.Input)}, model.BlockStop{Block: i + 1})
		}
		events = append(events, model.Stop{Reason: stop}, model.UsageReport{Usage: model.Usage{InputTokens: tokens - 1, OutputTokens: 1}})
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *scripted) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

func call(id, name string, input any) model.ToolUse {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return model.ToolUse{ID: id, Name: name, Input: raw}
}

// folder writes files below a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

const cases = `{"skill_name":"refund","evals":[
 {"id":1,"name":"Order 7","prompt":"Refund order 7","expected_output":"money back","files":["evals/files/order.txt"],
  "assertions":[{"text":"says yes","contains":"yes"},{"text":"has a letter","file":"letter.md"}]},
 {"id":"two","prompt":"Refund order 8, please, and be quick about it","expected_output":"no",
  "expectations":[{"name":"says no","matches":"(?i)\\bno\\b"},{"text":"is polite","lacks":"go away"}]}]}`

func skillFiles() map[string]string {
	return map[string]string{
		"refund/SKILL.md":              "---\nname: refund\ndescription: Gives money back.\n---\nAsk for the receipt.",
		"refund/evals/evals.json":      cases,
		"refund/evals/files/order.txt": "order 7: 20 EUR",
	}
}

func open(t *testing.T, dir string) *evals.Subject {
	t.Helper()
	s, err := evals.Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// clerk does the cases: with the skill it writes a letter and says yes to 7 and no to 8; without it only one of four holds.
func clerk(req model.Request) (string, []model.ToolUse, int, error) {
	first := req.Messages[0].PlainText()
	skilled := strings.HasPrefix(first, `<skill_content name="refund"`)
	seven := strings.Contains(first, "order 7")
	last := req.Messages[len(req.Messages)-1]
	switch {
	case skilled && seven && len(last.Results()) == 0:
		return "", []model.ToolUse{call("c1", "read_file", map[string]string{"path": "evals/files/order.txt"}),
			call("c2", "write_file", map[string]string{"path": "letter.md", "text": "Dear customer"})}, 1000, nil
	case skilled && seven:
		return "yes: " + last.Results()[0].Content[0].Text, nil, 500, nil
	case skilled:
		return "No, sorry.", nil, 900, nil
	case seven:
		return "perhaps", nil, 300, nil
	}
	return "go away", nil, 100, nil
}

func runner(s *evals.Subject, w evals.Workspace, m *scripted) evals.Runner {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	return evals.Runner{
		Agent: evals.Agent{Model: m, Sleep: func(context.Context, time.Duration) error { return nil }}, ModelName: "scripted", Subject: s, Workspace: w,
		Now: func() time.Time { // each look at the clock takes a second
			mu.Lock()
			defer mu.Unlock()
			clock = clock.Add(time.Second)
			return clock
		},
	}
}

// tree lists the files below a folder.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	}))
	return all
}

func TestAnIteration(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "refund-workspace"))
	m := &scripted{answer: clerk}
	ran, err := runner(s, w, m).Run(t.Context())
	must(t, err)
	graded, err := evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
	must(t, err)
	if graded.Graded != 4 || ran.Total != 4 || ran.Done != 4 {
		t.Errorf("ran %+v, graded %+v", ran.Progress, graded)
	}
	b, err := evals.Aggregate(ran.Dir, evals.WithoutSkill, 1)
	must(t, err)

	var want []string
	for _, eval := range []string{"eval-order-7", "eval-two-refund-order-8-please-and"} {
		want = append(want, "iteration-1/"+eval+"/eval_metadata.json")
		for _, c := range []string{"with_skill", "without_skill"} {
			files := []string{"grading.json", "outputs/answer.md", "timing.json", "transcript.json"}
			if c == "with_skill" && eval == "eval-order-7" {
				files = append(files, "outputs/letter.md")
			}
			for _, f := range files {
				want = append(want, "iteration-1/"+eval+"/"+c+"/"+f)
			}
		}
	}
	want = append(want, "iteration-1/benchmark.json", "iteration-1/run.json")
	got := tree(t, string(w))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the workspace (-want +got):\n%s", diff)
	}

	// By hand. With the skill: 2/2 and 2/2. Without: 0/2 and, for "go away", 0/2: the rates are 1, 1 and 0, 0. Tokens: 1500 and
	// 900, mean 1200, deviations ±300, sqrt(180000/1) = 424.2641; 300 and 100, mean 200, sqrt(20000) = 141.4214. Each run takes
	// one tick of the clock.
	one := evals.Stat{Mean: 1, Min: 1, Max: 1, N: 2}
	summary := evals.RunSummary{
		Configurations: []evals.Configuration{
			{Name: "with_skill", PassRate: one, TimeSeconds: one, Tokens: evals.Stat{Mean: 1200, StdDev: 424.2641, Min: 900, Max: 1500, N: 2}},
			{Name: "without_skill", PassRate: evals.Stat{N: 2}, TimeSeconds: one, Tokens: evals.Stat{Mean: 200, StdDev: 141.4214, Min: 100, Max: 300, N: 2}},
		},
		Delta: evals.Delta{PassRate: new(1.0), TimeSeconds: new(0.0), Tokens: new(1000.0)},
	}
	if diff := cmp.Diff(summary, b.RunSummary); diff != "" {
		t.Errorf("the benchmark (-want +got):\n%s", diff)
	}
	if !b.Complete() || b.StdDevKind != "sample" || len(b.Patterns.OnlySkill) != 4 {
		t.Errorf("the benchmark is %+v", b)
	}
	read, err := evals.ReadBenchmark(ran.Dir)
	must(t, err)
	if diff := cmp.Diff(b, read); diff != "" {
		t.Errorf("benchmark.json read back (-want +got):\n%s", diff)
	}
	for _, req := range m.asked { // a clean context for each, the same on every machine
		if raw, err := json.Marshal(req); err != nil || strings.Contains(string(raw), dir) {
			t.Errorf("the model is told where the skill is on this machine: %s, %v", raw, err)
		}
		if n := strings.Count(req.Messages[0].PlainText(), "Refund order"); n != 1 || strings.Contains(req.System, "available_skills") {
			t.Errorf("a run begins with %q and %q", req.System, req.Messages[0].PlainText())
		}
	}
}

// TestRoundedOnce: rates of 2/3 and 1/2 with the skill, 1/3 and 1/2 without. The means are 7/12 and 5/12, the difference 1/6; from
// rates that were rounded themselves the first would be 0.5834.
func TestRoundedOnce(t *testing.T) {
	i := evals.Workspace(t.TempDir()).Iteration(1)
	for dir, results := range map[string]string{
		"eval-a/with_skill": "110", "eval-b/with_skill": "10", "eval-a/without_skill": "100", "eval-b/without_skill": "10",
	} {
		var g evals.Grading
		for n, c := range results {
			g.Results = append(g.Results, evals.Result{Text: fmt.Sprint(n), Passed: c == '1'})
		}
		raw, err := json.Marshal(g)
		path := filepath.Join(string(i), filepath.FromSlash(dir))
		must(t, err, os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, "grading.json"), raw, 0o644),
			os.WriteFile(filepath.Join(path, "timing.json"), []byte(`{"total_tokens":1,"duration_ms":1}`), 0o644))
	}
	_, err := evals.Aggregate(i, evals.WithoutSkill, 1)
	must(t, err)
	b, err := evals.ReadBenchmark(i)
	must(t, err)
	got := []float64{b.RunSummary.Configurations[0].PassRate.Mean, b.RunSummary.Configurations[1].PassRate.Mean, *b.RunSummary.Delta.PassRate}
	if diff := cmp.Diff([]float64{0.5833, 0.4167, 0.1667}, got); diff != "" {
		t.Errorf("means and difference (-want +got):\n%s", diff)
	}
	if c := evals.Compare(1, 1, b, b); c.Metrics[0].From.Mean != 0.5833 {
		t.Errorf("compared: %+v", c.Metrics[0])
	}
}
