package scheduler

import (
	"net/http"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

func (s *Scheduler) groupARN(name string) string {
	return "arn:aws:scheduler:" + s.cfg.Stack.Region + ":" + s.cfg.Stack.Account + ":schedule-group/" + name
}

func (s *Scheduler) createGroup(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if err := timetable.CheckGroup(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if _, ok := s.groups[name]; ok {
		s.mu.Unlock()
		return nil, timetable.Conflict("Schedule group", name)
	}
	made := s.cfg.Now().UTC()
	s.groups[name] = made
	position := s.append(record{Group: name, GroupMade: made})
	s.mu.Unlock()
	return map[string]string{"ScheduleGroupArn": s.groupARN(name)}, s.journal.Wait(position)
}

func (s *Scheduler) getGroup(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("name")
	made, ok := s.groups[name]
	if !ok {
		return nil, timetable.Missing("Schedule group", name)
	}
	return summary{Arn: s.groupARN(name), Name: name, State: "ACTIVE", CreationDate: timetable.At(made), LastModificationDate: timetable.At(made)}, nil
}

// deleteGroup takes the group's schedules with it, at once; AWS takes a while.
func (s *Scheduler) deleteGroup(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if name == timetable.DefaultGroup {
		return nil, timetable.Invalid("The default schedule group cannot be deleted.")
	}
	s.mu.Lock()
	if _, ok := s.groups[name]; !ok {
		s.mu.Unlock()
		return nil, timetable.Missing("Schedule group", name)
	}
	s.dropGroup(name)
	position := s.append(record{DropGroup: name})
	s.mu.Unlock()
	return struct{}{}, s.journal.Wait(position)
}

func (s *Scheduler) listGroups(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []summary
	for name, made := range s.groups {
		if strings.HasPrefix(name, r.URL.Query().Get("NamePrefix")) {
			all = append(all, summary{Arn: s.groupARN(name), Name: name, State: "ACTIVE", CreationDate: timetable.At(made), LastModificationDate: timetable.At(made)})
		}
	}
	page, token, err := paginate(all, r)
	return map[string]any{"ScheduleGroups": page, "NextToken": token}, err
}
