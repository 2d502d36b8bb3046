package upload_test

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/upload"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A session keeps the version that it began with, whatever its owner sends later.
func ExampleSessions_Of() {
	ctx, ada := context.Background(), task.User("ada")
	edges := flow.Edges{Table: store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")}, Now: time.Now}
	push := func(text string) {
		skill := upload.File{Path: "SKILL.md", Text: "---\nname: refund\ndescription: Use when money is asked back.\n---\n" + text}
		_, err := upload.Push{Edges: edges}.Do(ctx, upload.PushIn{Caller: ada, Name: "refund", Files: []upload.File{skill}})
		if err != nil {
			fmt.Println(err)
		}
	}
	sessions := upload.Sessions{Edges: edges}
	show := func(session string) {
		skills, _, err := sessions.Of(ctx, session, ada)
		fmt.Println(session, skills[0].Name, skills[0].Markdown, err)
	}
	push("Within thirty days.")
	show("s-1")
	push("Within ninety days.")
	show("s-1")
	show("s-2")
	// Output:
	// s-1 refund Within thirty days. <nil>
	// s-1 refund Within thirty days. <nil>
	// s-2 refund Within ninety days. <nil>
}
