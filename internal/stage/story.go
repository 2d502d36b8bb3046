package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// Story tells what a session came to, without what may differ between runs that went wrong in different places: ids, times,
// numbers of owners, how often a step was begun.
func (s *Stage) Story(sessionID string) string {
	ctx := context.Background()
	st := s.State(sessionID)
	var b strings.Builder
	fmt.Fprintf(&b, "phase %s, pending %d, owner %t, due %t\n", st.Phase, st.Pending(), st.Owner != "", st.DueSK != "")
	events, err := s.Events(ctx, sessionID)
	if err != nil {
		return err.Error()
	}
	for _, e := range events {
		if line := tellEvent(e); line != "" {
			fmt.Fprintln(&b, line)
		}
	}
	h, err := s.Edges.Table.History(ctx, sessionID, st.Tip)
	if err != nil {
		return err.Error()
	}
	for _, m := range h.Messages {
		fmt.Fprintln(&b, tellMessage(m))
	}
	return b.String()
}

func tellEvent(e contract.SessionEvent) string {
	var d struct {
		Text, Result, Status, Error string
		DeliveryIDs                 []string
	}
	_ = json.Unmarshal(e.Data, &d)
	switch e.Type {
	case "turn.completed":
		return e.Type + " " + d.Result
	case "turn.failed":
		return e.Type + " " + d.Status + " " + d.Error
	case "message.received", "nudge.delivered":
		return e.Type + " " + d.Text
	case "session.completed", "session.failed", "session.started":
		return e.Type + " " + d.Result + d.Error
	case "action.result":
		return e.Type + " " + d.Status
	}
	return ""
}

func tellMessage(m model.Message) string {
	data, err := json.Marshal(m.Content)
	if err != nil {
		return err.Error()
	}
	return string(m.Role) + " " + string(data)
}

// Check reports the first broken promise about a session: an index gap, a history that no model would take, somebody who
// still holds it, something owed.
func (s *Stage) Check(sessionID string) error {
	ctx := context.Background()
	events, err := s.Events(ctx, sessionID)
	if err != nil {
		return err
	}
	fence := int64(0)
	for i, e := range events {
		if e.Index != int64(i) {
			return fmt.Errorf("event %d has index %d", i, e.Index)
		}
	}
	rows, err := s.Edges.Table.EventRows(ctx, sessionID, 0)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Fence < fence {
			return fmt.Errorf("event row %d has fence %d after %d", r.Index, r.Fence, fence)
		}
		fence = r.Fence
	}
	return s.checkState(s.State(sessionID))
}

func (s *Stage) checkState(st session.State) error {
	if st.Owner != "" || st.DueSK != "" || st.Phase == session.Open || st.Pending() > 0 {
		return fmt.Errorf("not at rest: phase %s, pending %d, owner %q, due %q", st.Phase, st.Pending(), st.Owner, st.DueSK)
	}
	h, err := s.Edges.Table.History(context.Background(), st.SessionID, st.Tip)
	if err != nil {
		return err
	}
	messages, _ := snapshot.Repair(h.Messages)
	if len(messages) == 0 {
		return nil
	}
	request := model.Build(model.Request{Messages: append(messages, model.Text(model.User, "and now?"))})
	return model.Check(request)
}
