package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// notebook plays calls, each seeing those before it, and gives what they answer.
func notebook(t *testing.T, inputs ...string) []string {
	t.Helper()
	var answers []string
	var before []json.RawMessage
	for _, in := range inputs {
		seen := before
		ctx := tool.Context{Context: t.Context()}.WithEarlier(func() []json.RawMessage { return seen })
		out, err := tool.Notebook{}.Call(ctx, json.RawMessage(in))
		if err != nil {
			out = string(fault.CodeOf(err)) + ": " + err.Error()
		}
		answers = append(answers, out.(string))
		before = append(before, json.RawMessage(in))
	}
	return answers
}

func TestNotebook(t *testing.T) {
	got := notebook(t,
		`{"mode":"list"}`,
		`{"mode":"read"}`,
		`{"mode":"create","newStr":"one\ntwo\nthree\n"}`,
		`{"mode":"read"}`,
		`{"mode":"write","oldStr":"two","newStr":"2"}`,
		`{"mode":"write","newStr":"four"}`,
		`{"mode":"write","newStr":"zero","insertLine":0}`,
		`{"mode":"write","newStr":"last","insertLine":-1}`,
		`{"mode":"write","oldStr":"gone","newStr":"x"}`,
		`{"mode":"read","readRange":[2,-2]}`,
		`{"mode":"read","readRange":[7,9]}`,
		`{"mode":"read","readRange":[1]}`,
		`{"mode":"create","name":"other"}`,
		`{"mode":"list"}`,
		`{"mode":"clear"}`,
		`{"mode":"read"}`,
		`{"mode":"shred"}`,
		`not JSON`,
		`{"mode":"list"}`,
	)
	want := []string{
		"There are no notebooks.",
		`invalid: there is no notebook "default": There are no notebooks.`,
		`Notebook "default" has 3 lines.`,
		"one\ntwo\nthree\n",
		`Notebook "default" has 3 lines.`,
		`Notebook "default" has 4 lines.`,
		`Notebook "default" has 5 lines.`,
		`Notebook "default" has 6 lines.`,
		`invalid: oldStr: the notebook "default" does not hold this text`,
		"2: one\n3: 2\n4: three\n5: four",
		"invalid: readRange: the notebook has 6 lines",
		"invalid: readRange: must be the first and the last line",
		`Notebook "other" has 0 lines.`,
		"default: 6 lines\nother: 0 lines",
		`Notebook "default" is empty.`,
		"",
		got[16], // the library's words
		got[17],
		"default: 0 lines\nother: 0 lines",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for _, i := range []int{16, 17} {
		if !strings.HasPrefix(got[i], "invalid: the input does not fit") {
			t.Errorf("answer %d = %s", i, got[i])
		}
	}
}

// TestNotebookWithoutHistory: where nobody knows of earlier calls each call is alone, and nothing is shared.
func TestNotebookWithoutHistory(t *testing.T) {
	for range 2 {
		if _, err := (tool.Notebook{}).Call(tool.Context{}, json.RawMessage(`{"mode":"create","newStr":"secret"}`)); err != nil {
			t.Fatal(err)
		}
		out, err := tool.Notebook{}.Call(tool.Context{}, json.RawMessage(`{"mode":"list"}`))
		if err != nil || out != "There are no notebooks." {
			t.Errorf("another conversation reads %v, %v", out, err)
		}
	}
}

func TestNotebookIsBounded(t *testing.T) {
	big := `{"mode":"create","name":"NAME","newStr":"` + strings.Repeat("x", 100*1024) + `"}`
	got := notebook(t, strings.ReplaceAll(big, "NAME", "a"), strings.ReplaceAll(big, "NAME", "b"), strings.ReplaceAll(big, "NAME", "c"), strings.ReplaceAll(big, "NAME", "a"), `{"mode":"list"}`)
	if !strings.HasPrefix(got[2], "limit: the notebooks would be") || got[3] != `Notebook "a" has 1 lines.` || got[4] != "a: 1 lines\nb: 1 lines" {
		t.Errorf("answers = %q", got[2:])
	}
}

// TestOfferedByName: what is to be named is not there otherwise.
func TestOfferedByName(t *testing.T) {
	r := tool.Builtin()
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"get_current_time", "http_request", "notebook"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"get_current_time"}, tool.Registry(r.Default()).Names()); diff != "" {
		t.Errorf("by default (-want +got):\n%s", diff)
	}
	found, unknown := r.Pick("notebook", "http_request")
	if len(found) != 2 || len(unknown) != 0 || !found[0].Spec().ByName || len(r) != 3 {
		t.Errorf("Pick = %v, %v", found, unknown)
	}
}
