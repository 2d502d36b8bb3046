package schedule

import "time"

// resolve gives the instant at which clocks in zone show the wall time, which is written as if in UTC. A wall time that occurs
// twice is the first; one that clocks skip is the first instant after the gap, and skipped says so.
func resolve(wall time.Time, zone *time.Location) (at time.Time, skipped bool) {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	changes := around(near)
	for _, t := range append([]time.Time{near}, changes...) {
		for _, offset := range []time.Duration{offsetBefore(t), offsetAt(t)} {
			shown := wall.Add(-offset)
			if offsetAt(shown.In(zone)) == offset && (at.IsZero() || shown.Before(at)) {
				at = shown
			}
		}
	}
	if !at.IsZero() {
		return at.UTC(), false
	}
	for _, change := range changes {
		from, to := change.Add(offsetBefore(change)), change.Add(offsetAt(change)) // wall times, as instants in UTC
		if !wall.Before(from) && wall.Before(to) {
			return change.UTC(), true
		}
	}
	return near.UTC(), false
}

// around gives the changes of clocks before and after t, those that there are.
func around(t time.Time) []time.Time {
	start, end := t.ZoneBounds()
	var changes []time.Time
	for _, c := range []time.Time{start, end} {
		if !c.IsZero() {
			changes = append(changes, c)
		}
	}
	return changes
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func offsetBefore(t time.Time) time.Duration { return offsetAt(t.Add(-time.Nanosecond)) }
