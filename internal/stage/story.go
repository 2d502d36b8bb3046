package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/task"
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

// Check reports the first broken promise: one that did not hold at some moment, or about a session at rest a history that no
// model would take, a turn completed although it was stopped, somebody who still holds it, something owed.
func (s *Stage) Check(sessionIDs ...string) error {
	if err := s.Watch.Broken(); err != nil {
		return err
	}
	if refused := s.Model.Refused(); len(refused) > 0 {
		return fmt.Errorf("the model was asked what it refuses: %w", refused[0])
	}
	for _, id := range sessionIDs {
		if err := s.checkSession(id); err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	return s.checkTasks()
}

func (s *Stage) checkSession(id string) error {
	st := s.State(id)
	if st.Phase == session.Deleted {
		return s.checkDeleted(st)
	}
	if st.Owner != "" || st.DueSK != "" || st.Phase == session.Open || st.Pending() > 0 {
		return fmt.Errorf("not at rest: phase %s, pending %d, owner %q, due %q", st.Phase, st.Pending(), st.Owner, st.DueSK)
	}
	if err := s.checkEvents(id); err != nil {
		return err
	}
	return s.checkHistory(st)
}

// checkDeleted: only the tombstone stays.
func (s *Stage) checkDeleted(st session.State) error {
	if rows := s.rows(st.SessionID); len(rows) != 1 {
		return fmt.Errorf("deleted, and %d rows are left: %v", len(rows), rows[0])
	}
	if st.DueSK != "" || st.Owner != "" {
		return fmt.Errorf("deleted, and owner %q, due %q", st.Owner, st.DueSK)
	}
	return nil
}

// checkReceipts: every message whose sender has a receipt is told of.
func (s *Stage) checkReceipts(id string, told map[string]int) error {
	for _, row := range s.rows(id) {
		if delivery, ok := strings.CutPrefix(text(row, key.SK), key.DeliveryPrefix); ok && told[delivery] != 1 {
			return fmt.Errorf("delivery %s was accepted and is told of %d times", delivery, told[delivery])
		}
	}
	return nil
}

func (s *Stage) checkHistory(st session.State) error {
	h, err := s.Edges.Table.History(context.Background(), st.SessionID, st.Tip)
	if err != nil {
		return err
	}
	messages, repaired := snapshot.Repair(h.Messages)
	if len(messages) == 0 {
		return nil
	}
	if repaired && !s.lostWorkers(st.SessionID) {
		return fmt.Errorf("the stored history needs repair: %v", h.Messages)
	}
	request := model.Build(model.Request{Messages: append(messages, model.Text(model.User, "and now?"))})
	return model.Check(request)
}

// lostWorkers reports whether the session's last turn was given up because it kills its workers: then nobody looked at its history,
// and the next turn repairs it.
func (s *Stage) lostWorkers(sessionID string) bool {
	events, err := s.Events(context.Background(), sessionID)
	for _, e := range slices.Backward(events) {
		if e.Type == "turn.failed" || e.Type == "turn.completed" {
			return err == nil && strings.Contains(string(e.Data), task.ReasonWorkerLost)
		}
	}
	return false
}

// checkTasks: every task that ended was told of, and owes nothing.
func (s *Stage) checkTasks() error {
	told := map[string]string{}
	for _, e := range s.Bus.Of(contract.AgentTaskCompleted) {
		var d contract.TaskCompleted
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return err
		}
		told[d.TaskID] = d.Status + " " + d.Error
	}
	for _, row := range s.Dynamo.Items("TASK#") {
		if text(row, key.SK) != key.StatusSK {
			continue
		}
		t := decode(row, &task.Task{})
		switch {
		case !t.Final() || t.CompletionOwed != 0 || t.DueSK != "" || t.Owner != "":
			return fmt.Errorf("task %s is not at rest: %+v", t.TaskID, t)
		case told[t.TaskID] != string(t.Status)+" "+t.Error:
			return fmt.Errorf("task %s is %s %s, last told was %q", t.TaskID, t.Status, t.Error, told[t.TaskID])
		}
	}
	return nil
}
