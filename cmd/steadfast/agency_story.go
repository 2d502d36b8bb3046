package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/task"
)

// agencyStory starts the stack on this machine and lives through what a reviewer does in a day, with its delays in seconds.
type agencyStory struct {
	Addr string `help:"Where HTTP and WebSocket listen; with --stay 127.0.0.1:8787 when not given, else any free port." placeholder:"HOST:PORT"`
	Dir  string `help:"Folder of template.yaml; found from here upwards when not given." type:"path" placeholder:"DIR"`
	Stay bool   `help:"Stay up afterwards, to look around."`
}

// quickly is an agent whose delays are three ten-thousandths of a person's, and some of its answers at once.
const quickly = 0.0003

// Run implements the command.
func (a agencyStory) Run(_ *cli, s *surroundings) (err error) {
	ctx, done := s.context()
	defer done()
	if a.Dir == "" {
		if a.Dir, err = projectDir(); err != nil {
			return err
		}
	}
	h, err := s.start(ctx, dev{Addr: a.addr(), Dir: a.Dir}, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	s.note("building the functions; the first time this takes a minute or two")
	if err := h.build(ctx, "agency-route", "agency-task"); err != nil {
		return fmt.Errorf("build the functions: %w", err)
	}
	st, err := openAgency(localAWS(h.info.AWS, h.info.Region), h.info.Table, h.info.Bus)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := (life{agencyStack: st, s: s, rows: agent.Rows{Store: agency.TableStore{Table: st.table}}}).live(ctx); err != nil {
		return err
	}
	s.note("all of it took %s", time.Since(began).Round(time.Second))
	if a.Stay {
		s.note("\nThe stack stays up. In another terminal:")
		for _, command := range []string{"agency show reviewer/ann", "agency tasks reviewer/ann", "agency check-in reviewer", "agency pause reviewer"} {
			s.note("  %s %s --url %s", s.program, command, h.info.HTTP)
		}
		<-ctx.Done()
	}
	return nil
}

// addr is where the story's stack listens: beside one that runs, unless it is to be asked from elsewhere.
func (a agencyStory) addr() string {
	switch {
	case a.Addr != "":
		return a.Addr
	case a.Stay:
		return "127.0.0.1:8787"
	}
	return "127.0.0.1:0"
}

// life is one reviewer's, on a running stack.
type life struct {
	agencyStack
	s    *surroundings
	rows agent.Rows
}

func (l life) live(ctx context.Context) error {
	for _, chapter := range []func(context.Context) error{l.people, l.review, l.promise, l.checkIn, l.show} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell says a line, to programs as {"says"}.
func (l life) tell(format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	_ = l.s.answer(map[string]string{"says": strings.TrimSpace(said)}, "%s", said) // text always encodes
}

const fix = "https://example.com/shop/pull/9"

// pulls are the two pull requests of the story.
func pulls() (first, second agent.PullRequest) {
	first = agent.PullRequest{
		Need: agent.Need{Repo: "shop", PR: 7}, Author: "zoe", CommentID: "comment-1", Reviewers: []string{"ann", "bob"},
		Note: `please call read_reviews, then call final_answer with {"summary":"Fine, but TestCheckout fails now and then. I'll look into it.","followUpTest":"TestCheckout"}`,
	}
	second = agent.PullRequest{Need: agent.Need{Repo: "shop", PR: 8}, Author: "zoe", CommentID: "comment-2", Reviewers: []string{"ann"}}
	return first, second
}

// people writes the rows of the application that the agents work for.
func (l life) people(ctx context.Context) error {
	first, second := pulls()
	slow, sharp := agency.ResponseDelayLever{Multiplier: quickly}, agency.ResponseDelayLever{Multiplier: quickly, ImmediateChance: 1}
	err := errors.Join(
		l.rows.PutColleague(ctx, "ann", agent.Colleague{Persona: agent.Persona{Name: "Ann", Voice: "You are thorough."}, CooldownMinutes: 15, ResponseDelay: &slow}),
		l.rows.PutColleague(ctx, "bob", agent.Colleague{Persona: agent.Persona{Name: "Bob", Voice: "You are brief."}, CooldownMinutes: 15, ResponseDelay: &sharp}),
		l.rows.PutPull(ctx, agent.PullRow{PullRequest: first}), l.rows.PutPull(ctx, agent.PullRow{PullRequest: second}),
		l.rows.PutFlake(ctx, "TestCheckout", agent.FlakeRow{Finding: agent.Finding{Fixed: true, PRURL: fix, Summary: "TestCheckout reads a clock; a fix is proposed."}}),
		l.rows.PutPull(ctx, agent.PullRow{PullRequest: agent.PullRequest{Need: agent.Need{Repo: "shop", PR: 9}}, URL: fix}),
	)
	l.tell("Ann and Bob review the code of a shop. Zoe opens #7; #8 waits for Ann too.")
	return err
}

// review is an event that becomes two tasks.
func (l life) review(ctx context.Context) error {
	first, _ := pulls()
	id, err := l.put(ctx, agent.Source, "Pull Request Opened", first)
	if err != nil {
		return err
	}
	l.tell("\nThe event \"Pull Request Opened\" wakes them, each in its own time:")
	for _, who := range first.Reviewers {
		if err := l.decided(ctx, id, who, "review"); err != nil {
			return err
		}
	}
	l.tell("\nThey review:")
	for _, who := range first.Reviewers {
		if err := l.ended(ctx, agency.TaskID(id, who, "review"), who); err != nil {
			return err
		}
	}
	l.tell("\nWhat Ann still has to do was observed, not said:")
	return l.goals(ctx)
}

// promise is what Ann said she would do, and does.
func (l life) promise(ctx context.Context) error {
	l.tell("\nWhat Ann promised became a task of its own:")
	if err := l.ended(ctx, agency.TaskID("promise:comment-1", "ann", "investigate"), "ann"); err != nil {
		return err
	}
	return l.promises(ctx)
}

// checkIn is Ann coming round by herself, after the world has moved on.
func (l life) checkIn(ctx context.Context) error {
	_, second := pulls()
	err := errors.Join(
		l.rows.PutPull(ctx, agent.PullRow{PullRequest: agent.PullRequest{Need: agent.Need{Repo: "shop", PR: 9}}, URL: fix, Merged: true, Closed: true}),
		l.rows.PutPull(ctx, agent.PullRow{PullRequest: second, Closed: true}),
	)
	if err != nil {
		return err
	}
	a, err := l.hosted.Type("reviewer")
	if err != nil {
		return err
	}
	e, err := a.CheckInEvent(time.Now())
	if err != nil {
		return err
	}
	id, err := l.put(ctx, a.Source(), e.DetailType, e.Detail)
	if err != nil {
		return err
	}
	l.tell("\nThe fix is merged and #8 is closed. Nobody tells Ann; it is time to check in:")
	if err := l.decided(ctx, id, "ann", agency.CheckInKind); err != nil {
		return err
	}
	return l.ended(ctx, agency.TaskID(id, "ann", agency.CheckInKind), "ann")
}

// show is what is left.
func (l life) show(ctx context.Context) error {
	l.tell("\nAnn in the end:")
	if err := l.goals(ctx); err != nil {
		return err
	}
	return l.promises(ctx)
}

// goals prints Ann's agenda.
func (l life) goals(ctx context.Context) error {
	in, err := l.ann(ctx)
	for _, g := range in.Agenda.Goals {
		l.tell("  the goal %s is %s", g.ID, g.Status)
	}
	return err
}

// promises prints how Ann's promises stand.
func (l life) promises(ctx context.Context) error {
	in, err := l.ann(ctx)
	for _, c := range in.Commitments {
		reason := ""
		if c.Decision != nil {
			reason = c.Decision.Reason
		}
		l.tell("  the promise %s to %s is %s: %s", c.ID, c.Counterpart, c.Status, reason)
	}
	return err
}

func (l life) ann(ctx context.Context) (agency.Inspection, error) {
	a, err := l.hosted.Type("reviewer")
	if err != nil {
		return agency.Inspection{}, err
	}
	return a.Inspect(ctx, "ann")
}

// decided waits for the task that an event became for an agent, and tells when it runs.
func (l life) decided(ctx context.Context, eventID, who, kind string) error {
	t, err := l.until(ctx, agency.TaskID(eventID, who, kind), func(task.Task) bool { return true })
	if err != nil {
		return err
	}
	v := viewTask(t)
	when := "at once"
	if at, err := v.RunAt.Time(); err == nil {
		when = "in " + at.Sub(time.UnixMilli(t.CreatedAt)).Round(100*time.Millisecond).String()
	}
	l.tell("  %s: %s, %s", who, v.Kind, when)
	return nil
}

// ended waits for a task's end and tells it.
func (l life) ended(ctx context.Context, taskID, who string) error {
	t, err := l.until(ctx, taskID, task.Task.Final)
	if err != nil {
		return err
	}
	v := viewTask(t)
	l.tell("  %s: %s %s: %s%s", who, v.Kind, v.Status, v.Output, v.Error)
	if t.Status != task.Completed {
		return fmt.Errorf("the task %s of %s ended %s: %s", v.Kind, who, t.Status, t.Error)
	}
	return nil
}

// until polls a task until it is as wanted, for two minutes at most.
func (l life) until(ctx context.Context, taskID string, ok func(task.Task) bool) (task.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		t, err := l.table.TaskOrNone(ctx, taskID)
		if err != nil || t.Status != "" && ok(t) {
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, fmt.Errorf("task %s is %q still: %w", taskID, t.Status, ctx.Err())
		case <-time.After(l.s.poll / 10):
		}
	}
}
