package main

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
)

// user is who all sessions belong to.
var user = contract.Principal{Type: contract.UserPrincipal, ID: "bench"}

// edges opens the table and the bus with the SDK's own clients.
func edges() boot.Edges {
	boot.Tune()
	env := boot.MustEnv(boot.Table)
	table := store.Table{Name: env.TableName, DynamoDB: client(env)}
	events := eventbridge.NewFromConfig(boot.Config("EVENTBRIDGE", env.Region))
	e := flow.Edges{Table: table, Bus: bus.Bus{EventBridge: alone{events}, Details: table}, Now: time.Now, NewID: uuid.NewString}
	return boot.Edges{Env: env, Edges: e}
}

// client is DynamoDB's. A local table sends no checksums, and the client would say so at every answer.
func client(env boot.Env) *dynamodb.Client {
	return dynamodb.NewFromConfig(boot.Config("DYNAMODB", env.Region), func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
}

// alone is a bus whose triggers stay in the process, which runs the turn itself; everything else goes out.
type alone struct{ *eventbridge.Client }

// PutEvents sends what is not a trigger. A call holds events of one kind only.
func (a alone) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, o ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	if len(in.Entries) > 0 && *in.Entries[0].DetailType == contract.RunAgentTurn {
		return &eventbridge.PutEventsOutput{}, nil
	}
	return a.Client.PutEvents(ctx, in, o...)
}

// engine runs turns as the function run-turn does.
func engine(e boot.Edges, tools tool.Registry) (*turn.Engine, *asked) {
	eng := host.Engine(e, host.Content{Tools: tools})
	counted := &asked{Model: eng.Model}
	eng.Model = counted
	return eng, counted
}

// asked notes how long the history of the last model call was.
type asked struct {
	loop.Model
	messages int
}

// Stream asks the model.
func (a *asked) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	a.messages = len(r.Messages)
	return a.Model.Stream(ctx, r)
}

// lookup is a tool that answers with so many bytes.
func lookup(bytes int) tool.Registry {
	if bytes == 0 {
		return nil
	}
	answer := strings.Repeat("r", bytes)
	type in struct {
		Key string `json:"key"`
	}
	return tool.Registry{tool.Limit(tool.New("lookup", "Looks a key up.", func(tool.Context, in) (string, error) { return answer, nil }), bytes+1)}
}
