package schedule

import "time"

// Gap says what becomes of a wall time that clocks skip.
type Gap int

// The rules for gaps.
const (
	SkipGap  Gap = iota // nothing on that day, as EventBridge Scheduler does
	AfterGap            // the first instant after the gap
)

// horizon is how many days Next looks ahead: past the eight years between two leap years around 2100.
const horizon = 9 * 366

// Next is the first time after after at which the cron is due in zone, in UTC; zero when there is none.
func (c Cron) Next(after time.Time, zone *time.Location, gap Gap) time.Time {
	local := after.In(zone)
	for n := -1; n < horizon; n++ { // the day before: clocks may have been put back over midnight
		day := time.Date(local.Year(), local.Month(), local.Day()+n, 0, 0, 0, 0, time.UTC)
		if !c.on(day) {
			continue
		}
		if at := c.onDay(day, after, zone, gap); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// on reports whether the cron is due on a day.
func (c Cron) on(day time.Time) bool {
	if c.month>>int(day.Month())&1 == 0 {
		return false
	}
	dayOK, weekdayOK := c.day>>day.Day()&1 == 1, c.weekday>>int(day.Weekday())&1 == 1
	if c.anyDay || c.anyWeekday {
		return dayOK && weekdayOK
	}
	return dayOK || weekdayOK
}

// onDay is the first time on a day after after, zero when there is none. Within a day the first instants of wall times rise with them.
func (c Cron) onDay(day, after time.Time, zone *time.Location, gap Gap) time.Time {
	for hour := range 24 {
		if c.hour>>hour&1 == 0 {
			continue
		}
		for minute := range 60 {
			if c.minute>>minute&1 == 0 {
				continue
			}
			at, skipped := resolve(day.Add(time.Duration(hour*60+minute)*time.Minute), zone)
			if at.After(after) && (!skipped || gap == AfterGap) {
				return at
			}
		}
	}
	return time.Time{}
}

// Upcoming lists the next n times after after.
func (c Cron) Upcoming(after time.Time, zone *time.Location, gap Gap, n int) []time.Time {
	var all []time.Time
	for range n {
		if after = c.Next(after, zone, gap); after.IsZero() {
			break
		}
		all = append(all, after)
	}
	return all
}
