package skill_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
)

func TestKept(t *testing.T) {
	var history []model.Message
	size := 0 // of one activation
	activate := func(name, words string) {
		text := skill.Skill{Name: name, Description: "d", Markdown: "m"}.Content() + "\n\n" + words
		size = len(text)
		history = append(history, model.Text(model.User, text), model.Text(model.Assistant, "done"))
	}
	for _, words := range strings.Fields("a:1 b:1 a:2 c:1 b:2") {
		name, n, _ := strings.Cut(words, ":")
		activate(name, n)
	}
	for _, tc := range []struct {
		name  string
		bytes int
		want  string
	}{
		{"all, where nothing has to go", 0, "a1 b1 a2 c1 b2"},
		{"of each the newest", 10 * size, "a2 c1 b2"},
		{"that fit", 3 * size, "a2 c1 b2"},
		{"the oldest goes", 3*size - 1, "c1 b2"},
		{"the newest alone", size, "b2"},
		{"the newest, though it takes twice as much", (size + 1) / 2, "b2"},
		{"none", size/2 - 1, ""},
	} {
		var got []string
		for _, a := range skill.Kept(history, tc.bytes) {
			got = append(got, a.Name+a.Text[len(a.Text)-1:])
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	set := setOf(t, skill.Skill{Name: "c", Description: "d"}, skill.Skill{Name: "a", Description: "d"}, skill.Skill{Name: "b", Description: "d", HiddenFromModel: true}, skill.Skill{Name: "z", Description: "d"})
	if diff := cmp.Diff([]string{"a", "c"}, set.Lost(history, history[8:])); diff != "" {
		t.Errorf("lost but for the newest of b (-want +got):\n%s", diff)
	}
	if lost := set.Lost(history, history[2:]); lost != nil {
		t.Errorf("an older activation is no loss: %q", lost)
	}
	if lost := set.Lost(history, nil); cmp.Diff([]string{"a", "c"}, lost) != "" {
		t.Errorf("what only a user can activate again is named to the model: %q", lost)
	}
}
