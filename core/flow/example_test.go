package flow_test

import (
	"context"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A function of one's own runs the tasks that its stack's bus delivers, on its own table. The agent is built after the claim, for
// the task it is to run; a duplicate builds nothing.
func ExampleRunTask() {
	table := store.Table{Name: "my-agents", DynamoDB: fake.NewDynamo("my-agents")} // in a program: a *dynamodb.Client
	events := bus.Bus{EventBridge: &fake.Bus{}}                                    // in a program: an *eventbridge.Client
	run := flow.RunTask{
		Tasks: table, Bus: events,
		BuildAgent: func(ctx context.Context, r task.Request) (flow.Agent, func() error, error) {
			fmt.Println("connect for", r.Principal.ID)
			agent := loop.Assistant{Model: &fake.Model{}, SystemPrompt: r.SystemPrompt} // in a program: a bedrock.Model
			return agent, func() error { fmt.Println("disconnect"); return nil }, nil
		},
		Cache: &task.ResultCache{}, // lives as long as the process
	}
	request := task.Request{TaskID: "t-1", Principal: task.System("nightly"), Request: "Summarise the week."}
	for range 2 { // the bus delivers at least once
		result, err := run.Do(context.Background(), flow.RunTaskIn{Request: request, DeliveryID: "event-1"})
		fmt.Println(result.Status, result.Output, err)
	}
	// Output:
	// connect for nightly
	// disconnect
	// COMPLETED ok <nil>
	// COMPLETED ok <nil>
}
