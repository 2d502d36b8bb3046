package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// A handler claims a task; a second delivery of the same event is refused while the first runs, and after it has ended.
func ExampleTable_StartTask() {
	ctx := context.Background()
	table := store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")} // in a program: *dynamodb.Client
	request := task.Request{TaskID: "t-1", Principal: task.System("nightly"), Request: "Summarise the week."}
	by := func(owner string) task.Claim {
		return task.Claim{Owner: owner, DeliveryID: "monday", Lease: time.Minute}
	}

	claimed, err := table.StartTask(ctx, request, by("w-1"))
	fmt.Println(claimed.Status, claimed.Fence, err)
	_, err = table.StartTask(ctx, request, by("w-2"))
	fmt.Println(err)

	err = table.FinishTask(ctx, claimed, task.Result{Status: task.Completed, Output: "All is well."})
	fmt.Println(err)
	there, err := table.StartTask(ctx, request, by("w-2"))
	fmt.Println(there.Output, err)
	// Output:
	// RUNNING 1 <nil>
	// task t-1 is RUNNING
	// <nil>
	// All is well. task t-1 is COMPLETED
}

// A transition and what belongs to it are one transaction: here a message and the state that counts it.
func ExampleTable_Commit() {
	ctx, now := context.Background(), time.Now()
	table := store.Table{Name: "agents", DynamoDB: fake.NewDynamo("agents")}
	s := session.New("s-1", session.Chat, task.User("ada"), now)
	fmt.Println(table.Commit(ctx, store.NewState(s)))

	admitted, _ := s.Admit(contract.Coalesce, nil, "", now)
	message := store.Message{Number: admitted.To.Admitted, DeliveryID: "dlv_1", Text: "Hello"}
	fmt.Println(table.Commit(ctx, store.ChangeState(admitted), store.NewMessage("s-1", message)))

	err := table.Commit(ctx, store.ChangeState(admitted), store.NewMessage("s-1", message)) // again, from what is no longer so
	there, _, refused := store.RefusedState(err, "s-1")
	fmt.Println(fault.CodeOf(err), refused, there.Pending())
	// Output:
	// <nil>
	// <nil>
	// conflict true 1
}
