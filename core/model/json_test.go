package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
)

func TestMessageJSONRoundTrip(t *testing.T) {
	tests := []struct{ name, data string }{
		{"text", `{"role":"user","content":[{"text":"a <b> & \u2028"},{"text":""}]}`},
		{"no content", `{"role":"user","content":[]}`},
		{"extra fields", `{"role":"assistant","content":[],"metadata":{"usage":{"totalTokens":9007199254740993}},"trackingId":"1"}`},
		{"call", `{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"x","input":{"n":1e400,"l":[],"o":{},"z":null}}}]}`},
		{"result", `{"role":"user","content":[{"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"x"},{"json":{"a":9007199254740993}},{"json":null},{"image":{"format":"png"}}]}}]}`},
		{"reasoning", `{"role":"assistant","content":[{"reasoning":{"text":"a","signature":"b=="}},{"reasoning":{"redactedContent":"AAEC"}}]}`},
		{"cache point", `{"role":"user","content":[{"cachePoint":{"cacheType":"default"}}]}`},
		{"unknown blocks", `{"role":"user","content":[{"video":{"uri":"x"}},7,null,"words",{},{"text":5},{"toolUse":null},{"toolUse":{"name":1}},{"reasoning":{"redactedContent":{"0":1}}}]}`},
		{"unknown parts", `{"role":"user","content":[{"toolResult":{"toolUseId":"a","status":"success","content":[7,null,{"text":5},{"text":null}]}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m model.Message
			if err := json.Unmarshal([]byte(tt.data), &m); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(meaning(t, tt.data), meaning(t, string(got))); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessageJSONReadsWhatOthersWrite(t *testing.T) {
	tests := []struct {
		name, data string
		want       model.Message
	}{
		{"plain text as content", `{"role":"user","content":"hi"}`, user(text("hi"))},
		{"no role, no content", `{}`, model.Message{}},
		{"null content", `{"role":"user","content":null}`, model.Message{Role: model.User}},
		{"a field beside the known one", `{"role":"user","content":[{"type":"text","text":"hi"}]}`, user(text("hi"))},
		{"a call without input", `{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"lookup"}}]}`, assistant(model.Block{ToolUse: &model.ToolUse{ID: "a", Name: "lookup"}})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got model.Message
			if err := json.Unmarshal([]byte(tt.data), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Unmarshal (-want +got):\n%s", diff)
			}
		})
	}
	for _, data := range []string{`[]`, `{"role":5}`, `{"role":"user","content":5}`, `{"role":"user","content":{}}`} {
		var m model.Message
		if err := json.Unmarshal([]byte(data), &m); err == nil {
			t.Errorf("Unmarshal(%s) = nil, want an error", data)
		}
	}
}

func TestMessageJSONStaysSmall(t *testing.T) {
	m := user(text("a<b>&c"))
	m.Extra = map[string]json.RawMessage{"role": json.RawMessage(`"x"`), "a": json.RawMessage(`1`)}
	got, err := m.MarshalJSON()
	if want := `{"role":"user","content":[{"text":"a<b>&c"}],"a":1}`; err != nil || string(got) != want {
		t.Errorf("MarshalJSON = %s, %v, want %s", got, err, want)
	}
}
