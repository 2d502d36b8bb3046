package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// skills are the commands about skills. All but push, remove and list --uploaded read files only, and need no stack.
type skills struct {
	Dir     []string `help:"Folder of skills, or of one skill; agent/skills when none is given." placeholder:"PATH"`
	Project string   `help:"Also the skills of a project, in its .steadfast/skills and .agents/skills." placeholder:"PATH"`
	Trust   bool     `help:"Use the skills of --project."`

	List     skillsList     `cmd:"" help:"List the skills and what is wrong with them."`
	Validate skillsValidate `cmd:"" help:"Check skills as strictly as the format allows; status 1 if one breaks it."`
	Show     skillsShow     `cmd:"" help:"Show a skill as the model gets it."`
	Prompt   skillsPrompt   `cmd:"" help:"Print the catalogue that stands in the system prompt."`
	New      skillsNew      `cmd:"" help:"Begin a skill: a folder with a SKILL.md."`
	Pack     skillsPack     `cmd:"" help:"Pack a skill into one file, NAME.skill, for others to unpack or push."`
	Push     skillsPush     `cmd:"" help:"Send a skill to the stack, for your sessions that begin from now on."`
	Remove   skillsRemove   `cmd:"" help:"Take a skill that you sent from the list."`
}

// skillView is a skill for programs.
type skillView struct {
	Name            string            `json:"name"`
	Description     string            `json:"description"`
	Scope           skill.Scope       `json:"scope"`
	Path            string            `json:"path"`
	Shadowed        bool              `json:"shadowed,omitempty"`
	HiddenFromModel bool              `json:"hiddenFromModel,omitempty"`
	HiddenFromUser  bool              `json:"hiddenFromUser,omitempty"`
	License         string            `json:"license,omitempty"`
	Compatibility   string            `json:"compatibility,omitempty"`
	AllowedTools    []string          `json:"allowedTools,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	Files           []string          `json:"files,omitempty"`
	Digest          string            `json:"digest"`
	Content         string            `json:"content,omitempty"`
}

func viewOf(one skill.Skill, shadowed bool) skillView {
	files, _ := one.Resources()
	return skillView{
		Name: one.Name, Description: one.Description, Scope: one.Scope, Path: one.Path, Shadowed: shadowed,
		HiddenFromModel: one.HiddenFromModel, HiddenFromUser: one.HiddenFromUser, License: one.License, Compatibility: one.Compatibility,
		AllowedTools: one.AllowedTools, Metadata: one.Metadata, Files: files, Digest: one.Digest(),
	}
}

func (s *surroundings) answer(value any, format string, args ...any) error {
	out, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	s.print(out, format, args...)
	return nil
}

type skillsList struct {
	Uploaded bool `help:"List the skills that you have sent to the stack, in place of those in folders."`
	Strict   bool `help:"Tell of everything that breaks the format, and end with status 1 if something does."`
}

// Run implements the command.
func (l skillsList) Run(c *cli, s *surroundings) error {
	if l.Uploaded {
		return s.listUploads(c)
	}
	set, found, done, err := c.Skills.load(nil)
	if err != nil {
		return err
	}
	defer done()
	if l.Strict {
		found = skill.Strict(found)
	}
	views := []skillView{}
	for _, one := range set.All() {
		views = append(views, viewOf(one, false))
	}
	for _, one := range set.Shadowed() {
		views = append(views, viewOf(one, true))
	}
	if s.json {
		err = s.answer(map[string]any{"skills": views, "diagnostics": notNil(found)}, "")
	} else {
		err = s.listSkills(views, found)
	}
	if err == nil && l.Strict {
		err = failed(found)
	}
	return err
}

func (s *surroundings) listSkills(views []skillView, found []skill.Diagnostic) error {
	if len(views) == 0 {
		s.note("no skills")
	} else {
		w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SKILL\tFROM\tPATH\tDESCRIPTION")
		for _, v := range views {
			name := v.Name
			if v.Shadowed {
				name += "@" + string(v.Scope) + " (shadowed)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", oneLine(name), v.Scope, v.Path, oneLine(v.Description))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print skills: %w", err)
		}
	}
	s.findings(found)
	return nil
}

func (s *surroundings) findings(found []skill.Diagnostic) {
	for _, d := range found {
		fmt.Fprintln(s.stdout, d)
	}
}

// oneLine is text short enough for a row of a table.
func oneLine(text string) string {
	const most = 72
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func notNil(found []skill.Diagnostic) []skill.Diagnostic {
	return append([]skill.Diagnostic{}, found...)
}

// failed is the error of findings that break the format.
func failed(found []skill.Diagnostic) error {
	n := 0
	for _, d := range found {
		if d.Severity == skill.Error {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &client.Error{Code: string(fault.Invalid), Message: counted(n, "error") + " in skills"}
}

type skillsValidate struct {
	Paths []string `arg:"" optional:"" help:"Skills, or folders of them, in place of --dir."`
}

// Run implements the command.
func (v skillsValidate) Run(c *cli, s *surroundings) error {
	set, found, done, err := c.Skills.load(v.Paths)
	if err != nil {
		return err
	}
	defer done()
	found = skill.Strict(found)
	count := len(set.All()) + len(set.Shadowed())
	if count == 0 && !skill.Failed(found) {
		return &client.Error{Code: string(fault.NotFound), Message: "there is no skill: a folder with a file named " + skill.FileName}
	}
	if s.json {
		err = s.answer(map[string]any{"valid": !skill.Failed(found), "skills": count, "diagnostics": notNil(found)}, "")
	} else {
		s.findings(found)
		s.note("skills read: %d", count)
	}
	if err != nil {
		return err
	}
	return failed(found)
}

type skillsShow struct {
	Name string `arg:"" help:"The skill's name, or name@scope."`
}

// Run implements the command.
func (v skillsShow) Run(c *cli, s *surroundings) error {
	set, _, done, err := c.Skills.load(nil)
	if err != nil {
		return err
	}
	defer done()
	one, ok := set.Get(v.Name)
	if !ok {
		return &client.Error{Code: string(fault.NotFound), Message: fmt.Sprintf("there is no skill %q; steadfast skills list shows what there is", v.Name)}
	}
	view := viewOf(one, false)
	view.Content = one.Content()
	return s.answer(view, "%s", view.Content)
}

type skillsPrompt struct {
	Max int `help:"Characters at most." default:"8000" placeholder:"N"`
}

// Run implements the command.
func (p skillsPrompt) Run(c *cli, s *surroundings) error {
	if p.Max < 1 {
		return &client.Error{Code: string(fault.Invalid), Message: "--max must be at least 1"}
	}
	set, _, done, err := c.Skills.load(nil)
	if err != nil {
		return err
	}
	defer done()
	text := set.Catalog(p.Max)
	if text == "" {
		s.note("no skill that the model sees, so nothing stands in the prompt")
		if !s.json {
			return nil
		}
	}
	return s.answer(map[string]any{"prompt": text}, "%s", text)
}
