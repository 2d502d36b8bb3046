package skill_test

import (
	"fmt"
	"testing/fstest"

	"github.com/steadfast-agents/steadfast/core/skill"
)

// Skills come from files and from Go; what is wrong with one is told, and the rest loads.
func Example() {
	found, problems := skill.Load(fstest.MapFS{
		"refund/SKILL.md": {Data: []byte("---\nname: refund\ndescription: Use when: a customer wants money back.\n---\nAsk for the order.")},
		"broken/SKILL.md": {Data: []byte("Just text.")},
	})
	set, more := skill.NewSet(append(found, skill.Skill{Name: "greet", Description: "Says hello.", Markdown: "Be kind."})...)
	for _, p := range append(problems, more...) {
		fmt.Println(p.Path, p.Line, p.Code)
	}
	fmt.Println(set.ForModel())
	text, _, _ := set.Command("/greet Ada", nil)
	fmt.Println(text != "", set.Tools(nil).Names())
	// Output:
	// broken/SKILL.md 1 no-frontmatter
	// refund/SKILL.md 3 yaml-repaired
	// [greet refund]
	// true [activate_skill read_skill_file]
}
