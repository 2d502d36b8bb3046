package bus_test

import (
	"context"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func ExampleBus_RequestTask() {
	eventBridge := &fake.Bus{} // in a program: *eventbridge.Client
	id, err := bus.Bus{EventBridge: eventBridge, Name: "agents"}.RequestTask(context.Background(), task.Request{
		TaskID: "t-1", Principal: task.System("nightly"), Request: "Summarise the week.", DeliveryID: "2026-W01",
	})
	fmt.Println(id, err)
	for _, e := range eventBridge.Events() {
		fmt.Println(e.Bus, e.Source, e.DetailType)
		fmt.Println(string(e.Detail))
	}
	// Output:
	// t-1 <nil>
	// agents readysetcloud.agent Run Agent Task
	// {"taskId":"t-1","principal":{"type":"system","id":"nightly"},"request":"Summarise the week.","deliveryId":"2026-W01"}
}
