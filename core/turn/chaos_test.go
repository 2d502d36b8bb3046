package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// chaos is a world in which deeds happen.
type chaos struct {
	*stage.Stage
	mu       sync.Mutex // of all below: a worker's lease is kept beside its run
	midst    []deed
	races    []race
	answers  []int
	short    bool
	narrow   bool // the model takes little: histories are made shorter
	places   turn.Capacity
	receipts receipts
	lose     int // triggers still to be lost
	sent     int
	tasks    int
	workers  int
	failed   error
	last     int // the last call that something strikes
	depth    int
	back     time.Duration
	trace    []string
}

func (c *chaos) run(ctx context.Context, happen []deed) error {
	c.Stage = stage.New(&fake.Model{Answer: c.answer})
	c.Round = time.Minute
	c.During, c.Watch.Before = c.middle, c.faster
	c.Engine.Limits.Parallel, c.Engine.Capacity = 1+len(c.answers)%2, c.places
	if c.short {
		c.Timeout, c.Engine.HandOff = 10*time.Second, 3*time.Second
	}
	if c.narrow {
		room(c.Stage, 0)
	}
	c.Bus.Drop = func(e fake.Event) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.DetailType != contract.RunAgentTurn || c.lose == 0 {
			return false
		}
		c.lose--
		return true
	}
	for _, d := range happen {
		if err := c.do(ctx, d); err != nil {
			return err
		}
	}
	if c.failed != nil {
		return c.failed
	}
	c.midst, c.races, c.answers, c.lose = nil, nil, nil, 0
	if err := c.settle(ctx); err != nil {
		return err
	}
	if err := vacant(c.Stage); err != nil {
		return err
	}
	if _, err := c.Edges.Table.State(ctx, id); fault.Is(err, fault.NotFound) {
		return c.Check()
	}
	events, err := c.Events(ctx, id)
	if err != nil {
		return err
	}
	return errors.Join(c.Check(append(c.taskSessions(), id)...), c.receipts.check(events))
}

func (c *chaos) taskSessions() []string {
	var ids []string
	for _, row := range c.Dynamo.Items("SESSION#" + contract.TaskSessionPrefix) {
		if parsed, ok := stage.Parse(row); ok && parsed.Kind == "state" {
			ids = append(ids, parsed.Parts[0])
		}
	}
	return ids
}

// settle recovers until nothing happens any more. What was to strike later strikes nothing.
func (c *chaos) settle(ctx context.Context) error {
	for len(c.World.Calls()) < c.last {
		_ = c.as(ctx, func(ctx context.Context) error { _, err := c.Edges.Table.State(ctx, "nobody"); return err })
	}
	c.Clock.Advance(c.back) // a clock that went back does not stay back for ever
	for range 80 {
		before := c.World.Effects()
		err := c.as(ctx, c.Recover)
		if err != nil {
			return fmt.Errorf("recovery: %w", err)
		}
		if c.World.Effects() == before {
			return nil
		}
	}
	return fmt.Errorf("no rest after 80 rounds")
}

// as does something as a worker that may die.
func (c *chaos) as(ctx context.Context, do func(context.Context) error) error {
	c.mu.Lock()
	c.workers++
	name := "worker-" + strconv.Itoa(c.workers)
	c.mu.Unlock()
	ctx = fake.WithWorker(ctx, name)
	defer fake.Kill(ctx)
	return do(ctx)
}

// answer says what the model does: mostly as helpful does, sometimes it fails.
func (c *chaos) answer(req model.Request) fake.Turn {
	kind := 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers) > 0 {
		kind, c.answers = c.answers[0], c.answers[1:]
	}
	calls := fake.Calls("hm", call(10*len(req.Messages), "look_up", "a"), call(10*len(req.Messages)+1, "write_down", "b"))
	switch kind {
	case 1, 2, 3:
		return calls
	case 4:
		return calls.Pausing(700 * time.Millisecond)
	case 5:
		return fake.Say("slow", "ly").Pausing(2 * time.Second)
	case 6:
		return fake.Say("half ", "an answer").Failing(1, fault.New(fault.Unavailable, "overloaded"))
	case 7:
		return fake.Say("half ", "an answer").Failing(1, fault.New(fault.Invalid, "no"))
	}
	return fake.Say("well ", "then")
}

// faster lets the next race happen before a call of the table.
func (c *chaos) faster(string) {
	c.mu.Lock()
	if len(c.races) == 0 {
		c.mu.Unlock()
		return
	}
	if c.races[0].after--; c.races[0].after >= 0 {
		c.mu.Unlock()
		return
	}
	d := c.races[0].deed
	c.races = c.races[1:]
	c.mu.Unlock()
	c.inside(d)
}

// middle lets the next of midst happen in the middle of an answer.
func (c *chaos) middle() {
	c.mu.Lock()
	if len(c.midst) == 0 {
		c.mu.Unlock()
		return
	}
	d := c.midst[0]
	c.midst = c.midst[1:]
	c.mu.Unlock()
	c.inside(d)
}

// inside does a deed while another is under way.
func (c *chaos) inside(d deed) {
	c.mu.Lock()
	c.depth++
	deep := c.depth > 4
	c.mu.Unlock()
	if !deep {
		if err := c.do(context.Background(), d); err != nil {
			c.mu.Lock()
			c.failed = errors.Join(c.failed, err)
			c.mu.Unlock()
		}
	}
	c.mu.Lock()
	c.depth--
	c.mu.Unlock()
}

// note writes a line of what happened.
func (c *chaos) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace = append(c.trace, strings.Repeat("  ", c.depth)+fmt.Sprintf(format, args...))
}

// do does a deed. Only what no deed may do is an error.
func (c *chaos) do(ctx context.Context, d deed) error {
	c.note("%s %d", d.what, d.n)
	err := c.as(ctx, func(ctx context.Context) error { return c.try(ctx, d) })
	c.note("-> %v", err)
	if fault.Is(err, fault.Internal) {
		return err
	}
	return nil
}

func (c *chaos) try(ctx context.Context, d deed) error {
	switch d.what {
	case "send":
		return c.sendOne(ctx, d.n)
	case "stop", "clear":
		_, err := flow.Stop{Edges: c.Edges}.Do(ctx, flow.StopIn{SessionID: id, Caller: stage.User, Clear: d.what == "clear"})
		return err
	case "task":
		return c.bindOne(ctx, d.n)
	case "create task":
		_, err := c.Edges.Table.CreateTask(ctx, request(fmt.Sprintf("t%d", d.n%3), "", "do it"))
		return err
	case "cancel":
		_, err := flow.CancelTask{Edges: c.Edges}.Do(ctx, flow.TaskOf{TaskID: fmt.Sprintf("t%d", d.n%3), Caller: stage.User.ID})
		return err
	case "delete":
		if d.n > 1 {
			return nil // seldom
		}
		c.mu.Lock()
		c.receipts.deleted = true
		c.mu.Unlock()
		_, err := flow.DeleteSession{Edges: c.Edges}.Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
		return err
	case "drain":
		return c.Drain(ctx)
	case "sweep":
		_, err := c.Sweep(ctx)
		return err
	case "take over", "worker":
		if d.what == "take over" {
			c.Clock.Advance(session.Lease + session.Margin + time.Second)
		}
		e := *c.Engine
		e.Remembered = &turn.Memory{}
		return e.Do(ctx, id)
	}
	c.disturb(d)
	return nil
}

// disturb is what no caller does.
func (c *chaos) disturb(d deed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch d.what {
	case "pass":
		c.Clock.Advance([]time.Duration{time.Second, 20 * time.Second, time.Minute, 10 * time.Minute}[d.n%4])
	case "lease over":
		c.Clock.Advance(session.Lease + session.Margin + time.Second)
	case "back":
		by := []time.Duration{time.Second, 10 * time.Second, time.Minute}[d.n%3]
		c.Clock.Advance(-by)
		c.back += by
	case "lose trigger":
		c.lose++
	case "crash":
		mode := []fake.Mode{fake.KillBefore, fake.KillAfter, fake.LoseAnswer, fake.Fail}[d.n%4]
		at := len(c.World.Calls()) + 1 + 3*d.n
		c.last = max(c.last, at)
		c.World.Disturb(fake.Disturbance{At: at, Mode: mode})
	}
}

// sendOne sends a message, now and then one that was sent before.
func (c *chaos) sendOne(ctx context.Context, n int) error {
	c.mu.Lock()
	if n%4 != 3 || c.sent == 0 {
		c.sent++
	}
	number := c.sent
	c.mu.Unlock()
	admission := []contract.Admission{contract.Preempt, contract.Coalesce, contract.Reject}[n%3]
	delivery := fmt.Sprintf("dlv_%d", number)
	_, err := c.Send(ctx, id, fmt.Sprintf("message %d", number), as(admission, delivery))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receipts.note(delivery, admission, err)
	return err
}

// bindOne delivers a task: of its own or in the session, the first delivery, the same again, or another one.
func (c *chaos) bindOne(ctx context.Context, n int) error {
	c.mu.Lock()
	c.tasks++
	number := c.tasks
	c.mu.Unlock()
	r := request(fmt.Sprintf("t%d", n%3), "", "do it")
	if n%2 == 0 {
		r.SessionID = id
	}
	if n > 8 {
		r.DeliveryID = fmt.Sprintf("dlv_retry_%d", number)
	}
	_, err := flow.BindTask{Edges: c.Edges, MaxDepth: 8}.Do(ctx, flow.BindTaskIn{Request: r, EnvelopeID: "envelope"})
	return err
}
