package scheduler

import (
	"net/http"
	"regexp"
	"strings"
)

func (s *Scheduler) groupARN(name string) string {
	return "arn:aws:scheduler:" + s.cfg.Stack.Region + ":" + s.cfg.Stack.Account + ":schedule-group/" + name
}

func (s *Scheduler) createGroup(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if !regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`).MatchString(name) {
		return nil, constraint("Name", name, "Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]{1,64}$")
	}
	s.mu.Lock()
	if _, ok := s.groups[name]; ok {
		s.mu.Unlock()
		return nil, conflict("Schedule group", name)
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
		return nil, missing("Schedule group", name)
	}
	return summary{Arn: s.groupARN(name), Name: name, State: "ACTIVE", CreationDate: epoch(made), LastModificationDate: epoch(made)}, nil
}

// deleteGroup takes the group's schedules with it, at once; AWS takes a while.
func (s *Scheduler) deleteGroup(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if name == defaultGroup {
		return nil, invalid("The default schedule group cannot be deleted.")
	}
	s.mu.Lock()
	if _, ok := s.groups[name]; !ok {
		s.mu.Unlock()
		return nil, missing("Schedule group", name)
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
			all = append(all, summary{Arn: s.groupARN(name), Name: name, State: "ACTIVE", CreationDate: epoch(made), LastModificationDate: epoch(made)})
		}
	}
	page, token, err := paginate(all, r)
	return map[string]any{"ScheduleGroups": page, "NextToken": token}, err
}
