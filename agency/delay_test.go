package agency_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
)

var profiles = map[string]agency.DelayProfile{
	"prompt": agency.PromptDelay, "conversational": agency.ConversationalDelay, "considered": agency.ConsideredDelay, "routine": agency.RoutineDelay,
}

// profileOf reads a profile: a name or its numbers.
func profileOf(t *testing.T, data json.RawMessage) agency.DelayProfile {
	t.Helper()
	if data[0] == '"' {
		p, ok := profiles[read[string](t, data)]
		if !ok {
			t.Fatalf("no profile %s", data)
		}
		return p
	}
	p := read[struct{ MedianMs, CapMs, DeadlineShare float64 }](t, data)
	return agency.DelayProfile{Median: ms(p.MedianMs), Cap: ms(p.CapMs), DeadlineShare: p.DeadlineShare}
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func TestConformanceResponseDelay(t *testing.T) {
	conform(t, "response_delay.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Profile  json.RawMessage
			Seed     string
			Lever    agency.ResponseDelayLever
			Now      time.Time
			Deadline string
		}](t, input)
		d := agency.ResponseDelay(profileOf(t, in.Profile), agency.DelayInput{Seed: in.Seed, Lever: in.Lever, Now: in.Now}, agency.ReadDeadline(in.Deadline))
		var limit any = "Infinity"
		if d.Limit != agency.NoLimit {
			limit = d.Limit.Milliseconds()
		}
		return object{"delayMs": d.Wait.Milliseconds(), "reason": d.Reason, "limitMs": limit}
	})
}

func ExampleResponseDelay() {
	now := time.Date(2026, 10, 7, 12, 0, 0, 0, time.UTC)
	d := agency.ResponseDelay(agency.ConsideredDelay, agency.DelayInput{
		Seed: "evt-1:rev-1", Lever: agency.ResponseDelayLever{Multiplier: 1}, Now: now,
	}, now.Add(time.Minute))
	fmt.Println(d.Wait, d.Reason)
	// Output: 30s deadline
}
