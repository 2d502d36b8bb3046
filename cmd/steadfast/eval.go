package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// eval are the commands that measure what a skill is worth. They need no stack.
type eval struct {
	Workspace string `help:"Folder for the results; SKILL-workspace beside the skill, or below .steadfast/evals for what is in agent/skills." placeholder:"PATH"`

	Init      evalInit      `cmd:"" help:"Begin a skill's evals/evals.json and evals/triggers.json."`
	Run       evalRun       `cmd:"" help:"Run the cases with and without the skill, grade and aggregate them. Goes on where it was interrupted."`
	Grade     evalGrade     `cmd:"" help:"Grade the runs by the assertions as they are now."`
	Aggregate evalAggregate `cmd:"" help:"Compute benchmark.json."`
	Feedback  evalFeedback  `cmd:"" help:"Say what you think of a case's output; an empty text says that it is fine."`
	Report    evalReport    `cmd:"" help:"Write report.html."`
	Compare   evalCompare   `cmd:"" help:"Two iterations side by side; the last two when none are given."`
}

// openSubject opens the skill that is given by path or, if it is one of agent/skills, by name. It must be closed.
func openSubject(arg string) (*evals.Subject, error) {
	subject, err := evals.Open(subjectFolder(arg))
	if fault.Is(err, fault.NotFound) {
		return nil, missingSkill(arg)
	}
	return subject, err
}

// missingSkill is the error of a skill that is not there: it says which are.
func missingSkill(arg string) error {
	message := fmt.Sprintf("there is no skill %s", arg)
	names := ownSkillNames()
	flat := filepath.Join(ownSkills, arg+".md")
	switch _, missing := os.Stat(flat); {
	case missing == nil:
		message = fmt.Sprintf("%s is one file; only a folder has room for evals: make it %s", flat, filepath.Join(ownSkills, arg, skill.FileName))
	case len(names) > 0:
		message += "; " + ownSkills + " has: " + strings.Join(names, ", ")
	default:
		message += ", neither as a folder nor in " + ownSkills
	}
	return &client.Error{Code: string(fault.NotFound), Message: message}
}

func subjectFolder(arg string) string {
	if filepath.Base(arg) == skill.FileName {
		arg = filepath.Dir(arg)
	}
	if _, err := os.Stat(filepath.Join(arg, skill.FileName)); err != nil && !strings.ContainsAny(arg, `/\`) {
		if own := filepath.Join(ownSkills, arg); isFolder(own) {
			return own
		}
	}
	return arg
}

// ownSkillNames are the folders of agent/skills that hold a skill.
func ownSkillNames() (names []string) {
	found, _ := filepath.Glob(filepath.Join(ownSkills, "*", skill.FileName)) // the pattern is sound
	for _, file := range found {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// workspaceOf is where a skill's results go: beside it, but never into what deploys.
func workspaceOf(given string, s *evals.Subject) evals.Workspace {
	if given != "" {
		return evals.Workspace(given)
	}
	name := filepath.Base(s.Dir) + "-workspace"
	parent := filepath.Dir(s.Dir)
	if root, inside := strings.CutSuffix(filepath.ToSlash(parent), "/"+ownSkills); inside {
		return evals.Workspace(filepath.Join(root, ".steadfast", "evals", name))
	}
	return evals.Workspace(filepath.Join(parent, name))
}

// shown is a path as short as it can be said.
func shown(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

type evalInit struct {
	Skill string `arg:"" help:"The skill's folder, or its name in agent/skills."`
}

const firstCases = `{
  "skill_name": %q,
  "evals": [
    {
      "id": 1,
      "name": "first",
      "prompt": "Put the words of a real request here.",
      "expected_output": "What a good answer has, for people.",
      "assertions": [
        {"text": "It names what it asks for", "matches": "[a-z]"},
        {"text": "It does not give up", "lacks": "I cannot"}
      ]
    }
  ]
}
`

const firstQueries = `[
  {"query": "A request that the skill is for.", "should_trigger": true},
  {"query": "Another one, in other words.", "should_trigger": true},
  {"query": "A request that sounds like it, and is for something else.", "should_trigger": false},
  {"query": "Another near miss.", "should_trigger": false}
]
`

// Run implements the command.
func (i evalInit) Run(_ *cli, s *surroundings) error {
	subject, err := openSubject(i.Skill)
	if err != nil {
		return err
	}
	defer subject.Close()
	files := map[string]string{evals.SuiteFile: fmt.Sprintf(firstCases, subject.Skill.Name), evals.TriggerFile: firstQueries}
	var written []string
	for _, name := range []string{evals.SuiteFile, evals.TriggerFile} {
		path := filepath.Join(subject.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, err)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		_, err = f.WriteString(files[name])
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		written = append(written, shown(path))
	}
	if len(written) == 0 {
		return &client.Error{Code: string(fault.Conflict), Message: "the skill has evals already"}
	}
	return s.answer(map[string]any{"written": written}, "%s written; put your own cases there, then run %s eval run %s", strings.Join(written, " and "), s.program, i.Skill)
}

type evalRun struct {
	runsModel
	Skill    string   `arg:"" help:"The skill's folder, or its name in agent/skills."`
	Eval     []string `help:"Only this case, by name or id; may be given several times." placeholder:"NAME"`
	Runs     int      `help:"Of each case, with and without the skill." default:"1" placeholder:"N"`
	Baseline string   `help:"Folder of an earlier version to compare with, in place of no skill." placeholder:"PATH"`
	New      bool     `help:"Begin a new iteration even if nothing has changed."`
	grading
}

// grading are the flags of commands that grade.
type grading struct {
	Judge   string `help:"The model that judges what no check can; the one that runs when not given." placeholder:"SPEC"`
	Scripts bool   `help:"Let the skill's own scripts grade. They run on this machine, as you."`
}

// grader makes who grades.
func (g grading) grader(ctx context.Context, subject *evals.Subject, fallback string, jobs int) (evals.Grader, func(), error) {
	spec := g.Judge
	if spec == "" {
		spec = fallback
	}
	model, stop, err := openModel(ctx, spec)
	return evals.Grader{Subject: subject, Judge: &evals.Judge{Model: model}, Scripts: g.Scripts, Jobs: jobs}, stop, err
}

// Run implements the command.
func (r evalRun) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if r.Runs < 1 {
		return &client.Error{Code: string(fault.Invalid), Message: "--runs must be at least 1"}
	}
	subject, err := openSubject(r.Skill)
	if err != nil {
		return err
	}
	defer subject.Close()
	agent, stop, err := r.agent(ctx)
	if err != nil {
		return err
	}
	defer stop()
	tell, told := s.progressOf()
	runner := evals.Runner{
		Agent: agent, ModelName: r.Model, Subject: subject, Workspace: workspaceOf(c.Eval.Workspace, subject), Only: r.Eval,
		Runs: r.Runs, Jobs: r.Jobs, Timeout: r.Timeout, New: r.New, Progress: tell,
	}
	if r.Baseline != "" {
		if runner.Old, err = openSubject(r.Baseline); err != nil {
			return err
		}
		defer runner.Old.Close()
	}
	release, err := runner.Workspace.Hold()
	if err != nil {
		return err
	}
	defer release()
	ran, failed := runner.Run(ctx)
	told()
	if ran.Dir == "" || ctx.Err() != nil {
		return failed
	}
	grader, stopJudge, err := r.grader(ctx, subject, r.Model, r.Jobs)
	if err != nil {
		return errors.Join(failed, err)
	}
	defer stopJudge()
	_, err = grader.Grade(ctx, ran.Dir)
	return errors.Join(failed, err, s.aggregate(ran.Dir, len(r.Eval) == 0))
}
