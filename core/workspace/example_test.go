package workspace_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/workspace"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A session sees the program's files until it writes over them; others go on seeing the program's.
func ExampleWorkspace() {
	ctx := context.Background()
	table := store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")} // in a program: *dynamodb.Client
	program := fstest.MapFS{"style.md": {Data: []byte("Be brief.")}}         // in a program: an embed.FS
	of := func(session string) workspace.Workspace {
		return workspace.Workspace{Rows: table, SessionID: session, Seed: program}
	}
	fmt.Println(of("s-1").WriteFile(ctx, "style.md", "Be very brief."))
	for _, session := range []string{"s-1", "s-2"} {
		text, err := of(session).ReadFile(ctx, "style.md")
		fmt.Println(session, text, err)
	}
	fmt.Println(of("s-1").WriteFile(ctx, "../escape.md", "x"))
	// Output:
	// <nil>
	// s-1 Be very brief. <nil>
	// s-2 Be brief. <nil>
	// path "../escape.md": want a relative path like notes/today.md, without .. and \
}
