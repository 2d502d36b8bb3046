package scheduler

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// record is one change of the journal.
type record struct {
	Put       *timetable.Definition `json:"put,omitempty"`
	Delete    string                `json:"delete,omitempty"` // group/name
	Over      string                `json:"over,omitempty"`   // group/name of a one-time schedule that has fired
	Group     string                `json:"group,omitempty"`
	GroupMade time.Time             `json:"groupMade,omitzero"`
	DropGroup string                `json:"dropGroup,omitempty"`
}

// append writes a change; the caller holds the lock.
func (s *Scheduler) append(r record) int64 {
	if s.journal == nil {
		return 0
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("scheduler: a schedule that was read from JSON cannot be written as JSON: %v", err))
	}
	position := s.journal.Append(b)
	if s.journal.Large() {
		if err := s.journal.Compact(s.emitState); err != nil {
			s.cfg.Log.Error("schedule journal stays as it is", "error", err)
		}
	}
	return position
}

func (s *Scheduler) emitState(emit func([]byte) error) error {
	one := func(r record) error {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return emit(b)
	}
	for name, made := range s.groups {
		if err := one(record{Group: name, GroupMade: made}); err != nil {
			return err
		}
	}
	for _, sch := range s.all.All() {
		if s.own[sch] {
			continue
		}
		if err := one(record{Put: &sch.Definition}); err != nil {
			return err
		}
		if sch.Once() && sch.Next.IsZero() {
			if err := one(record{Over: sch.ID()}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Scheduler) replay(b []byte) error {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	switch {
	case r.Put != nil:
		one, err := r.Put.Compile()
		if err != nil {
			return err
		}
		one.Advance(s.cfg.Now())
		s.all.Put(one)
	case r.Delete != "":
		s.all.Remove(r.Delete)
	case r.Over != "":
		if one := s.all.Get(r.Over); one != nil {
			one.Fired(one.Next)
		}
	case r.Group != "":
		s.groups[r.Group] = r.GroupMade
	case r.DropGroup != "":
		s.dropGroup(r.DropGroup)
	}
	return nil
}

func (s *Scheduler) dropGroup(name string) {
	delete(s.groups, name)
	for _, one := range s.all.In(name, "") {
		s.all.Remove(one.ID())
	}
}
