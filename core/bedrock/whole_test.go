package bedrock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// answering gives a model whose service answers Converse with content.
func answering(t *testing.T, content, stop string) bedrock.Model {
	t.Helper()
	return bedrock.Model{Client: client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"output":{"message":{"role":"assistant","content":` + content + `}},"stopReason":"` + stop + `","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}`))
	}))}
}

func TestComplete(t *testing.T) {
	reply := wire.Reply{wire.Reasoning{Text: "hm", Signature: "s"}}.And(wire.Say("Hel", "lo"), wire.Calling("a", "x", `{"n":1}`), wire.Reply{wire.ToolCall{ID: "b", Name: "y"}, wire.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}})
	m, _ := scripted(t, reply)
	got, err := m.Complete(context.Background(), hello())
	want := model.Reply{
		Message: model.Message{Role: model.Assistant, Content: []model.Block{
			{Reasoning: &model.Reasoning{Text: "hm", Signature: "s"}},
			{Text: "Hello"},
			{ToolUse: &model.ToolUse{ID: "a", Name: "x", Input: json.RawMessage(`{"n":1}`)}},
			{ToolUse: &model.ToolUse{ID: "b", Name: "y", Input: json.RawMessage(`{}`)}},
		}},
		Stop:  model.StopToolUse,
		Usage: model.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Complete: %v, (-want +got):\n%s", err, diff)
	}
}

// The streamed and the whole answer of one reply are the same.
func TestWholeIsStreamed(t *testing.T) {
	reply := wire.Say("a", "b").And(wire.Calling("a", "x", `{"n":[1,2.50]}`), wire.Say("c"), wire.Reply{wire.Reasoning{Redacted: []byte{9}}, wire.Text("d"), wire.Usage{Input: 5}})
	m, _ := scripted(t, reply, reply)
	streamed, err := model.Collect(m.Stream(context.Background(), hello()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := m.Complete(context.Background(), hello())
	if diff := cmp.Diff(streamed, whole); diff != "" || err != nil {
		t.Errorf("whole: %v, (-streamed +whole):\n%s", err, diff)
	}
}

// The SDK decodes a block it does not know as the block before it.
func TestUnknownBlocksOfAWholeAnswer(t *testing.T) {
	tests := []struct {
		name, content string
		want          []model.Block
	}{
		{"first", `[{"hologram":{}},{"text":"x"}]`, []model.Block{{Text: "x"}}},
		{"after text", `[{"text":"x"},{"hologram":{}},{"hologram":{}},{"text":"y"}]`, []model.Block{{Text: "x"}, {Text: "y"}}},
		{"after a call", `[{"toolUse":{"toolUseId":"a","name":"t","input":{}}},{"hologram":{}}]`, []model.Block{{ToolUse: &model.ToolUse{ID: "a", Name: "t", Input: json.RawMessage(`{}`)}}}},
		{"the same text twice is no unknown block", `[{"text":"x"},{"text":"x"}]`, []model.Block{{Text: "x"}, {Text: "x"}}},
		{"a kind that the SDK knows", `[{"cachePoint":{"type":"default"}},{"text":"x"}]`, []model.Block{{Text: "x"}}},
		{"a call that the service runs itself", `[{"toolUse":{"toolUseId":"s","name":"search","input":{},"type":"server_tool_use"}},{"text":"x"}]`, []model.Block{{Text: "x"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			m := answering(t, tt.content, "end_turn")
			m.Log = slog.New(slog.NewTextHandler(&log, nil))
			got, err := m.Complete(context.Background(), hello())
			if diff := cmp.Diff(tt.want, got.Message.Content); diff != "" || err != nil {
				t.Errorf("content: %v, (-want +got):\n%s", err, diff)
			}
			if known := len(tt.want) == 2 && tt.want[0].Text == tt.want[1].Text; known == (log.Len() > 0) {
				t.Errorf("log = %q", log.String())
			}
		})
	}
}

// Numbers of a call's input are numbers, with all their digits.
func TestInputOfAWholeAnswer(t *testing.T) {
	input := `{"a":12345678901234567890,"b":[1.50,-0.0,1e3,true,null],"c":{"text":"é<&>"}}`
	got, err := answering(t, `[{"toolUse":{"toolUseId":"a","name":"t","input":`+input+`}}]`, "tool_use").Complete(context.Background(), hello())
	if err != nil || len(got.Message.Calls()) != 1 {
		t.Fatalf("reply = %+v, %v", got, err)
	}
	if diff := cmp.Diff(numbers(t, []byte(input)), numbers(t, got.Message.Calls()[0].Input)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func numbers(t *testing.T, text []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestWholeAnswerWithoutMessage(t *testing.T) {
	for _, body := range []string{`{}`, `{"output":{"poem":{}},"stopReason":"end_turn"}`, `{"output":`} {
		m := bedrock.Model{Client: client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))}
		if _, err := m.Complete(context.Background(), hello()); !fault.Retryable(err) {
			t.Errorf("answer %s: error = %v, want one worth a retry", body, err)
		}
	}
}

// A cut call is never whole: the answer's limit was reached inside its input.
func TestP04CutCall(t *testing.T) {
	reply := wire.Say("done: ").And(wire.Reply{wire.ToolCall{ID: "a", Name: "t"}, wire.ToolInput(`{"path":"/et`), wire.Stop("max_tokens")})
	m, _ := scripted(t, reply)
	got, err := model.Collect(m.Stream(context.Background(), hello()))
	if err != nil || got.Stop != model.StopMaxTokens || len(got.Message.Calls()) != 0 || got.Message.PlainText() != "done: " {
		t.Errorf("reply = %+v, %v", got, err)
	}
	complete := wire.Calling("a", "t", `{"n":1}`).And(wire.Reply{wire.Stop("end_turn")})
	m, _ = scripted(t, complete)
	got, err = model.Collect(m.Stream(context.Background(), hello()))
	if err != nil || got.Stop != model.EndTurn || len(got.Message.Calls()) != 1 {
		t.Errorf("reply = %+v, %v, want the complete call", got, err)
	}
}
