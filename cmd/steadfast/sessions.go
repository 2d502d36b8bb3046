package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/recall"
)

// sessions are the commands about sessions.
type sessions struct {
	List   sessionsList   `cmd:"" help:"List your sessions, newest first."`
	Show   sessionsShow   `cmd:"" help:"Show a session."`
	Delete sessionsDelete `cmd:"" help:"Delete a session and everything in it."`
}

type sessionsList struct {
	Limit int `help:"At most so many." default:"50" placeholder:"N"`
}

// Run implements the command.
func (l sessionsList) Run(c *cli, s *surroundings) error {
	if l.Limit < 1 {
		return &client.Error{Code: "invalid", Message: "--limit must be at least 1"}
	}
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	all, err := cl.Sessions(ctx, l.Limit)
	if err != nil {
		return err
	}
	return s.list(all)
}

func (s *surroundings) list(all []client.Session) error {
	if s.json {
		raw := []json.RawMessage{}
		for _, one := range all {
			raw = append(raw, one.Raw)
		}
		out, err := json.Marshal(map[string]any{"sessions": raw})
		if err != nil {
			return fmt.Errorf("encode sessions: %w", err)
		}
		s.print(out, "")
		return nil
	}
	if len(all) == 0 {
		s.note("no sessions yet")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tCREATED\tTITLE")
	for _, one := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", one.SessionID, one.CreatedAt, one.Title)
	}
	return w.Flush()
}

type sessionsShow struct {
	ID string `arg:"" name:"id" help:"The session's id."`
}

// Run implements the command.
func (l sessionsShow) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	raw, err := cl.SessionByID(ctx, l.ID)
	if err != nil {
		return err
	}
	s.print(raw, "%s", indented(raw))
	return nil
}

type sessionsDelete struct {
	ID string `arg:"" name:"id" help:"The session's id."`
}

// Run implements the command.
func (l sessionsDelete) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	if err := cl.DeleteSession(ctx, l.ID); err != nil {
		return err
	}
	book, err := s.recalled()
	if err != nil {
		return err
	}
	if err := book.Forget(l.ID); err != nil {
		return err
	}
	out, err := json.Marshal(map[string]any{"sessionId": l.ID, "deleted": true})
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	s.print(out, "session %s is deleted", l.ID)
	return nil
}

// recalled gives the book of last sessions.
func (s *surroundings) recalled() (recall.Book, error) {
	if s.book.Path != "" {
		return s.book, nil
	}
	return recall.Default()
}

func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(raw), "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
