package agency

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// CreateTask implements Tasks.
func (s *MemoryStore) CreateTask(_ context.Context, r task.Request) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, ok := s.tasks[r.TaskID]; ok {
		return there, fault.New(fault.Conflict, "task %s exists already", r.TaskID)
	}
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	return s.keep(task.New(r, string(detail), s.now())), nil
}

func (s *MemoryStore) keep(t task.Task) task.Task {
	if s.tasks == nil {
		s.tasks = map[string]task.Task{}
	}
	s.tasks[t.TaskID] = t
	return t
}

// StartTask implements Tasks.
func (s *MemoryStore) StartTask(_ context.Context, r task.Request, c task.Claim) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := s.tasks[r.TaskID]
	if there.Owner == c.Owner && there.Status == task.Running {
		return there, nil
	}
	if !there.Claimable(c.DeliveryID, s.now()) {
		return there, fault.New(fault.Conflict, "task %s is %s", r.TaskID, there.Status)
	}
	detail, err := json.Marshal(r)
	if err != nil {
		return task.Task{}, fault.Wrap(fault.Invalid, err, "task %s", r.TaskID)
	}
	return s.keep(there.Claim(r, string(detail), c.DeliveryID, c.Owner, c.Lease, s.now()).To), nil
}

// held writes a change if the claim still stands.
func (s *MemoryStore) held(c task.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := s.tasks[c.From.TaskID]
	if there.Status != task.Running || there.Fence != c.From.Fence || there.Owner != c.From.Owner {
		return fault.New(fault.Conflict, "task %s is not held any more", c.From.TaskID)
	}
	s.keep(c.To)
	return nil
}

// RenewTask implements Tasks.
func (s *MemoryStore) RenewTask(_ context.Context, claimed task.Task, lease time.Duration) error {
	return s.held(claimed.Renew(lease, s.now()))
}

// FinishTask implements Tasks.
func (s *MemoryStore) FinishTask(_ context.Context, claimed task.Task, r task.Result) error {
	return s.held(claimed.Finish(r, s.now()))
}

// GiveBackTask implements Tasks.
func (s *MemoryStore) GiveBackTask(_ context.Context, claimed task.Task, reason string) error {
	return s.held(claimed.GiveBack(reason, task.Backoff(claimed.Attempt-1), s.now()))
}

// KeepTask implements Tasks: nothing here is forgotten.
func (s *MemoryStore) KeepTask(context.Context, string, time.Time) error { return nil }

// Announced implements Tasks.
func (s *MemoryStore) Announced(_ context.Context, told task.Task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, ok := s.tasks[told.TaskID]; ok && there.CompletionOwed == told.CompletionOwed {
		s.keep(there.Announced().To)
	}
	return nil
}

// Tasks gives a copy of every task.
func (s *MemoryStore) Tasks() map[string]task.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tasks)
}
