package agency_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

func TestConformanceCheckIn(t *testing.T) {
	conform(t, "check_in.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Fn       string
			Now, At  time.Time
			Schedule *agency.CheckInSchedule
			TimeZone string
			Local    struct{ Year, Month, Day, Hour, Minute int }
		}](t, input)
		switch in.Fn {
		case "checkInMoment", "nextCheckIn":
			return checkIn(in.Fn, in.Now, in.Schedule)
		}
		zone, err := time.LoadLocation(in.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		if in.Fn == "zonedDate" {
			return agency.ZonedDate(in.At, zone)
		}
		l := in.Local
		return contract.At(agency.ZonedTime(time.Date(l.Year, time.Month(l.Month), l.Day, l.Hour, l.Minute, 0, 0, time.UTC), zone))
	})
}

func checkIn(fn string, now time.Time, s *agency.CheckInSchedule) any {
	if s == nil {
		s = &agency.CheckInSchedule{}
	}
	var answer any
	var err error
	if fn == "checkInMoment" {
		answer, err = agency.CheckInMoment(now, *s)
	} else {
		answer, err = agency.NextCheckIn(now, *s)
	}
	if err != nil {
		return object{"error": true}
	}
	return answer
}

func ExampleCheckInMoment() {
	m, err := agency.CheckInMoment(time.Date(2026, 10, 7, 18, 30, 0, 0, time.UTC), agency.CheckInSchedule{})
	fmt.Println(m.Slot, m.Date, m.NextAt, err)
	// Output: afternoon 2026-10-07 2026-10-08T00:00:00.000Z <nil>
}
