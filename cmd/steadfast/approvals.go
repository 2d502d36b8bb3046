package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// approvals are the commands about calls that wait for a person.
type approvals struct {
	List    approvalsList `cmd:"" help:"List the calls of a session that people were asked about."`
	Approve approve       `cmd:"" help:"Let a call run."`
	Deny    deny          `cmd:"" help:"Do not let a call run; the agent is told, and goes on."`
}

type approvalsList struct {
	Session string `arg:"" help:"The session's id."`
	Pending bool   `help:"Only those that wait."`
}

// Run implements the command.
func (l approvalsList) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	all, raw, err := cl.Approvals(ctx, l.Session)
	if err != nil {
		return err
	}
	if l.Pending {
		all.Approvals = pending(all.Approvals)
		if raw, err = json.Marshal(all); err != nil {
			return fmt.Errorf("encode approvals: %w", err)
		}
	}
	if s.json {
		s.print(raw, "")
		return nil
	}
	if len(all.Approvals) == 0 {
		s.note("no call waits")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tSTATUS\tTOOL\tINPUT\tUNTIL")
	for _, a := range all.Approvals {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.ActionID, a.Status, a.Name, short(a.Input), a.ExpiresAt)
	}
	return w.Flush()
}

func pending(all []contract.Approval) []contract.Approval {
	waiting := []contract.Approval{}
	for _, a := range all {
		if a.Status == "pending" {
			waiting = append(waiting, a)
		}
	}
	return waiting
}

// short is an input on one line, cut when it is long.
func short(input json.RawMessage) string {
	const most = 80
	line := []rune(compact(input))
	if len(line) > most {
		return string(line[:most]) + "…"
	}
	return string(line)
}

// verdict is what the commands that decide have in common.
type verdict struct {
	Session string `arg:"" help:"The session's id."`
	Call    string `arg:"" help:"The call's id, as list prints it."`
	Reason  string `help:"Why; of a denied call the agent reads it." placeholder:"TEXT"`
}

type approve struct{ verdict }

// Run implements the command.
func (a approve) Run(c *cli, s *surroundings) error { return a.decide(c, s, contract.Approve) }

type deny struct{ verdict }

// Run implements the command.
func (d deny) Run(c *cli, s *surroundings) error { return d.decide(c, s, contract.Deny) }

func (v verdict) decide(c *cli, s *surroundings, what contract.Verdict) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	a, raw, err := cl.Decide(ctx, v.Session, v.Call, contract.DecideApproval{Decision: what, Reason: v.Reason})
	if err != nil {
		return err
	}
	s.print(raw, "call %s: %s", a.ActionID, decided(a.Status))
	return nil
}

// decided is a status as people say it: what runs was approved.
func decided(status string) string {
	if status == "executing" {
		return "approved"
	}
	return status
}
