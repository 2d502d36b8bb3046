package evals_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// TestFilesOfARun: a run reads what it was given and what it has written, writes into its own folder, and nothing else.
func TestFilesOfARun(t *testing.T) {
	files := skillFiles()
	files["refund/evals/files/scan.png"] = "\x89PNG\x00"
	files["refund/evals/evals.json"] = `[{"id":1,"name":"one","prompt":"Do it","files":["evals/files/order.txt","evals/files/scan.png"]}]`
	dir := folder(t, files)
	s, w := open(t, filepath.Join(dir, "refund")), evals.Workspace(filepath.Join(dir, "ws"))
	steps := []struct {
		tool string
		in   map[string]string
		want string // begins the result
	}{
		{"read_file", map[string]string{"path": "./evals/files/order.txt"}, "order 7: 20 EUR"},
		{"read_file", map[string]string{"path": "evals/files/scan.png"}, "evals/files/scan.png is no text, 5 bytes"},
		{"read_file", map[string]string{"path": "evals/evals.json"}, `there is no file "evals/evals.json"; there are: evals/files/order.txt, evals/files/scan.png`},
		{"write_file", map[string]string{"path": "out/letter.md", "text": "Dear"}, "out/letter.md is written, 4 bytes"},
		{"write_file", map[string]string{"path": "out/letter.md", "text": "Dear you"}, "out/letter.md is written, 8 bytes"},
		{"read_file", map[string]string{"path": "out/letter.md"}, "Dear you"},
		{"write_file", map[string]string{"path": "../timing.json", "text": "{}"}, `"../timing.json" is no path of a result`},
		{"write_file", map[string]string{"path": "/tmp/x", "text": "x"}, `"/tmp/x" is no path of a result`},
		{"write_file", map[string]string{"path": "answer.md", "text": "x"}, `"answer.md" is no path of a result`},
		{"write_file", map[string]string{"path": "out/letter.md/x", "text": "x"}, "the folder of out/letter.md/x cannot be made"},
		{"write_file", map[string]string{"path": "big.txt", "text": strings.Repeat("x", 1<<20+1)}, "big.txt has 1048577 bytes, the limit is 1048576"},
	}
	m := &scripted{answer: func(req model.Request) (string, []model.ToolUse, int, error) {
		n := len(req.Messages) / 2
		if results := req.Messages[len(req.Messages)-1].Results(); len(results) > 0 {
			if got := results[0].Content[0].Text; !strings.HasPrefix(got, steps[n-1].want) {
				t.Errorf("%s %v: %.200s, want %s", steps[n-1].tool, steps[n-1].in["path"], got, steps[n-1].want)
			}
		}
		if n == len(steps) {
			return "done", nil, 1, nil
		}
		return "", []model.ToolUse{call("c"+string(rune('a'+n)), steps[n].tool, steps[n].in)}, 1, nil
	}}
	r := runner(s, w, m)
	ran, err := r.Run(t.Context())
	must(t, err)
	outputs := filepath.Join(string(ran.Dir), "eval-one", "with_skill", "outputs")
	if diff := cmp.Diff([]string{"answer.md", "out/letter.md"}, tree(t, outputs)); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	answer, err := os.ReadFile(filepath.Join(outputs, "answer.md"))
	if err != nil || string(answer) != "done\n" {
		t.Errorf("the answer is %q, %v", answer, err)
	}
}

func TestParseQueries(t *testing.T) {
	all, err := evals.ParseQueries([]byte(`[{"query":"a","should_trigger":true,"note":"kept out"},{"query":"b"}]`))
	must(t, err)
	if diff := cmp.Diff([]evals.Query{{Query: "a", ShouldTrigger: true}, {Query: "b"}}, all); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	for _, wrong := range []string{"{", "[]", `[{"query":" "}]`, `[{"query":"a"},{"query":"a","should_trigger":true}]`} {
		if _, err := evals.ParseQueries([]byte(wrong)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	s := evals.Split{Train: all[1:], Validation: all[:1]}
	if !s.Of(all) || s.Of(all[:1]) || s.Of([]evals.Query{{Query: "a"}, {Query: "b"}}) {
		t.Error("a split is of the queries it was made of, with their labels, and of no others")
	}
}
