package evals_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// graded runs one case with the given assertions, whose answer is "Total: 20 EUR" and data.json, and grades it.
func graded(t *testing.T, assertions string, more map[string]string, g evals.Grader) ([]evals.Result, error) {
	t.Helper()
	files := skillFiles()
	files["refund/evals/evals.json"] = `[{"id":1,"name":"one","prompt":"Add it up","expected_output":"20","assertions":` + assertions + `}]`
	for name, text := range more {
		files["refund/"+name] = text
	}
	dir := folder(t, files)
	for name := range more {
		must(t, os.Chmod(filepath.Join(dir, "refund", name), 0o755))
	}
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	m := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		if len(req.Messages) == 1 {
			return "", []model.ToolUse{call("c", "write_file", map[string]string{"path": "out/data.json", "text": `{"total": 20}`})}, 10, nil
		}
		return "Total: 20 EUR", nil, 10, nil
	}}
	ran, err := runner(s, w, m).Run(t.Context())
	must(t, err)
	g.Subject = s
	_, failed := g.Grade(t.Context(), ran.Dir)
	var grading evals.Grading
	data, err := os.ReadFile(filepath.Join(string(ran.Dir), "eval-one", "with_skill", "grading.json"))
	if err != nil {
		return nil, failed
	}
	must(t, grading.UnmarshalJSON(data))
	return grading.Results, failed
}

func TestChecks(t *testing.T) {
	tests := []struct {
		check, evidence string
		passed          bool
	}{
		{`"contains":"20 EUR"`, `answer.md has "20 EUR"`, true},
		{`"contains":"30"`, `"30" is in none of: answer.md, out/data.json`, false},
		{`"contains":"20 EUR","file":"out/data.json"`, `"20 EUR" is in none of: out/data.json`, false},
		{`"lacks":"sorry"`, `"sorry" is in none of: answer.md, out/data.json`, true},
		{`"lacks":"EUR"`, `answer.md has "EUR"`, false},
		{`"matches":"\\d+ EUR"`, `answer.md has "20 EUR"`, true},
		{`"matches":"^USD"`, `nothing matches ^USD in: answer.md, out/data.json`, false},
		{`"file":"out/data.json"`, `out/data.json is there, 13 bytes`, true},
		{`"file":"chart.png"`, `there is no file chart.png; there are: answer.md, out/data.json`, false},
		{`"file":"out/data.json","json":true`, `out/data.json is JSON`, true},
		{`"file":"answer.md","json":true`, `answer.md is no JSON: invalid character 'T' looking for beginning of value`, false},
		{`"contains":"20","lacks":"EUR"`, `answer.md has "20"; answer.md has "EUR"`, false},
	}
	for _, tc := range tests {
		results, err := graded(t, `[{"text":"a",`+tc.check+`}]`, nil, evals.Grader{})
		must(t, err)
		want := []evals.Result{{Text: "a", Passed: tc.passed, Evidence: tc.evidence, By: "check"}}
		if diff := cmp.Diff(want, results); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.check, diff)
		}
	}
}

func TestScriptsGrade(t *testing.T) {
	const script = "#!/bin/sh\nset -e\ngrep -c total \"$1/out/data.json\"\n[ -z \"$AWS_SECRET_ACCESS_KEY\" ]\n[ \"$(pwd)\" = \"$1\" ]\n"
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	ask := `[{"text":"adds up","script":"evals/check.sh"}]`
	results, err := graded(t, ask, map[string]string{"evals/check.sh": script}, evals.Grader{Scripts: true})
	must(t, err)
	if diff := cmp.Diff([]evals.Result{{Text: "adds up", Passed: true, Evidence: "1", By: "script"}}, results); diff != "" {
		t.Errorf("a script that agrees (-want +got):\n%s", diff)
	}
	results, err = graded(t, ask, map[string]string{"evals/check.sh": "#!/bin/sh\necho wrong sum >&2\nexit 3\n"}, evals.Grader{Scripts: true})
	must(t, err)
	if diff := cmp.Diff([]evals.Result{{Text: "adds up", Evidence: "wrong sum (exit status 3)", By: "script"}}, results); diff != "" {
		t.Errorf("a script that does not (-want +got):\n%s", diff)
	}
	for name, more := range map[string]map[string]string{"not allowed": {"evals/check.sh": script}, "not there": nil} {
		if results, err := graded(t, ask, more, evals.Grader{Scripts: name == "not there"}); err == nil || results != nil {
			t.Errorf("%s: %v, %v; want an error and no grade", name, results, err)
		}
	}
}

// TestAScriptMayChange: what it graded is graded again, and nothing else is.
func TestAScriptMayChange(t *testing.T) {
	files := skillFiles()
	files["refund/evals/evals.json"] = `[{"id":1,"name":"one","prompt":"Add it up","assertions":[{"text":"a","script":"evals/check.sh"}]},
		{"id":2,"name":"two","prompt":"Say it","assertions":[{"text":"b","contains":"b"}]}]`
	dir := folder(t, files)
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	script := func(text string) {
		t.Helper()
		path := filepath.Join(s.Dir, "evals", "check.sh")
		must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755), os.Chmod(path, 0o755))
	}
	script("exit 1")
	ran, err := runner(s, w, &scripted{answer: clerk}).Run(t.Context())
	must(t, err)
	for i, want := range []evals.Graded{{Graded: 4}, {Kept: 4}, {Graded: 2, Kept: 2}} {
		if i == 2 {
			script("exit 0")
		}
		got, err := evals.Grader{Subject: s, Scripts: true}.Grade(t.Context(), ran.Dir)
		must(t, err)
		if got != want {
			t.Errorf("the %d. time: %+v, want %+v", i+1, got, want)
		}
	}
}

// TestAJudgeHasToQuote: a pass without words that stand in the output is a fail.
func TestAJudgeHasToQuote(t *testing.T) {
	for _, tc := range []struct {
		name, verdict string
		passed        bool
		evidence      string
	}{
		{"with a quote", `{"passed":true,"quote":"Total:  20\nEUR","reason":"it is there"}`, true, `"Total:  20\nEUR": it is there`},
		{"with a file", `{"passed":true,"quote":"out/data.json","reason":"written"}`, true, `"out/data.json": written`},
		{"made up", `{"passed":true,"quote":"30 EUR","reason":"trust me"}`, false, `the judge passed it with a quote that is not in the outputs: "30 EUR": trust me`},
		{"no quote", `{"passed":true,"quote":"","reason":"fine"}`, false, `the judge passed it with a quote that is not in the outputs: "": fine`},
		{"fails", `{"passed":false,"quote":"Total","reason":"no bar"}`, false, `"Total": no bar`},
	} {
		judge := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
			if req.ToolChoice.Name != "verdict" || !strings.Contains(req.Messages[0].PlainText(), "--- answer.md\nTotal: 20 EUR") {
				return "", nil, 0, fmt.Errorf("asked %+v", req)
			}
			return "", []model.ToolUse{{ID: "v", Name: "verdict", Input: []byte(tc.verdict)}}, 10, nil
		}}
		results, err := graded(t, `["has a sum"]`, nil, evals.Grader{Judge: &evals.Judge{Model: judge}, Jobs: 2})
		must(t, err)
		if diff := cmp.Diff([]evals.Result{{Text: "has a sum", Passed: tc.passed, Evidence: tc.evidence, By: "judge"}}, results); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	torn := &scripted{answer: func(model.Request) (string, []model.ToolUse, int, error) {
		return "", []model.ToolUse{{ID: "v", Name: "verdict", Input: []byte(`{"passed":true,"quote":"20 EUR","reason":"yes"}`)},
			{ID: "w", Name: "verdict", Input: []byte(`{"passed":false,"quote":"Total","reason":"no"}`)}}, 10, nil
	}}
	results, err := graded(t, `["has a sum"]`, nil, evals.Grader{Judge: &evals.Judge{Model: torn}})
	must(t, err)
	if results[0].Passed || results[0].Evidence != `"Total": no` {
		t.Errorf("two verdicts at once: %+v, want the one that does not pass", results[0])
	}
	if _, err := graded(t, `["has a sum"]`, nil, evals.Grader{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("without a judge: %v", err)
	}
	mute := &scripted{answer: func(model.Request) (string, []model.ToolUse, int, error) { return "well", nil, 1, nil }}
	if results, err := graded(t, `["has a sum"]`, nil, evals.Grader{Judge: &evals.Judge{Model: mute}}); !fault.Retryable(err) || results != nil {
		t.Errorf("a judge without a verdict: %v, %v", results, err)
	}
}

// TestAssertionsMayChange: only then is a run graded again; its result stays.
func TestAssertionsMayChange(t *testing.T) {
	dir := folder(t, skillFiles())
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	m := &scripted{answer: clerk}
	ran, err := runner(s, w, m).Run(t.Context())
	must(t, err)
	for i, want := range []evals.Graded{{Graded: 4}, {Kept: 4}, {Graded: 2, Kept: 2}} {
		if i == 2 {
			must(t, os.WriteFile(filepath.Join(s.Dir, "evals", "evals.json"), []byte(strings.Replace(cases, "says yes", "agrees", 1)), 0o644))
		}
		got, err := evals.Grader{Subject: s}.Grade(t.Context(), ran.Dir)
		must(t, err)
		if got != want {
			t.Errorf("the %d. time: %+v, want %+v", i+1, got, want)
		}
	}
	again, err := runner(s, w, m).Run(t.Context())
	must(t, err)
	if again.Iteration != 1 || again.Kept != 4 {
		t.Errorf("after a change of assertions: iteration %d, %+v", again.Iteration, again.Progress)
	}
}
