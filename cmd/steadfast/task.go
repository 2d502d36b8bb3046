package main

import (
	"context"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// tasks are the commands about tasks.
type tasks struct {
	Run    taskRun    `cmd:"" help:"Start a task."`
	Get    taskGet    `cmd:"" help:"Show a task."`
	Cancel taskCancel `cmd:"" help:"Cancel a task."`
}

type taskRun struct {
	Request string `arg:"" help:"What to do."`
	Wait    bool   `help:"Wait for the end and print the output."`
	Session string `help:"Run it in this session instead of one of its own." placeholder:"ID"`
	System  string `help:"Run it as this system, which needs a grant." placeholder:"ID"`
}

// Run implements the command.
func (t taskRun) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	task, err := cl.CreateTask(ctx, client.NewTask{Request: t.Request, SessionID: t.Session, System: t.System})
	if err != nil {
		return err
	}
	if t.Wait {
		if task, err = await(ctx, cl, s, task); err != nil {
			return err
		}
	}
	return s.task(task, t.Wait)
}

// await polls until the task is final. It bears an answer that fails for a while.
func await(ctx context.Context, cl *client.Client, s *surroundings, t client.Task) (client.Task, error) {
	if !t.Final() {
		s.note("task %s: %s", t.TaskID, t.Status)
	}
	ctx, done := s.vigil(ctx, devOf(cl), taskFunctions)
	defer done()
	pause := s.poll / 8 // most tasks are short
	for failures := 0; !t.Final(); {
		select {
		case <-ctx.Done():
			s.note("task %s goes on: %s task get %s", t.TaskID, s.program, t.TaskID)
			return t, outOf(ctx, ctx.Err())
		case <-time.After(pause):
			pause = min(2*pause, s.poll)
		}
		next, err := cl.Task(ctx, t.TaskID)
		var told *client.Error
		if err != nil {
			if failures++; ctx.Err() == nil && (failures > 10 || !errors.As(err, &told) || told.Code != "unavailable") {
				return t, err
			}
			continue
		}
		failures = 0
		if next.Status != t.Status && !next.Final() {
			s.note("task %s: %s", t.TaskID, next.Status)
		}
		t = next
	}
	return t, nil
}

type taskGet struct {
	ID string `arg:"" name:"id" help:"The task's id."`
}

// Run implements the command.
func (t taskGet) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	task, err := cl.Task(ctx, t.ID)
	if err != nil {
		return err
	}
	return s.task(task, false)
}

type taskCancel struct {
	ID string `arg:"" name:"id" help:"The task's id."`
}

// Run implements the command.
func (t taskCancel) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	task, err := cl.CancelTask(ctx, t.ID)
	if err != nil {
		return err
	}
	if len(task.Raw) == 0 {
		task.Raw = []byte(`{}`)
	}
	s.print(task.Raw, "task %s: cancel asked for", t.ID)
	return nil
}

// task prints a task. One that was waited for prints its output alone, and is an error when it did not complete.
func (s *surroundings) task(t client.Task, waited bool) error {
	switch {
	case s.json:
		s.print(t.Raw, "")
	case waited && t.Status == "COMPLETED":
		s.print(nil, "%s", t.Output)
	case !waited:
		s.print(nil, "task    %s\nstatus  %s", t.TaskID, t.Status)
		for _, line := range []struct{ name, text string }{{"output", t.Output}, {"error", t.Error}, {"used", usageText(t.Usage)}} {
			if line.text != "" {
				s.print(nil, "%-7s %s", line.name, line.text)
			}
		}
	}
	if waited && t.Status != "COMPLETED" {
		return &client.Error{Code: "task_failed", Message: "task " + t.TaskID + " ended " + t.Status + ": " + t.Error}
	}
	return nil
}
