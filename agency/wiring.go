package agency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Wiring is what a type needs of the deployment that hosts it: rules that bring it its events, and schedules of its check-ins.
type Wiring struct {
	Name        string
	Source      string           // of its own events, check-ins and tasks
	Sources     []string         // of the apps' events; nil: every source
	DetailTypes []string         // of events that wake it; check-ins are not among them
	CheckIns    *CheckInSchedule // nil: it has none
}

// Wiring tells what the type needs.
func (a *Agent) Wiring() Wiring {
	w := Wiring{Name: a.name, Source: a.source, Sources: slices.Clone(a.sources)}
	for _, r := range a.rules {
		if r.DetailType != CheckInDetailType && !slices.Contains(w.DetailTypes, r.DetailType) {
			w.DetailTypes = append(w.DetailTypes, r.DetailType)
		}
	}
	slices.Sort(w.DetailTypes)
	if a.checkIn != nil {
		s := a.checkIn.Schedule.orDefault()
		w.CheckIns = &s
	}
	return w
}

func (s CheckInSchedule) orDefault() CheckInSchedule {
	if s.TimeZone == "" && s.Slots == nil {
		return DefaultCheckIns()
	}
	return s
}

// Crons are the slots as schedule expressions of EventBridge, one for each minute of the hour that slots have.
func (s CheckInSchedule) Crons() []string {
	hours := map[int][]int{}
	for _, slot := range s.orDefault().Slots {
		hours[slot.Minute] = append(hours[slot.Minute], slot.Hour)
	}
	var all []string
	for minute, at := range hours {
		slices.Sort(at)
		var list []string
		for _, h := range slices.Compact(at) {
			list = append(list, fmt.Sprint(h))
		}
		all = append(all, fmt.Sprintf("cron(%d %s * * ? *)", minute, strings.Join(list, ",")))
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(a, b) })
	return all
}
