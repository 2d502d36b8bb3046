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

// routed is what an event came to for an agent; without one, for a whole type.
type routed struct {
	AgentID  string           `json:"agentId,omitempty"`
	Kind     string           `json:"kind,omitempty"`
	Decision string           `json:"decision"` // as by the rules; not_requested if there is no such task
	TaskID   string           `json:"taskId,omitempty"`
	RunAt    contract.Instant `json:"runAt,omitempty"`
	Until    contract.Instant `json:"until,omitempty"` // when the cooldown ends
	Reason   string           `json:"reason,omitempty"`
}

// notRequested is what a task is that the rules call for, and that nobody has made.
const notRequested = "not_requested"

// routeWait is how long the router has to make a task.
const routeWait = 5 * time.Second

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
	if len(e.Detail) == 0 {
		e.Detail = json.RawMessage(`{}`)
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
		return fmt.Errorf("the event is on the bus, but it fails here as it will in agency-route: %w", err)
	}
	if s.json {
		return s.answer(map[string]any{"event": e.ID, "decisions": made}, "")
	}
	s.print(nil, "%q of %s is on the bus", e.DetailType, e.Source)
	for _, m := range made {
		if m.AgentID == "" {
			s.print(nil, "  %s", m.says())
			continue
		}
		s.print(nil, "  %-10s %-10s %s", m.AgentID, m.Kind, m.says())
	}
	if len(made) == 0 {
		s.print(nil, "  nobody")
	}
	return nil
}

// says is the decision in words.
func (m routed) says() string {
	text := m.Decision
	if m.RunAt != "" {
		text += " for " + string(m.RunAt)
	}
	if m.Until != "" {
		text += " until " + string(m.Until)
	}
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}

// became tells what an event came to: what its gates and the pause allow, and whether the router has made the tasks, in good time.
func (st agencyStack) became(ctx context.Context, s *surroundings, e contract.RawEvent) ([]routed, error) {
	made, err := st.hosted.Foresee(ctx, e)
	if err != nil {
		return nil, err
	}
	all := []routed{}
	deadline := time.Now().Add(routeWait)
	for _, d := range made {
		m := routed{AgentID: d.AgentID, Kind: d.Kind, Decision: string(d.Decision), TaskID: d.TaskID, Reason: d.Reason}
		if !d.Until.IsZero() {
			m.Until = contract.At(d.Until)
		}
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
			m.Decision, m.TaskID, m.Reason = notRequested, "", fmt.Sprintf("there is no task after %s; see the log of agency-route, and its rule in template.yaml", routeWait)
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
