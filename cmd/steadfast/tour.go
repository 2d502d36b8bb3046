package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

const (
	tourPatience = time.Minute // with a stack that is not available
	tourPause    = time.Second
)

// tour is a short demonstration: two messages, the second of which needs the first, and a task.
type tour struct {
	s       *surroundings
	client  *client.Client
	certain bool // the model is the offline one, whose answers are known: what they lack is an error
}

const (
	firstMessage  = "What time is it?"
	secondMessage = "What did I say first?"
	taskRequest   = "Call get_current_time and report what it says."
)

// run prints everything as it streams. An error says what did not work.
func (t tour) run(ctx context.Context) error {
	t.heading("A conversation")
	c := &client.Chat{Client: t.client, SessionID: uuid.NewString()}
	defer c.Close()
	first, err := t.ask(ctx, c, firstMessage)
	if err != nil {
		return err
	}
	second, err := t.ask(ctx, c, secondMessage)
	if err != nil {
		return err
	}
	t.heading("A task")
	task, err := t.task(ctx)
	if err != nil {
		return err
	}
	return t.judge(first, second, task)
}

func (t tour) heading(text string) { t.s.note("\n%s", t.s.bold(text)) }

func (t tour) ask(ctx context.Context, c *client.Chat, text string) (client.Answer, error) {
	var v voice
	t.quote(text)
	var answer client.Answer
	err := patiently(ctx, func() (err error) {
		answer, err = c.Ask(ctx, text, v.listener(t.s))
		return err
	})
	v.endLine(t.s)
	if err != nil {
		return answer, fmt.Errorf("message %q: %w", text, err)
	}
	return answer, nil
}

func (t tour) task(ctx context.Context) (client.Task, error) {
	t.quote(taskRequest)
	var task client.Task
	err := patiently(ctx, func() (err error) {
		task, err = t.client.CreateTask(ctx, client.NewTask{Request: taskRequest})
		return err
	})
	if err == nil {
		task, err = await(ctx, t.client, t.s, task)
	}
	if err != nil {
		return task, fmt.Errorf("task: %w", err)
	}
	t.s.note("task %s: %s", task.TaskID, task.Status)
	return task, t.s.task(task, true)
}

func (t tour) quote(text string) {
	if !t.s.json {
		fmt.Fprintln(t.s.stdout, t.s.bold("> ")+text)
	}
}

// judge compares with what the offline model must have said.
func (t tour) judge(first, second client.Answer, task client.Task) error {
	switch {
	case !t.certain:
		return nil
	case len(first.Tools) == 0:
		return fmt.Errorf("the answer to %q used no tool: %q", firstMessage, first.Text)
	case !strings.Contains(second.Text, firstMessage):
		return fmt.Errorf("the answer to %q does not know the first message: %q", secondMessage, second.Text)
	case !strings.Contains(task.Output, "get_current_time"):
		return fmt.Errorf("the task did not report its tool: %q", task.Output)
	}
	return nil
}

// patiently tries again while the stack says that it is not available, up to tourPatience.
func patiently(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(tourPatience)
	for {
		err := try()
		var told *client.Error
		if err == nil || !errors.As(err, &told) || told.Code != "unavailable" || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tourPause):
		}
	}
}
