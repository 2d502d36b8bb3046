package fake_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A worker dies right after its first write took effect; what it tries afterwards comes to nothing.
func Example() {
	world := &fake.World{}
	table := fake.NewDynamo("main")
	table.World = world
	world.KillAfter(1)

	ctx := fake.WithWorker(context.Background(), "w1")
	for _, sk := range []string{"first", "second"} {
		_, err := table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("main"), Item: row("TASK#1", sk)})
		fmt.Println(sk, errors.Is(err, fake.ErrKilled))
	}
	fmt.Print(table.Dump())
	for _, call := range world.Calls() {
		fmt.Println(call)
	}
	// Output:
	// first true
	// second true
	// TASK#1|first
	// w1: 1 dynamo.PutItem TASK#1|first -> dynamo.PutItem: the worker is dead
}
