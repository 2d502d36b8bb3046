package scheduler

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

type summary struct {
	Arn, Name                          string
	GroupName                          string                `json:",omitempty"`
	State                              string                `json:",omitempty"`
	Target                             *struct{ Arn string } `json:",omitempty"`
	CreationDate, LastModificationDate timetable.Epoch
}

func (s *Scheduler) list(r *http.Request) (any, error) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	group := q.Get("ScheduleGroup")
	if _, ok := s.groups[group]; group != "" && !ok {
		return nil, timetable.Missing("Schedule group", group)
	}
	var all []summary
	for _, one := range s.all.In(group, q.Get("NamePrefix")) {
		if q.Get("State") == "" || one.State == q.Get("State") {
			all = append(all, summary{
				Arn: s.arn(one.Definition), Name: one.Name, GroupName: one.GroupName, State: one.State, Target: &struct{ Arn string }{one.Target.Arn},
				CreationDate: timetable.At(one.Created), LastModificationDate: timetable.At(one.Modified),
			})
		}
	}
	page, token, err := paginate(all, r)
	return map[string]any{"Schedules": page, "NextToken": token}, err
}

// paginate sorts by ARN and cuts out a page; the token is the ARN of its last element.
func paginate(all []summary, r *http.Request) (page []summary, token *string, err error) {
	q, limit := r.URL.Query(), 100
	if m := q.Get("MaxResults"); m != "" {
		if limit, err = strconv.Atoi(m); err != nil || limit < 1 || limit > 100 {
			return nil, nil, timetable.Constraint("MaxResults", m, "Member must be between 1 and 100")
		}
	}
	slices.SortFunc(all, func(a, b summary) int { return strings.Compare(a.Arn, b.Arn) })
	page = slices.DeleteFunc(all, func(x summary) bool { return x.Arn <= q.Get("NextToken") })
	if len(page) > limit {
		page = page[:limit]
		token = &page[limit-1].Arn
	}
	return append([]summary{}, page...), token, nil
}
