package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// sessionID is the session of every bench.
const sessionID = "s-1"

var user = contract.Principal{Type: contract.UserPrincipal, ID: "user-1"}

// answer is 200 tokens, 1 KB, in pieces of one token.
var answer = func() fake.Turn {
	pieces := make([]string, 200)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%4s ", strconv.FormatInt(int64(i)*7919+100, 36))
	}
	return fake.Say(pieces...)
}()

// traffic counts what goes to the table.
type traffic struct {
	*fake.Dynamo
	reads, writes int // calls
	bytes         int // of the rows and attributes written
	largest       int // row
}

func (t *traffic) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	t.reads++
	return t.Dynamo.GetItem(ctx, in, o...)
}

func (t *traffic) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	t.reads++
	return t.Dynamo.Query(ctx, in, o...)
}

func (t *traffic) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	t.wrote(in.Item)
	t.writes++
	return t.Dynamo.PutItem(ctx, in, o...)
}

func (t *traffic) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	t.wrote(in.ExpressionAttributeValues)
	t.writes++
	return t.Dynamo.UpdateItem(ctx, in, o...)
}

func (t *traffic) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	t.writes++
	for _, i := range in.TransactItems {
		if i.Put != nil {
			t.wrote(i.Put.Item)
		}
		if i.Update != nil {
			t.wrote(i.Update.ExpressionAttributeValues)
		}
	}
	return t.Dynamo.TransactWriteItems(ctx, in, o...)
}

func (t *traffic) wrote(row map[string]types.AttributeValue) {
	n := attr.ItemSize(row)
	t.bytes += n
	t.largest = max(t.largest, n)
}

// world is the turn engine on a table in memory.
type world struct {
	table   *traffic
	engine  *turn.Engine
	model   *fake.Model
	sockets *fake.Connections
}

func newWorld(say func(model.Request) fake.Turn, tools ...tool.Tool) *world {
	w := &world{table: &traffic{Dynamo: fake.NewDynamo("table")}, model: &fake.Model{Answer: say}, sockets: &fake.Connections{}}
	table := store.Table{Name: "table", DynamoDB: w.table}
	edges := flow.Edges{Table: table, Bus: bus.Bus{EventBridge: &fake.Bus{}, Details: table}, Now: time.Now, NewID: uuid.NewString}
	w.engine = &turn.Engine{
		Edges: edges, Model: w.model, Tools: tools, Remembered: &turn.Memory{}, Limits: loop.Limits{},
		Sockets: &socket.Caster{Connections: w.sockets},
	}
	return w
}

// plain answers every request with 1 KB.
func plain(model.Request) fake.Turn { return answer }

// withTool calls a tool first.
func withTool(r model.Request) fake.Turn {
	last := r.Messages[len(r.Messages)-1]
	if len(last.Content) > 0 && last.Content[0].ToolResult != nil {
		return answer
	}
	return fake.Calls("", model.ToolUse{ID: "call-1", Name: "look_up", Input: json.RawMessage(`{"key":"value"}`)})
}

// lookUp answers with so many bytes, which no limit cuts.
func lookUp(bytes int) tool.Tool {
	type in struct {
		Key string `json:"key"`
	}
	text := strings.Repeat("r", bytes)
	return tool.Limit(tool.New("look_up", "Looks a key up.", func(tool.Context, in) (string, error) { return text, nil }), bytes+1)
}

// turn is one message and its answer.
func (w *world) turn(tb testing.TB) {
	tb.Helper()
	ctx := tb.Context()
	_, err := flow.Admit{Edges: w.engine.Edges}.Do(ctx, flow.AdmitIn{SessionID: sessionID, Caller: user, Text: "Tell me something about topic number 17."})
	if err == nil {
		err = w.engine.Do(ctx, sessionID)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
