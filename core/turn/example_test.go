package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A message is admitted, which returns at once; whoever is then told of the session runs its turn. The trigger may come twice.
func ExampleEngine_Do() {
	ctx := context.Background()
	table := store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")} // in a program: *dynamodb.Client
	edges := flow.Edges{Table: table, Bus: bus.Bus{EventBridge: &fake.Bus{}}, Now: time.Now, NewID: uuid.NewString}
	stock := tool.New("stock", "How many of an article there are.", func(_ tool.Context, in struct{ Article string }) (int, error) {
		return len(in.Article), nil
	})
	engine := &turn.Engine{
		Edges: edges, Tools: tool.Registry{stock},
		Model: &fake.Model{Script: []fake.Turn{ // in a program: a bedrock.Model
			fake.Calls("", model.ToolUse{ID: "call-1", Name: "stock", Input: json.RawMessage(`{"Article":"chair"}`)}), fake.Say("There are five."),
		}},
	}
	_, err := flow.Admit{Edges: edges}.Do(ctx, flow.AdmitIn{SessionID: "s-1", Caller: task.User("ada"), Text: "How many chairs?"})
	fmt.Println(err, engine.Do(ctx, "s-1"), engine.Do(ctx, "s-1"))
	for event, err := range table.SessionEvents(ctx, "s-1", 0) {
		switch event.Type {
		case "message.received", "turn.completed":
			fmt.Println(event.Index, event.Type, err)
		case "action.result":
			fmt.Println(event.Index, event.Type, string(event.Data)[:41])
		}
	}
	// Output:
	// <nil> <nil> <nil>
	// 2 message.received <nil>
	// 5 action.result {"id":"call-1","name":"stock","status":"s
	// 12 turn.completed <nil>
}
