package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
)

type agencyReplay struct {
	File string    `arg:"" help:"Recorded events, one JSON object a line; - for standard input."`
	Type string    `help:"The agent type." required:"" placeholder:"NAME"`
	At   time.Time `help:"The time at which they all come; each at its own when not given." placeholder:"RFC3339"`
	Rows string    `help:"The example's documents as a JSON file, instead of those of a stack: {\"colleagues\": {...}}." placeholder:"FILE"`
}

// replayed is an event and what was decided.
type replayed struct {
	Event      string            `json:"event"`
	DetailType string            `json:"detailType"`
	At         contract.Instant  `json:"at"`
	Decisions  []agency.Decision `json:"decisions"`
}

// Run implements the command.
func (r agencyReplay) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	raw, err := s.readFile(r.File)
	if err != nil {
		return err
	}
	now := r.At
	types, err := r.types(ctx, c, s, func() time.Time { return now })
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var e contract.RawEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.DetailType == "" {
			return &client.Error{Code: "invalid", Message: fmt.Sprintf("line %d is no event: JSON with id, detail-type, source and detail is meant", n)}
		}
		if r.At.IsZero() {
			if now = e.Time; now.IsZero() {
				return &client.Error{Code: "invalid", Message: fmt.Sprintf("line %d has no time: give --at, or events with one", n)}
			}
		}
		if e.ID == "" {
			e.ID = fmt.Sprint("line-", n)
		}
		made, err := types.Route(ctx, e)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := s.replayed(replayed{e.ID, e.DetailType, contract.At(now), made}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// types is the type alone, on gates in memory. What it looks up comes from the stack, unless rows are given.
func (r agencyReplay) types(ctx context.Context, c *cli, s *surroundings, now func() time.Time) (agency.Hosted, error) {
	var app agent.Rows
	if r.Rows == "" {
		st, err := c.Agency.stack(ctx, c)
		if err != nil {
			return nil, err
		}
		app.Store = agency.TableStore{Table: st.table}
	} else {
		rows, err := s.readRows(ctx, r.Rows)
		if err != nil {
			return nil, err
		}
		app = rows
	}
	hosted, err := dry(app, now)
	if err != nil {
		return nil, err
	}
	a, err := hosted.Type(r.Type)
	return agency.Hosted{a}, err
}

// readRows reads the example's documents from a file.
func (s *surroundings) readRows(ctx context.Context, file string) (agent.Rows, error) {
	raw, err := s.readFile(file)
	if err != nil {
		return agent.Rows{}, err
	}
	var colleagues struct {
		Colleagues map[string]agent.Colleague `json:"colleagues"`
	}
	known := json.NewDecoder(bytes.NewReader(raw))
	known.DisallowUnknownFields()
	if err := known.Decode(&colleagues); err != nil {
		return agent.Rows{}, &client.Error{Code: "invalid", Message: fmt.Sprintf("%s: %v", file, err)}
	}
	rows := agent.Rows{Store: &agency.MemoryStore{}}
	for id, colleague := range colleagues.Colleagues {
		if err := rows.PutColleague(ctx, id, colleague); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (s *surroundings) replayed(r replayed) error {
	if s.json {
		return s.answer(r, "")
	}
	s.print(nil, "%s  %s  %q", r.At, r.Event, r.DetailType)
	for _, d := range r.Decisions {
		line := fmt.Sprintf("  %-10s %-10s %s", d.AgentID, d.Kind, d.Decision)
		if d.Delay > 0 {
			line += " in " + d.Delay.Round(time.Second).String()
		}
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		s.print(nil, "%s", line)
	}
	if len(r.Decisions) == 0 {
		s.print(nil, "  nobody")
	}
	return nil
}
