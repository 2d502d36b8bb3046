package evals_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

func TestParseSuite(t *testing.T) {
	s, err := evals.ParseSuite([]byte(cases))
	must(t, err)
	if len(s.Cases) != 2 || s.Cases[0].ID != "1" || s.Cases[1].ID != "two" || s.Cases[1].Assertions[0].Text != "says no" {
		t.Errorf("read %+v", s)
	}
	for _, c := range s.Cases {
		raw, err := json.Marshal(c.ID)
		must(t, err)
		if want := map[evals.ID]string{"1": "1", "two": `"two"`}[c.ID]; string(raw) != want {
			t.Errorf("the id %s is written %s", c.ID, raw)
		}
	}
	bare, err := evals.ParseSuite([]byte(`[{"id":"a","prompt":"p","assertions":[{"id":1,"type":"x","description":"d"},"t"]}]`))
	must(t, err)
	if diff := cmp.Diff([]evals.Assertion{{Text: "d"}, {Text: "t"}}, bare.Cases[0].Assertions); diff != "" {
		t.Errorf("assertions (-want +got):\n%s", diff)
	}
	for in, want := range map[string]string{
		`{`:            "unexpected end",
		`{"evals":[]}`: "there are no evals",
		`[{"id":1,"prompt":" "},{"id":1,"prompt":"x"}]`:                                  `evals[0]: the prompt is missing; evals[1]: the id "1" is missing or taken`,
		`[{"id":1,"name":"A b","prompt":"x"},{"id":2,"name":"a-b","prompt":"x"}]`:        "eval-a-b, is taken",
		`[{"id":1,"prompt":"x","files":["../x"]}]`:                                       `"../x" is no path relative`,
		`[{"id":1,"prompt":"x","assertions":[{"text":"t","matches":"("}]}]`:              "assertions[0]: error parsing regexp",
		`[{"id":1,"prompt":"x","assertions":[""]}]`:                                      "assertions[0]: the text is missing",
		`[{"id":1,"prompt":"x","assertions":[{"text":"t","script":"/bin/sh"}]}]`:         "must be relative",
		`[{"id":1,"prompt":"x","assertions":[{"text":"t","contains":"c","json":true}]}]`: "json needs a file",
	} {
		if _, err := evals.ParseSuite([]byte(in)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// TestInputsStayInside: a case cannot hand out what a link leads to.
func TestInputsStayInside(t *testing.T) {
	files := skillFiles()
	files["secret"] = "s"
	dir := folder(t, files)
	must(t, os.Remove(filepath.Join(dir, "refund/evals/files/order.txt")), os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "refund/evals/files/order.txt")))
	if _, err := open(t, filepath.Join(dir, "refund")).Suite(); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link that leads out: %v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := folder(t, map[string]string{"a/SKILL.md": "no metadata", "b/c/SKILL.md": "---\nname: c\ndescription: d\n---\n", "b/d/SKILL.md": "---\nname: d\ndescription: d\n---\n"})
	for name, want := range map[string]string{"a": "no-frontmatter", "b": "2 skills", "none": "no such file"} {
		if _, err := evals.Open(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestMeasure: by hand; the population's form would give 0.2041 for the first.
func TestMeasure(t *testing.T) {
	for _, tc := range []struct {
		in   []float64
		want evals.Stat
	}{
		{[]float64{1, 0.5, 0.75}, evals.Stat{Mean: 0.75, StdDev: 0.25, Min: 0.5, Max: 1, N: 3}},
		{[]float64{45, 32, 61, 38}, evals.Stat{Mean: 44, StdDev: 12.5167, Min: 32, Max: 61, N: 4}}, // squares 1+144+289+36 = 470; sqrt(470/3)
		{[]float64{2.0 / 3}, evals.Stat{Mean: 0.6667, Min: 0.6667, Max: 0.6667, N: 1}},
		{nil, evals.Stat{}},
	} {
		if diff := cmp.Diff(tc.want, evals.Measure(tc.in)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc.in, diff)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0001: "0.0001", 0.6667: "0.6667", 396.3333: "396.3", 999.96: "1000", 84852.25: "84852", -1234.5: "-1234", 12.5: "12.5"} {
		if got := evals.Number(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}
