package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// events are the commands about a session's stream. Each event is a line of JSON on stdout, with --json or without.
type events struct {
	Tail eventsTail `cmd:"" help:"Replay a session's events, then follow them."`
	Dump eventsDump `cmd:"" help:"Print the events that a session has now."`
}

type eventsTail struct {
	Session   string `arg:"" help:"The session's id."`
	From      int64  `help:"Index of the first event." placeholder:"N"`
	UntilIdle bool   `help:"End when nothing runs or waits."`
}

// Run implements the command.
func (e eventsTail) Run(c *cli, s *surroundings) error {
	ctx, over := s.context()
	defer over()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	tail := &client.Tail{Client: cl, SessionID: e.Session, From: e.From, UntilIdle: e.UntilIdle, Retry: s.poll}
	kept, done := s.vigil(ctx, devOf(cl), turnFunctions)
	defer done()
	return outOf(kept, tail.Run(kept, s.line))
}

type eventsDump struct {
	Session string `arg:"" help:"The session's id."`
	From    int64  `help:"Index of the first event." placeholder:"N"`
}

// Run implements the command.
func (e eventsDump) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	return cl.Events(ctx, e.Session, e.From, s.line)
}

func (s *surroundings) line(l client.Line) error {
	_, err := fmt.Fprintf(s.stdout, "%s\n", l.Raw)
	return err
}

// trajectory prints what a saved stream tells of each turn, a line of JSON each, in the shape that chat --json ends a turn with.
type trajectory struct {
	Events string `help:"File with a session's events, as events dump prints them; - reads stdin." required:"" placeholder:"FILE"`
}

// Run implements the command.
func (t trajectory) Run(s *surroundings) error {
	from := s.stdin
	if t.Events != "-" {
		f, err := os.Open(t.Events)
		if err != nil {
			return &client.Error{Code: "not_found", Message: err.Error()}
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	return s.trajectories(from)
}

func (s *surroundings) trajectories(from io.Reader) error {
	for answer, err := range client.Trajectories(from) {
		if err != nil {
			return err
		}
		raw, err := json.Marshal(typed{"answer", answer})
		if err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		fmt.Fprintln(s.stdout, string(raw))
	}
	return nil
}
