package loop_test

import (
	"context"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A program with a table of its own holds a conversation: the session says whose it is and how it talks, each turn is streamed to
// the client and kept in the table.
func ExampleAssistant_HandleMessage() {
	ctx := context.Background()
	table := store.Table{Name: "my-agents", DynamoDB: fake.NewDynamo("my-agents")} // in a program: a *dynamodb.Client
	created, err := table.CreateSession(ctx, session.Config{UserID: "ada", SystemPrompt: "You know all orders."})
	if err != nil {
		fmt.Println(err)
		return
	}

	config, err := table.SessionConfig(ctx, created.SessionID) // later, when a verified user comes with the id
	if err == nil {
		err = config.CheckOwner("ada")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	send := func(_ context.Context, m contract.ServerMessage) error { // in a program: to a socket
		switch {
		case m.Event != nil && m.Event.CurrentToolUse != nil:
			fmt.Println("tool:", m.Event.CurrentToolUse.Name)
		case m.Event != nil && m.Event.Data != nil:
			fmt.Printf("data: %q\n", *m.Event.Data)
		}
		return nil
	}
	assistant := loop.Assistant{
		SessionID: config.SessionID, SystemPrompt: config.SystemPrompt, Storage: table,
		Model: clerk{}, Tools: []tool.Tool{findOrder()}, State: "Ada", // in a program: a bedrock.Model
	}
	answer, err := assistant.HandleMessage(ctx, "Where is my order 7?", send)
	fmt.Println(answer.Output, err)

	kept, err := table.Conversation(ctx, config.SessionID)
	fmt.Println(len(kept.Messages), "messages are kept", err)
	// Output:
	// tool: find_order
	// data: "Your order: "
	// data: "#7 of Ada, on its way"
	// Your order: #7 of Ada, on its way <nil>
	// 4 messages are kept <nil>
}

// An assistant is a tool of another one.
func ExampleAssistant_AsTool() {
	orders := loop.Assistant{Model: clerk{}, Tools: []tool.Tool{findOrder()}}.AsTool("orders", "Knows all about orders.")
	front := &fake.Model{Script: []fake.Turn{
		fake.Calls("", model.ToolUse{ID: "c1", Name: "orders", Input: []byte(`{"request":"Where is order 7?"}`)}), fake.Say("It is on its way."),
	}}
	answer, err := loop.Assistant{Model: front, Tools: []tool.Tool{orders}, State: "Ada"}.HandleTask(context.Background(), "Has my order left?")
	fmt.Println(front.Requests()[1].Messages[2].Results()[0].Content[0].Text)
	fmt.Println(answer.Output, err)
	// Output:
	// Your order: #7 of Ada, on its way
	// It is on its way. <nil>
}
