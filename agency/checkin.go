package agency

import (
	"slices"
	"time"
	_ "time/tzdata" // where functions run there may be no zones

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Check-ins:
//
//	        morning        afternoon       evening       morning (next day)
//	───────────●───────────────●──────────────●───────────────●────▶
//	                                    now ▲
//	                 current: afternoon ┘      └ next: evening

// CheckInSlot is a time of day at which agents show up unasked.
type CheckInSlot struct {
	Slot   string `json:"slot"`
	Hour   int    `json:"hour"`
	Minute int    `json:"minute,omitempty"`
}

// CheckInSchedule is the slots of every day in a time zone. The zero value is 9:00, 14:00 and 20:00 in New York.
type CheckInSchedule struct {
	TimeZone string        `json:"timeZone"` // IANA name
	Slots    []CheckInSlot `json:"slots"`
}

// DefaultCheckIns is the schedule that the zero value stands for.
func DefaultCheckIns() CheckInSchedule {
	return CheckInSchedule{TimeZone: "America/New_York", Slots: []CheckInSlot{
		{Slot: "morning", Hour: 9}, {Slot: "afternoon", Hour: 14}, {Slot: "evening", Hour: 20},
	}}
}

// Moment is the check-in that a point in time belongs to.
type Moment struct {
	Slot   string           `json:"slot"`
	Date   string           `json:"date"` // local, YYYY-MM-DD
	At     contract.Instant `json:"at"`
	NextAt contract.Instant `json:"nextAt"`
}

// Upcoming is the check-in that comes next.
type Upcoming struct {
	Slot string           `json:"slot"`
	At   contract.Instant `json:"at"`
}

// occurrence is a slot on a day.
type occurrence struct {
	slot, date string
	at         time.Time
	zone       *time.Location
}

// CheckInMoment gives the last check-in at or before now, exactly as the TypeScript package does: its date is that of the slot's
// instant, so where clocks change at midnight two days may share one. What Define emits has the day the slot belongs to. Faults:
// Invalid for a schedule without slots or an unknown zone.
func CheckInMoment(now time.Time, s CheckInSchedule) (Moment, error) {
	m, current, err := moment(now, s)
	if err == nil {
		m.Date = zonedDate(current.at, current.zone)
	}
	return m, err
}

// moment dates a check-in by the day its slot belongs to.
func moment(now time.Time, s CheckInSchedule) (Moment, occurrence, error) {
	current, next, err := around(now, s)
	if err != nil {
		return Moment{}, current, err
	}
	return Moment{Slot: current.slot, Date: current.date, At: contract.At(current.at), NextAt: contract.At(next.at)}, current, nil
}

// NextCheckIn gives the first check-in after now. Faults as CheckInMoment.
func NextCheckIn(now time.Time, s CheckInSchedule) (Upcoming, error) {
	_, next, err := around(now, s)
	return Upcoming{Slot: next.slot, At: contract.At(next.at)}, err
}

// around gives the check-ins before (or at) and after now, among those of yesterday, today and tomorrow.
func around(now time.Time, s CheckInSchedule) (current, next occurrence, err error) {
	s = s.orDefault()
	zone, err := s.zone()
	if err != nil {
		return current, next, err
	}
	all := s.occurrences(now, zone)
	for _, o := range all {
		if !o.at.After(now) {
			current = o
		} else if next.at.IsZero() {
			next = o
		}
	}
	return current, next, nil
}

func (s CheckInSchedule) zone() (*time.Location, error) {
	if len(s.Slots) == 0 {
		return nil, fault.New(fault.Invalid, "a check-in schedule needs a slot")
	}
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "check-in time zone %q", s.TimeZone)
	}
	return zone, nil
}

func (s CheckInSchedule) occurrences(now time.Time, zone *time.Location) []occurrence {
	year, month, day := now.In(zone).Date()
	var all []occurrence
	for shift := -1; shift <= 1; shift++ {
		date := time.Date(year, month, day+shift, 0, 0, 0, 0, time.UTC)
		for _, slot := range s.Slots {
			wall := date.Add(time.Duration(slot.Hour)*time.Hour + time.Duration(slot.Minute)*time.Minute)
			all = append(all, occurrence{slot.Slot, wall.Format(time.DateOnly), zonedTime(wall, zone), zone})
		}
	}
	slices.SortStableFunc(all, func(a, b occurrence) int { return a.at.Compare(b.at) })
	return all
}

// zonedTime gives the instant of a wall clock time, given as if it were UTC: the zone's offset at the wall time, then the offset at
// that guess. A skipped time lands before the jump in the west and after it in the east.
func zonedTime(wall time.Time, zone *time.Location) time.Time {
	guess := wall.Add(-offset(wall, zone))
	return wall.Add(-offset(guess, zone))
}

// offset is the zone's distance from UTC in whole minutes.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return (time.Duration(seconds) * time.Second).Round(time.Minute)
}

// zonedDate is the local date of an instant.
func zonedDate(at time.Time, zone *time.Location) string { return at.In(zone).Format(time.DateOnly) }
