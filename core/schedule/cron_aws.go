package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Expressions writes the cron as EventBridge Scheduler has it: six fields, weekdays 1 to 7 from Sunday, ? in one of the day
// fields. There are two when either day counts; a minute that both name is one firing.
func (c Cron) Expressions() []string {
	day, weekday := values(c.day, 1, 31, 0), values(c.weekday, 0, 6, 1)
	var all []string
	if c.anyWeekday || !c.anyDay && c.dayComes() {
		all = append(all, c.expression(day, "?"))
	}
	if !c.anyWeekday {
		all = append(all, c.expression("?", weekday))
	}
	return all
}

func (c Cron) expression(day, weekday string) string {
	return fmt.Sprintf("cron(%s %s %s %s %s *)", values(c.minute, 0, 59, 0), values(c.hour, 0, 23, 0), day, values(c.month, 1, 12, 0), weekday)
}

// values writes the bits from low to top as a list of values and ranges, each moved by shift.
func values(bits uint64, low, top, shift int) string {
	var parts []string
	for v := low; v <= top; v++ {
		if bits>>v&1 == 0 {
			continue
		}
		last := v
		for last < top && bits>>(last+1)&1 == 1 {
			last++
		}
		switch {
		case v == low && last == top:
			return "*"
		case last > v+1:
			parts = append(parts, fmt.Sprintf("%d-%d", v+shift, last+shift))
		case last > v:
			parts = append(parts, strconv.Itoa(v+shift), strconv.Itoa(last+shift))
		default:
			parts = append(parts, strconv.Itoa(v+shift))
		}
		v = last
	}
	return strings.Join(parts, ",")
}
