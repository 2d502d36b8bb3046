package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
	rules "github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
)

type schedulesRun struct {
	ID     string `arg:"" name:"id" help:"The schedule's id."`
	NoWait bool   `help:"Do not watch the session that it begins."`
}

// Run implements the command.
func (r schedulesRun) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	if !client.Loopback(c.URL) {
		return &client.Error{Code: "invalid", Message: "schedules are fired by hand at steadfast dev only: " + c.URL + " is not on this machine"}
	}
	ran, raw, err := client.RunSchedule(ctx, c.URL, r.ID)
	if err != nil {
		return err
	}
	s.print(raw, "schedule %s: %s", ran.ScheduleID, strings.Join(orNone(ran.SessionIDs), ", "))
	if ran.Error != "" {
		return &client.Error{Code: "schedule_failed", Message: "its handler failed: " + ran.Error}
	}
	if r.NoWait {
		return nil
	}
	return s.watch(ctx, c.URL, ran.SessionIDs)
}

func orNone(ids []string) []string {
	if len(ids) == 0 {
		return []string{"no session"}
	}
	return ids
}

// watch tells what happens in the sessions that end by themselves, and gives an error if one fails. They belong to the schedule, so
// they are read from the table.
func (s *surroundings) watch(ctx context.Context, url string, ids []string) error {
	info, err := client.DevInfo(ctx, url)
	if err != nil {
		return err
	}
	table := store.Table{Name: info.Table, DynamoDB: dynamodb.NewFromConfig(localAWS(info.AWS, info.Region))}
	kept, done := s.vigil(ctx, url, turnFunctions)
	defer done()
	for _, id := range ids {
		if err := s.watchOne(kept, table, id); err != nil {
			return outOf(kept, err)
		}
	}
	return nil
}

func (s *surroundings) watchOne(ctx context.Context, table store.Table, id string) error {
	st, err := table.State(ctx, id)
	if err != nil {
		return err
	}
	if st.Mode != rules.TaskRun {
		s.note("session %s is a conversation and goes on", id)
		return nil
	}
	for from := int64(0); ; {
		for e, err := range table.SessionEvents(ctx, id, from) {
			if err != nil {
				return err
			}
			if from = e.Index + 1; e.Type == "message.appended" {
				continue
			}
			if err := s.tell(e); err != nil {
				return err
			}
			switch e.Type {
			case "session.completed":
				return nil
			case "session.failed":
				return &client.Error{Code: "session_failed", Message: "session " + id + " failed"}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(s.poll, 300*time.Millisecond)):
		}
	}
}

func (s *surroundings) tell(e contract.SessionEvent) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	s.print(raw, "%s", scheduleLine(e.Type, e.Data))
	return nil
}
