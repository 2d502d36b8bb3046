package host_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// skilled has a good skill, a flat one, one in Go that takes the name of a file, and a broken one.
func skilled() host.Content {
	return host.Content{
		Tools: tool.Builtin(),
		SkillFolders: []skill.Root{{Path: "skills", Name: "agent/skills", Flat: true, FS: fstest.MapFS{
			"skills/good/SKILL.md":   {Data: []byte("---\nname: good\ndescription: Does good.\n---\nDo.")},
			"skills/broken/SKILL.md": {Data: []byte("---\nname: broken\n---\nDo.")},
			"skills/flat.md":         {Data: []byte("Be flat.\nThen do.")},
			"skills/go.md":           {Data: []byte("From a file.")},
		}}},
		Skills: []skill.Skill{{Name: "go", Description: "From Go.", Markdown: "Do."}},
	}
}

// TestABrokenSkillStopsNothing: its neighbours load, and it is told with path, line and reason where the program starts.
func TestABrokenSkillStopsNothing(t *testing.T) {
	set, found := skilled().SkillSet()
	var got []string
	for _, s := range set.All() {
		got = append(got, s.Name+": "+s.Description)
	}
	if diff := cmp.Diff([]string{"flat: Be flat.", "go: From Go.", "good: Does good."}, got); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	var told []string
	for _, d := range found {
		told = append(told, d.String())
	}
	want := []string{
		"agent/skills/broken/SKILL.md:1: error: the description is missing (desc-missing)",
		`agent/skills/go.md: warning: the name "go" is taken by the skill go in Go; this one is not reached until it has another name (name-collision)`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	var log bytes.Buffer
	e := boot.Edges{Edges: flow.Edges{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	engine := host.Engine(e, skilled())
	if strings.Count(log.String(), "level=WARN") != 2 || !strings.Contains(log.String(), "agent/skills/broken/SKILL.md:1") {
		t.Errorf("the log: %s", log.String())
	}
	if len(engine.Skills.Found) != 2 || len(engine.Skills.Set.All()) != 3 || engine.Skills.Uploads == nil {
		t.Errorf("the engine has %+v", engine.Skills)
	}
	if err := skilled().Validate(); err != nil {
		t.Errorf("a broken skill makes the content unsound: %v", err)
	}
}

// TestToolsOfSkillsAreNotTaken: a tool of that name would be offered twice.
func TestToolsOfSkillsAreNotTaken(t *testing.T) {
	c := skilled()
	c.Tools = append(c.Tools, tool.New(skill.ActivateName, "Mine.", func(tool.Context, struct{}) (string, error) { return "", nil }))
	if err := c.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "the name is taken") {
		t.Errorf("Validate = %v", err)
	}
	c.SkillFolders, c.Skills = nil, nil
	if err := c.Validate(); err != nil {
		t.Errorf("without skills the name is free: %v", err)
	}
}
