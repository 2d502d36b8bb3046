package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/contract"
)

type agencyRoute struct {
	File string `arg:"" help:"The event as JSON with detail-type, source and detail; - for standard input."`
}

// routed is what an event came to for an agent.
type routed struct {
	AgentID  string           `json:"agentId"`
	Kind     string           `json:"kind"`
	Decision string           `json:"decision"` // as by the rules; not_requested if there is no such task
	TaskID   string           `json:"taskId,omitempty"`
	RunAt    contract.Instant `json:"runAt,omitempty"`
}

// notRequested is what stands for every reason that is the router's own: a cooldown, a key that was used, a pause.
const notRequested = "not_requested"

// Run implements the command.
func (r agencyRoute) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	raw, err := s.readFile(r.File)
	if err != nil {
		return err
	}
	var e contract.RawEvent
	if err := json.Unmarshal(raw, &e); err != nil || e.DetailType == "" || e.Source == "" {
		return &client.Error{Code: "invalid", Message: r.File + " is no event: JSON with detail-type, source and detail is meant"}
	}
	st, err := c.Agency.stack(ctx, c)
	if err != nil {
		return err
	}
	if e.ID, err = st.put(ctx, e.Source, e.DetailType, e.Detail); err != nil {
		return err
	}
	made, err := st.became(ctx, s, e)
	if err != nil {
		return err
	}
	if s.json {
		return s.answer(map[string]any{"event": e.ID, "decisions": made}, "")
	}
	s.print(nil, "%q of %s is on the bus", e.DetailType, e.Source)
	for _, m := range made {
		when := ""
		if m.RunAt != "" {
			when = " for " + string(m.RunAt)
		}
		s.print(nil, "  %-10s %-10s %s%s", m.AgentID, m.Kind, m.Decision, when)
	}
	return nil
}

// became tells what an event came to: whom the rules name, and whether the router has made their tasks, within five seconds.
func (st agencyStack) became(ctx context.Context, s *surroundings, e contract.RawEvent) ([]routed, error) {
	rules, err := dry(agent.Rows{Store: agency.TableStore{Table: st.table}}, time.Now)
	if err != nil {
		return nil, err
	}
	named, err := rules.Route(ctx, e)
	if err != nil {
		return nil, err
	}
	all := []routed{}
	deadline := time.Now().Add(5 * time.Second)
	for _, d := range named {
		m := routed{AgentID: d.AgentID, Kind: d.Kind, Decision: string(d.Decision), TaskID: d.TaskID}
		if d.TaskID != "" {
			if err := st.confirm(ctx, s, &m, deadline); err != nil {
				return nil, err
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// confirm waits for the task.
func (st agencyStack) confirm(ctx context.Context, s *surroundings, m *routed, deadline time.Time) error {
	for {
		t, err := st.table.TaskOrNone(ctx, m.TaskID)
		if err != nil {
			return err
		}
		if t.Status != "" {
			m.RunAt = viewTask(t).RunAt
			return nil
		}
		if time.Now().After(deadline) {
			m.Decision, m.TaskID = notRequested, ""
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.poll / 10):
		}
	}
}

// dry are the hosted types on gates in memory: they send and store nothing.
func dry(app agent.App, now func() time.Time) (agency.Hosted, error) {
	return agent.Persistent(agent.Deployment{
		Store: &agency.MemoryStore{Now: now}, Now: now, App: app,
		Dispatch: agency.DispatchFunc(func(context.Context, agency.AgentTask) error { return nil }),
		Complete: func(context.Context, agency.Completion) error { return nil },
	})
}

// put puts an event on the bus and gives its id.
func (st agencyStack) put(ctx context.Context, source, detailType string, detail any) (id string, err error) {
	raw, err := json.Marshal(detail)
	if err != nil {
		return "", fmt.Errorf("encode %q: %w", detailType, err)
	}
	text := string(raw)
	out, err := st.bus.EventBridge.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{EventBusName: &st.bus.Name, Source: &source, DetailType: &detailType, Detail: &text},
	}})
	if err != nil {
		return "", fmt.Errorf("put %q: %w", detailType, err)
	}
	if len(out.Entries) != 1 || out.Entries[0].EventId == nil {
		return "", fmt.Errorf("the bus did not take %q", detailType)
	}
	return *out.Entries[0].EventId, nil
}
