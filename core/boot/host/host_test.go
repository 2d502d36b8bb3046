package host_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
)

// odd is a tool without a description and with a name that no model takes.
type odd struct{}

func (odd) Spec() tool.Spec {
	return tool.Spec{Name: "a name", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (odd) Call(tool.Context, json.RawMessage) (any, error) { return nil, nil }

func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		tools tool.Registry
		want  string // "": sound
	}{
		{"none", nil, ""},
		{"built in", tool.Builtin(), ""},
		{"odd", tool.Registry{odd{}}, `tools[0] "a name"`},
		{"twice", append(tool.Builtin(), tool.Builtin()...), "the name is taken"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			err := host.Content{Tools: tc.tools}.Validate()
			if tc.want == "" && err != nil || tc.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate = %v, want Invalid with %q", err, tc.want)
			}
		})
	}
}

func TestModel(t *testing.T) {
	e := boot.Edges{Env: boot.Env{BedrockRegion: "us-west-2", ModelID: "m", MaxTokens: 100, Temperature: 0}}
	m := host.Model(e)
	if m.ID != "m" || m.MaxTokens != 100 || m.Temperature == nil || *m.Temperature != 0 || m.Client == nil {
		t.Errorf("Model = %+v, want the environment's values, a temperature of 0 among them", m)
	}
}

func TestEngine(t *testing.T) {
	engine := host.Engine(boot.Edges{Env: boot.Env{MaxTurns: 5, MaxTurnsOfOne: 2}}, host.Content{Instructions: "be brief", Tools: tool.Builtin()})
	if engine.Instructions != "be brief" || len(engine.Tools) != len(tool.Builtin()) || engine.Remembered == nil || engine.Sockets == nil ||
		engine.Capacity != (turn.Capacity{Stack: 5, Principal: 2}) {
		t.Errorf("Engine = %+v", engine)
	}
}

func TestCompaction(t *testing.T) {
	t.Setenv("BEDROCK_MODEL_ID", "")
	c := host.Engine(boot.Edges{Env: boot.Env{ModelID: "amazon.nova-micro-v1:0", MaxTokens: 9000}}, host.Content{}).Compaction
	if got := c.Window(""); got != 128_000 || c.Answer != 9000 || c.Drop {
		t.Errorf("Compaction = %+v with a window of %d, want that of the model", c, got)
	}
	c = host.Engine(boot.Edges{Env: boot.Env{ContextTokens: 9000, Compaction: "drop"}}, host.Content{}).Compaction
	if got := c.Window("amazon.nova-micro-v1:0"); got != 9000 || !c.Drop {
		t.Errorf("Compaction = %+v with a window of %d, want what the environment says", c, got)
	}
}

func TestTheModelIsMeteredAndGuarded(t *testing.T) {
	e := boot.Edges{Env: boot.Env{ModelID: "us.amazon.nova-lite-v1:0", GuardrailID: "gr1", GuardrailVersion: "3"}}
	content := host.Content{Prices: []byte(`{"acme.best": {"input": 2, "output": 4}}`)}
	meter, ok := host.Engine(e, content).Model.(loop.Meter)
	if !ok || len(meter.Scopes) != 1 || meter.Scopes[0] != money.Stack {
		t.Fatalf("the model is %+v, want a meter of the stack", meter)
	}
	used := model.Usage{InputTokens: 1_000_000}
	for id, want := range map[string]float64{"": 0.06, "acme.best": 2} {
		if got, ok := meter.Cost(id, used); !ok || got.Dollars() != want {
			t.Errorf("a million tokens of %q cost %v, %t, want %v", id, got, ok, want)
		}
	}
	if got, ok := meter.Cost("acme.other", used); ok {
		t.Errorf("a model without a price costs %v", got)
	}
	if got := host.Model(e).Guardrail; got != (bedrock.Guardrail{ID: "gr1", Version: "3"}) {
		t.Errorf("the guardrail is %+v", got)
	}
	content.Prices = []byte(`{"acme.best": {"input": -2}}`)
	if err := content.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "acme.best.input") {
		t.Errorf("Validate = %v, want the wrong price named", err)
	}
}

// TestMemories: nothing, the table, or AgentCore with the verified user as the actor.
func TestMemories(t *testing.T) {
	asked := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.URL.Path + " " + string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"memoryRecordSummaries":[]}`)
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_AGENTCORE", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	of := func(env boot.Env) func(contract.Principal, string) loop.Memory {
		env.Region = "us-east-1"
		return host.Engine(boot.Edges{Env: env}, host.Content{}).Memories
	}
	if of(boot.Env{Memory: "none"}) != nil {
		t.Error("there is a memory, want none")
	}
	ada := task.User("ada")
	if got, ok := of(boot.Env{Memory: "table"})(ada, "s").(memory.Table); !ok || got.Owner != ada || got.SessionID != "s" {
		t.Errorf("the table's memory is %+v", got)
	}
	if _, err := of(boot.Env{Memory: "agentcore", MemoryID: "mem-1"})(ada, "s").Recall(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	if got := <-asked + <-asked; !strings.HasPrefix(got, "/memories/mem-1/retrieve ") || !strings.Contains(got, `"/facts/ada/"`) { // both namespaces, in any order
		t.Errorf("AgentCore is asked %s", got)
	}
}
