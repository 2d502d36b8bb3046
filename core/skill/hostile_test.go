package skill_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/skill"
)

// TestHostileMetadata: the largest metadata of any shape is read in bounded time and gives a bounded number of findings.
func TestHostileMetadata(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (skill.MaxFrontmatter-200)/len(s)) }
	for name, block := range map[string]string{
		"brackets": "description: " + fill("["), "braces": "description: " + fill("{a: "), "dashes": fill("- "), "questions": fill("? "),
		"keys": fill("k: v\n"), "broken keys": fill("k: v: w\n"), "comments": fill("# c\n") + "name: a", "comments inside": "metadata:\n" + fill("  # c\n") + "  a: b",
		"anchors": "a: &a [x]\n" + fill("b: *a\n"), "deep": "description: x: y\n" + fill(" \n"), "quotes": `description: "` + fill(`\"`), "tabs": "description: a: b\n" + fill("\t"),
		"metadata": "x: y: z\nmetadata:\n" + fill("  a: b: c\n"), "tools": "name: a: b\nallowed-tools: " + fill("("), "fences": fill(" ---\n"),
	} {
		started := time.Now()
		_, found, ok := skill.Parse("f", "demo", []byte("---\n"+block+"\n---\nDo."))
		took := time.Since(started)
		if ok == skill.Failed(found) {
			t.Errorf("%s: ok = %t, %v", name, ok, found)
		}
		if n := len(found); n > 101 || n >= 100 && !strings.HasSuffix(found[99].Text, "left out") {
			t.Errorf("%s: %d findings, the last %v", name, n, found[n-1])
		}
		if took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestActiveAtOnce: of many calls at the same time one gives the instructions.
func TestActiveAtOnce(t *testing.T) {
	active, s := &skill.Active{}, skill.Skill{Name: "a", Description: "d"}
	var begun atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if active.Begin(s) {
				begun.Add(1)
			}
		})
	}
	wg.Wait()
	if begun.Load() != 1 {
		t.Errorf("%d calls began", begun.Load())
	}
}
