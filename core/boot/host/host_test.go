package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/fault"
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
