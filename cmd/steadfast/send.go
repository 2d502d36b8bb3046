package main

import (
	"encoding/json"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// send admits a message and does not wait for the answer.
type send struct {
	Session    string   `arg:"" help:"The session's id."`
	Message    string   `arg:"" help:"What to say; - reads it from stdin."`
	Admission  string   `help:"What it does to a running turn: preempt interrupts it, coalesce waits, reject refuses." enum:"preempt,coalesce,reject" default:"preempt"`
	File       []string `help:"A file for the session's workspace, also as NAME=PATH; may be given again." placeholder:"PATH" sep:"none"`
	DeliveryID string   `help:"The same id again is the same message." placeholder:"ID"`
}

// Run implements the command.
func (d send) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	var err error
	if d.Message, err = s.message(ctx, d.Message); err != nil {
		return err
	}
	files, err := brought(d.File)
	if err != nil {
		return err
	}
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	raw, err := cl.Send(ctx, d.Session, contract.SendMessage{
		Message: d.Message, Admission: contract.Admission(d.Admission), DeliveryID: d.DeliveryID, Files: files,
	})
	if err != nil {
		return err
	}
	var receipt contract.Delivery
	if err := json.Unmarshal(raw, &receipt); err != nil {
		return &client.Error{Code: "unavailable", Message: "the receipt cannot be read: " + err.Error()}
	}
	s.print(raw, "%s", receipt.DeliveryID)
	return nil
}

// stop ends a session's turn.
type stop struct {
	Session string `arg:"" help:"The session's id."`
	Clear   bool   `help:"Also cancel what waits."`
}

// Run implements the command.
func (t stop) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	raw, err := cl.StopSession(ctx, t.Session, t.Clear)
	if err != nil {
		return err
	}
	var said struct {
		Stopping bool `json:"stopping"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return &client.Error{Code: "unavailable", Message: "the answer cannot be read: " + err.Error()}
	}
	if said.Stopping {
		s.print(raw, "session %s: stop asked for", t.Session)
	} else {
		s.print(raw, "session %s: nothing runs or waits", t.Session)
	}
	return nil
}
