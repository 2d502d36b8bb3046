package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// ownSkills is where an agent's own skills are.
const ownSkills = "agent/skills"

// load finds the skills in paths, else in --dir, and those of --project. done closes what the skills' files are read from.
func (k skills) load(paths []string) (set skill.Set, found []skill.Diagnostic, done func(), err error) {
	var roots []skill.Root
	var open []*os.Root
	done = func() {
		for _, r := range open {
			_ = r.Close() // only read from
		}
	}
	for _, p := range k.places(paths) {
		dir, err := os.OpenRoot(p.dir)
		switch {
		case err == nil:
			open = append(open, dir)
			p.FS = dir.FS()
			roots = append(roots, p.Root)
		case !p.mayLack || !errors.Is(err, fs.ErrNotExist):
			done()
			return set, nil, nil, &client.Error{Code: string(fault.NotFound), Message: err.Error()}
		}
	}
	list, found := skill.Finder{}.Find(roots...)
	set, more := skill.NewSet(list...)
	return set, append(found, more...), done, nil
}

// place is a folder on disk to look in.
type place struct {
	skill.Root
	dir     string
	mayLack bool
}

func (k skills) places(paths []string) []place {
	var all []place
	dirs, given := paths, true
	if len(dirs) == 0 {
		dirs = k.Dir
	}
	if len(dirs) == 0 {
		dirs, given = []string{ownSkills}, false
	}
	for _, dir := range dirs {
		if filepath.Base(dir) == skill.FileName {
			dir = filepath.Dir(dir)
		}
		all = append(all, place{skill.Root{Name: named(dir), Scope: skill.Builtin, Flat: filepath.Base(dir) == "skills"}, dir, !given})
	}
	if k.Project != "" {
		for _, below := range []string{".steadfast/skills", ".agents/skills"} {
			name := named(filepath.Join(k.Project, below))
			all = append(all, place{skill.Root{Path: below, Name: name, Scope: skill.Project, Trusted: k.Trust}, k.Project, false})
		}
	}
	return all
}

// named is a folder by a path that ends with its name.
func named(dir string) string {
	dir = filepath.Clean(dir)
	if base := filepath.Base(dir); base == "." || base == ".." {
		if full, err := filepath.Abs(dir); err == nil {
			dir = full
		}
	}
	return filepath.ToSlash(dir)
}

type skillsNew struct {
	Name        string `arg:"" help:"Lowercase letters, digits and hyphens; at most 64."`
	Description string `help:"What it does and when to use it." default:"Says what this skill does, and when to use it: put the words of the task here." placeholder:"TEXT"`
}

// Run implements the command.
func (n skillsNew) Run(c *cli, s *surroundings) error {
	text, err := n.text()
	if err != nil {
		return err
	}
	dir := ownSkills
	if len(c.Skills.Dir) > 0 {
		dir = c.Skills.Dir[0]
	}
	folder := filepath.Join(dir, n.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	switch err := os.Mkdir(folder, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return &client.Error{Code: string(fault.Conflict), Message: folder + " is there already"}
	case err != nil:
		return fmt.Errorf("make %s: %w", folder, err)
	}
	file := filepath.Join(folder, skill.FileName)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return s.answer(map[string]string{"name": n.Name, "path": filepath.ToSlash(file)},
		"%s is written; check it with %s skills validate %s", file, s.program, folder)
}

// text is the file of the skill, which breaks no rule of the format.
func (n skillsNew) text() ([]byte, error) {
	const body = "# %s\n\n1. Say what to do first.\n2. Name files of this folder where they help, as in `references/guide.md`.\n3. Say how to see that the work is done.\n"
	text := fmt.Appendf(nil, "---\nname: %s\ndescription: %s\n---\n\n"+body, quoted(n.Name), quoted(n.Description), n.Name)
	_, found, _ := skill.Parse(skill.FileName, n.Name, text)
	for _, d := range skill.Strict(found) {
		if d.Severity == skill.Error {
			return nil, &client.Error{Code: string(fault.Invalid), Message: d.Text}
		}
	}
	return text, nil
}

var plainText = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// quoted writes a text so that every reader of YAML takes it for one.
func quoted(text string) string {
	words := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
	if plainText.MatchString(text) && !slices.Contains(words, text) {
		return text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out) // a JSON string is a YAML one
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // strings always encode
	return strings.TrimSpace(out.String())
}
