package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/evals"
)

// TestEvalFromTheBeginning: a skill is begun, gets cases, is run with the offline model, goes on, is graded anew, reported and
// compared. Nothing but times differs from one day to the next.
func TestEvalFromTheBeginning(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{"x/refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "x/refund/terms.md": "30 days"})
	do := func(status int, args ...string) (out, err string) {
		t.Helper()
		r := start("")
		r.run(t, status, args...)
		return r.out.String(), r.err.String()
	}
	out, _ := do(0, "eval", "init", "x/refund")
	same(t, "init", out, "x/refund/evals/evals.json and x/refund/evals/triggers.json written; put your own cases there, then run steadfast eval run x/refund\n")
	_, err := do(1, "eval", "init", "x/refund")
	same(t, "init again", err, "steadfast: the skill has evals already\n")
	do(0, "eval", "run", "x/refund") // the cases as they are begun are sound

	const suite = `[{"id":1,"name":"terms","prompt":"call read_skill_file with {\"name\":\"refund\",\"path\":\"terms.md\"}","assertions":[{"text":"knows the terms","contains":"30 days"}]},
		{"id":2,"name":"judged","prompt":"say \"hello\"","assertions":["is kind"]}]`
	if err := os.WriteFile("x/refund/evals/evals.json", []byte(suite), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ = do(0, "--json", "eval", "run", "x/refund", "--jobs", "3")
	var b struct {
		RunSummary map[string]json.RawMessage `json:"run_summary"`
	}
	if err := json.Unmarshal([]byte(out), &b); err != nil {
		t.Fatal(err)
	}
	var delta map[string]float64
	if err := json.Unmarshal(b.RunSummary["delta"], &delta); err != nil || delta["pass_rate"] != 0.5 { // the offline model passes nothing that needs judging
		t.Errorf("delta %s, %v", b.RunSummary["delta"], err)
	}
	_, err = do(0, "eval", "run", "x/refund")
	if !strings.Contains(err, "iteration 2: 4 runs, 4 are there already") {
		t.Errorf("run again: %s", err)
	}
	release, held := evals.Workspace("x/refund-workspace").Hold()
	if held != nil {
		t.Fatal(held)
	}
	for _, second := range [][]string{{"eval", "run", "x/refund"}, {"eval", "grade", "x/refund"}, {"trigger", "run", "x/refund"}} {
		_, err = do(1, second...)
		if !strings.HasSuffix(err, "x/refund-workspace is in use by another run: wait for its end, or name another with --workspace\n") {
			t.Errorf("%v beside another: %s", second, err)
		}
	}
	release()
	out, _ = do(0, "eval", "grade", "x/refund", "--again")
	same(t, "grade", out, "iteration 2: 4 graded, 0 graded before, 0 without a result\n")
	const changed = `[{"id":1,"name":"terms","prompt":"call read_skill_file with {\"name\":\"refund\",\"path\":\"terms.md\"}","assertions":[{"text":"knows other terms","contains":"31 days"}]},
		{"id":2,"name":"judged","prompt":"say \"hello\"","assertions":["is kind"]}]`
	if err := os.WriteFile("x/refund/evals/evals.json", []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ = do(0, "eval", "grade", "x/refund")
	same(t, "grade what has changed", out, "iteration 2: 2 graded, 2 graded before, 0 without a result\n")
	if graded, err := evals.ReadBenchmark("x/refund-workspace/iteration-2"); err != nil || *graded.RunSummary.Delta.PassRate != 0 {
		t.Errorf("after other assertions the benchmark is %+v, %v", graded.RunSummary, err)
	}
	do(0, "eval", "feedback", "x/refund", "terms", "")
	do(1, "eval", "feedback", "x/refund", "../../x", "")
	out, _ = do(0, "eval", "report", "x/refund")
	same(t, "report", out, "x/refund-workspace/iteration-2/report.html\n")
	out, _ = do(0, "eval", "compare", "x/refund")
	if !strings.HasPrefix(out, "WITH THE SKILL  iteration 1") || !strings.Contains(out, "\neval-terms ") {
		t.Errorf("compare: %s", out)
	}
	if err := os.Remove("x/refund-workspace/iteration-2/eval-terms/with_skill/timing.json"); err != nil {
		t.Fatal(err)
	}
	_, err = do(1, "eval", "aggregate", "x/refund")
	if !strings.Contains(err, "not everything is there: eval-terms with_skill run 1: timing.json") {
		t.Errorf("aggregate: %s", err)
	}
	for _, wrong := range [][]string{{"x/none"}, {"x/refund", "--model", "guess"}, {"x/refund", "--jobs", "0"}, {"x/refund", "--runs", "0"}, {"x/refund", "--instructions", "none.md"}} {
		do(1, append([]string{"eval", "run"}, wrong...)...)
	}
	do(1, "eval", "report", "x/refund", "--iteration", "9")
}

// TestProgressOnATerminal: one line that is written over itself; where nobody watches, a line for each run.
func TestProgressOnATerminal(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var shown strings.Builder
		s := &surroundings{live: true, stderr: &shown}
		want := "iteration 1: 3 runs\n1/3  eval-a with_skill, 1.0 s\n2/3, 1 failed  eval-b with_skill: no\n3/3, 1 failed  eval-a without_skill, 1.0 s\n"
		if terminal {
			s.stderr = screen{&shown}
			want = "\r\x1b[2K" + strings.ReplaceAll(strings.TrimSuffix(want, "\n"), "\n", "\r\x1b[2K") + "\n"
			want = strings.Replace(want, ": no\r", ": no\n\r", 1)
		}
		tell, done := s.progressOf()
		tell(evals.Progress{Iteration: 1, Total: 3})
		tell(evals.Progress{Iteration: 1, Total: 3, Done: 1, Last: "eval-a with_skill", Took: time.Second})
		tell(evals.Progress{Iteration: 1, Total: 3, Done: 1, Failed: 1, Last: "eval-b with_skill", Err: errors.New("no")})
		tell(evals.Progress{Iteration: 1, Total: 3, Done: 2, Failed: 1, Last: "eval-a without_skill", Took: time.Second})
		done()
		same(t, "progress", strings.NewReplacer("\x1b[2m", "", "\x1b[0m", "").Replace(shown.String()), want)
	}
}

func TestTriggerCommands(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{
		"x/refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "x/other/SKILL.md": "---\nname: other\ndescription: Else.\n---\nDo.",
		"x/refund/evals/triggers.json": `[{"query":"call activate_skill with {\"name\":\"refund\"}","should_trigger":true},{"query":"give it back","should_trigger":true},
			{"query":"call activate_skill with {\"name\":\"other\"}","should_trigger":false},{"query":"hello","should_trigger":false}]`,
	})
	r := start("")
	r.run(t, 0, "trigger", "split", "x/refund", "--seed", "3")
	same(t, "split", r.out.String(), "2 queries to train, 2 to validate, seed 3: x/refund-workspace/trigger/split.json\n")
	r = start("")
	r.run(t, 1, "trigger", "split", "x/refund", "--seed", "4")
	r = start("")
	r.run(t, 0, "trigger", "run", "x/refund", "--set", "all", "--jobs", "4")
	if got := r.out.String(); !strings.Contains(got, "iteration 1, all: 3 of 4 queries pass (0.75); precision 1, recall 0.5, accuracy 0.75; 0 runs failed\n") {
		t.Errorf("run: %s", got)
	}
	r = start("")
	r.run(t, 0, "--json", "trigger", "run", "x/refund")
	var got struct {
		Result struct {
			Seed    int
			Results []struct{ Runs int }
		}
	}
	if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil || got.Result.Seed != 3 || len(got.Result.Results) != 2 || got.Result.Results[0].Runs != 3 {
		t.Errorf("run as JSON: %+v, %v", got, err)
	}
	r = start("")
	r.run(t, 0, "trigger", "report", "x/refund")
	if !strings.HasPrefix(r.out.String(), "ITERATION  TRAIN") {
		t.Errorf("report: %s", r.out.String())
	}
}

// TestTriggerQueriesMayChange: a split that is no longer of the skill's queries is told; fresh queries need none.
func TestTriggerQueriesMayChange(t *testing.T) {
	start := at(t)
	query := func(words string, yes bool) string {
		return fmt.Sprintf(`{"query":%q,"should_trigger":%t}`, words, yes)
	}
	four := strings.Join([]string{query(`call activate_skill with {"name":"refund"}`, true), query("give it back", true), query("hello", false), query("bye", false)}, ",")
	skillFolder(t, map[string]string{
		"x/refund/SKILL.md": "---\nname: refund\ndescription: Gives money back.\n---\nAsk.", "x/refund/evals/triggers.json": "[" + four + "]",
		"others.json": "[" + strings.ReplaceAll(four, "bye", "so long") + "]", "fresh.json": "[" + query(`call activate_skill with {"name":"refund"} now`, true) + "]",
	})
	do := func(args ...string) (out, err string) {
		t.Helper()
		r := start("")
		r.run(t, 0, args...)
		return r.out.String(), r.err.String()
	}
	const told = "the queries have changed since they were split"
	do("trigger", "split", "x/refund")
	if _, err := do("trigger", "run", "x/refund", "--runs", "1"); strings.Contains(err, told) {
		t.Errorf("nothing has changed: %s", err)
	}
	if err := os.WriteFile("x/refund/evals/triggers.json", []byte("["+strings.Replace(four, "hello", "hi", 1)+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := do("trigger", "run", "x/refund", "--runs", "1"); !strings.Contains(err, told) {
		t.Errorf("the skill's queries have changed: %s", err)
	}
	do("trigger", "split", "x/refund", "--queries", "others.json", "--force")
	if _, err := do("trigger", "run", "x/refund", "--runs", "1"); strings.Contains(err, told) {
		t.Errorf("a split of another file is not of the skill's: %s", err)
	}
	out, _ := do("trigger", "run", "x/refund", "--queries", "fresh.json")
	if !strings.Contains(out, "fresh: 1 of 1 queries pass (1)") {
		t.Errorf("fresh queries: %s", out)
	}
}

// TestWhichSkillIsMissing: who names one that is not there is told which there are.
func TestWhichSkillIsMissing(t *testing.T) {
	start := at(t)
	missing := func(want string, args ...string) {
		t.Helper()
		r := start("")
		r.run(t, 1, args...)
		same(t, strings.Join(args, " "), r.err.String(), "steadfast: "+want+"\n")
	}
	missing("there is no skill x, neither as a folder nor in agent/skills", "eval", "run", "x")
	skillFolder(t, map[string]string{"agent/skills/b/SKILL.md": "---", "agent/skills/a/SKILL.md": "---", "agent/skills/flat.md": "Do it."})
	for _, command := range [][]string{
		{"eval", "run"}, {"eval", "init"}, {"eval", "grade"}, {"eval", "report"}, {"eval", "compare"}, {"trigger", "split"}, {"trigger", "run"}, {"trigger", "report"},
	} {
		missing("there is no skill nonsense; agent/skills has: a, b", append(command, "nonsense")...)
	}
	missing("agent/skills/flat.md is one file; only a folder has room for evals: make it agent/skills/flat/SKILL.md", "eval", "run", "flat")
}

// TestExampleSkills: their evals run, pass with the skill, and are the better for it; their queries split.
func TestExampleSkills(t *testing.T) {
	start := at(t)
	full, err := filepath.Abs("../../agent/skills")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"incident-report", "meeting-times"} {
		r := start("")
		r.run(t, 0, "--json", "eval", "--workspace", "ws-"+name, "run", filepath.Join(full, name))
		var b struct {
			RunSummary map[string]map[string]any `json:"run_summary"`
		}
		if err := json.Unmarshal([]byte(r.out.String()), &b); err != nil {
			t.Fatal(err)
		}
		rate := func(configuration string) any {
			return b.RunSummary[configuration]["pass_rate"].(map[string]any)["mean"]
		}
		if diff := cmp.Diff([]any{1.0, 0.25}, []any{rate("with_skill"), rate("without_skill")}); diff != "" {
			t.Errorf("%s with and without (-want +got):\n%s", name, diff)
		}
	}
	r := start("")
	r.run(t, 0, "trigger", "--workspace", "ws", "split", filepath.Join(full, "incident-report"))
}
