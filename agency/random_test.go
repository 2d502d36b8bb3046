package agency_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
)

func TestConformanceRandom(t *testing.T) {
	conform(t, "random.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Fn, Text, EventID, AgentID, Kind string
			Seed                             any
			Chance                           float64
			Cooldown                         *struct{ Slot string }
		}](t, input)
		switch in.Fn {
		case "hashString":
			return agency.HashString(in.Text)
		case "seededRandom":
			return stream(seedText(in.Seed))
		case "seededRoll":
			return agency.SeededRoll(in.Chance, seedText(in.Seed))
		case "taskIdFor":
			return agency.TaskID(in.EventID, in.AgentID, in.Kind)
		case "cooldownSlot":
			if in.Cooldown == nil {
				return agency.CooldownSlot(in.AgentID, in.Kind, nil)
			}
			return agency.CooldownSlot(in.AgentID, in.Kind, &agency.Cooldown{Slot: in.Cooldown.Slot})
		}
		t.Fatalf("no function %q", in.Fn)
		return nil
	})
}

func seedText(seed any) string {
	if n, ok := seed.(float64); ok {
		return agency.NumberText(n)
	}
	return seed.(string)
}

func stream(seed string) object {
	next := agency.SeededRandom(seed)
	var outputs []float64
	var raw []uint32
	for range 8 {
		f := next()
		outputs, raw = append(outputs, f), append(raw, uint32(f*(1<<32)))
	}
	return object{"seedText": seed, "outputs": outputs, "raw": raw}
}

func ExampleTaskID() {
	fmt.Println(agency.TaskID("evt-1", "a1", "review"))
	// Output: review.1rt01a.sbo2ts
}

func ExampleSeededRoll() {
	// However often the event is delivered, the answer is the same.
	fmt.Println(agency.SeededRoll(0.5, "evt-1"), agency.SeededRoll(0.5, "evt-1"))
	// Output: true true
}
