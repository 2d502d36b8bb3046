package evals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// one makes a run from nothing. timing.json is the last thing written.
func (r Runner) one(ctx context.Context, j job) error {
	if err := os.RemoveAll(j.dir); err != nil {
		return fmt.Errorf("clear %s: %w", j.dir, err)
	}
	outputs := filepath.Join(j.dir, outputsDir)
	if err := os.MkdirAll(outputs, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", outputs, err)
	}
	root, err := os.OpenRoot(outputs)
	if err != nil {
		return fmt.Errorf("open %s: %w", outputs, err)
	}
	defer root.Close()
	inputs, err := r.Subject.inputs(j.c)
	if err != nil {
		return err
	}
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = 10 * time.Minute
	}
	inner, cancel := context.WithTimeoutCause(ctx, timeout, fault.New(fault.Unavailable, "the run took longer than %v", timeout))
	defer cancel()
	began := r.now()
	s, err := r.converse(inner, j, &files{inputs: inputs, outputs: root})
	took := r.now().Sub(began).Milliseconds()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wrote := writeJSON(filepath.Join(j.dir, transcriptFile), s.transcript)
	if err != nil {
		return errors.Join(err, wrote, writeJSON(filepath.Join(j.dir, failedFile), Failed{Error: err.Error(), DurationMs: took}))
	}
	wrote = errors.Join(wrote, writeFile(filepath.Join(outputs, answerFile), []byte(s.answer+"\n")))
	if wrote != nil {
		return wrote
	}
	return writeJSON(filepath.Join(j.dir, timingFile), Timing{TotalTokens: s.tokens, DurationMs: took})
}

// converse has a case done. With a skill, its instructions come with the task: whether a model would have chosen it is for the
// trigger tests.
func (r Runner) converse(ctx context.Context, j job, f *files) (session, error) {
	tools := slices.Concat(r.Agent.Tools, f.tools())
	subject := r.Subject
	switch j.configuration {
	case WithoutSkill:
		return r.Agent.do(ctx, j.c.Prompt, r.Agent.system(skill.Set{}), tools, nil)
	case OldSkill:
		subject = r.Old
	}
	one := subject.Skill
	one.HiddenFromModel = false // its files are read even so
	set, _ := skill.NewSet(one)
	active := &skill.Active{}
	active.Begin(subject.Skill)
	tools = append(tools, set.Tools(active)...)
	return r.Agent.do(ctx, subject.Skill.Brief(j.c.Prompt), r.Agent.system(skill.Set{}), tools, nil)
}
