package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

// cold does one operation of a new process. What a program loads before its first line runs is over when main begins.
func cold(ctx context.Context, started time.Time, path string) error {
	if err := emit(mark{Mark: "import", T: at(started)}); err != nil {
		return err
	}
	operations := map[string]func(context.Context) error{"cold-chat": coldChat, "cold-task": coldTask, "cold-light": coldLight}
	if err := operations[path](ctx); err != nil {
		return err
	}
	return emit(mark{Mark: "done", T: at(time.Now()), CPUms: float64(cpu().Microseconds()) / 1000})
}

// coldChat is one streamed turn.
func coldChat(ctx context.Context) error {
	c, err := newChatter()
	if err != nil {
		return err
	}
	if s := c.turn(ctx, "fresh"); s.Error != "" {
		return fmt.Errorf("%s", s.Error)
	}
	return nil
}

// coldTask is a delivery of a task, its turn, and its completion on the bus.
func coldTask(ctx context.Context) error {
	e := edges()
	eng, _ := engine(e, nil)
	r := task.Request{TaskID: uuid.NewString(), Request: request, Principal: task.System("bench"), DeliveryID: uuid.NewString()}
	if _, err := (flow.BindTask{Edges: e.Edges, MaxDepth: e.MaxTaskDepth}).Do(ctx, flow.BindTaskIn{Request: r}); err != nil {
		return err
	}
	if err := eng.Do(ctx, "task-"+r.TaskID); err != nil {
		return err
	}
	t, err := e.Table.Task(ctx, r.TaskID)
	if err == nil && t.Status != task.Completed {
		err = fmt.Errorf("the task is %s: %s", t.Status, t.Error)
	}
	return err
}

// coldLight reads a task that is not there.
func coldLight(ctx context.Context) error {
	if _, err := edges().Table.Task(ctx, uuid.NewString()); !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("read a task that is not there: %v", err)
	}
	return nil
}
