package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// What a user said in one conversation is recalled in another one of the same user, and in nobody else's.
func ExampleTable() {
	ctx := context.Background()
	table := store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")} // in a program: *dynamodb.Client
	of := func(user, session string) memory.Table {
		return memory.Table{Rows: table, Owner: task.User(user), SessionID: session}
	}
	turn := loop.Exchange{Number: 1, At: time.Now(), User: "My cat is called Minka.", Assistant: "A fine name."}
	fmt.Println(of("ada", "s-1").Record(ctx, turn))

	for _, user := range []string{"ada", "bob"} {
		recalled, err := of(user, "s-2").Recall(ctx, "What is my cat called?")
		fmt.Printf("%s: %q %v\n", user, recalled, err)
	}
	// Output:
	// <nil>
	// ada: ["My cat is called Minka."] <nil>
	// bob: [] <nil>
}
