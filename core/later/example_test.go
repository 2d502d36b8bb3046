package later_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/later"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// An event in two hours, moved to three by its name.
func ExampleEvents_Send() {
	clock := &fake.Clock{}
	eventBridge := &fake.Bus{Now: clock.Now}
	alarm := &fake.Scheduler{Now: clock.Now, Bus: eventBridge}
	events := later.Events{
		Scheduler: alarm, Bus: bus.Bus{EventBridge: eventBridge}, Group: "my-app", RoleARN: "arn:aws:iam::123456789012:role/scheduler",
		BusARN: "arn:aws:events:us-east-1:123456789012:event-bus/default", Now: clock.Now,
	}
	for _, hours := range []time.Duration{2, 3} {
		at, err := events.Send(context.Background(), bus.Timed{
			Name: schedule.Name(schedule.Event, "review-1"), At: clock.Now().Add(hours * time.Hour),
			DetailType: "Review Is Due", Detail: json.RawMessage(`{"pr":1}`),
		})
		fmt.Println(at.Format(time.TimeOnly), err, alarm.Names())
	}
	// Output:
	// 02:00:00 <nil> [my-app/review-1]
	// 03:00:00 <nil> [my-app/review-1]
}
