package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai/recorder"
)

// TestRequest: everything a Converse request says reaches the server, in the API's words.
func TestRequest(t *testing.T) {
	r, b := record(t, recorder.Text("done"))
	_, failed := parts(t, b, `{
		"system": [{"text":"Be brief."},{"cachePoint":{"type":"default"}},{"text":"Be kind."}],
		"messages": [
			{"role":"user","content":[{"text":"What time is it?"},{"cachePoint":{"type":"default"}}]},
			{"role":"assistant","content":[
				{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"text":"I look."},
				{"toolUse":{"toolUseId":"a","name":"clock","input":{"zone":"UTC","big":12345678901234567890}}},
				{"toolUse":{"toolUseId":"b","name":"map","input":{}}}]},
			{"role":"user","content":[
				{"toolResult":{"toolUseId":"a","status":"success","content":[{"text":"noon"},{"json":{"h":12}}]}},
				{"toolResult":{"toolUseId":"c","content":[{"text":""}]}},
				{"toolResult":{"toolUseId":"b","status":"error","content":[{"text":"no map"},{"image":{"format":"png","source":{"bytes":"AA=="}}}]}},
				{"text":"And now?"},{"text":"Quick."}]},
			{"role":"assistant","content":[{"reasoningContent":{"redactedContent":"AA=="}}]},
			{"role":"user","content":[{"text":"See"},{"image":{"format":"png","source":{"bytes":"AQI="}}},
				{"document":{"name":"notes","format":"md","source":{"bytes":"IyBI"}}}]}],
		"inferenceConfig": {"maxTokens":100,"temperature":0.5},
		"toolConfig": {"tools":[
			{"toolSpec":{"name":"clock","description":"Tells the time.","inputSchema":{"json":{"type":"object","properties":{"zone":{"type":"string"}}}}}},
			{"cachePoint":{"type":"default"}},
			{"toolSpec":{"name":"map","inputSchema":{"json":{"type":"object"}}}}]}
	}`)
	if failed != nil {
		t.Fatal(failed)
	}
	want := map[string]any{}
	if err := json.Unmarshal([]byte(`{
		"model": "m1", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "temperature": 0.5,
		"messages": [
			{"role":"system","content":"Be brief.\n\nBe kind."},
			{"role":"user","content":"What time is it?"},
			{"role":"assistant","content":"I look.","tool_calls":[
				{"id":"a","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"UTC\",\"big\":12345678901234567890}"}},
				{"id":"b","type":"function","function":{"name":"map","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"noon\n{\"h\":12}"},
			{"role":"tool","tool_call_id":"c","content":"(no output)"},
			{"role":"tool","tool_call_id":"b","content":"The tool failed:\nno map\n[image left out]"},
			{"role":"user","content":"And now?\n\nQuick."},
			{"role":"user","content":[
				{"type":"text","text":"See"},
				{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI="}},
				{"type":"text","text":"notes:\n# H"}]}],
		"tools": [
			{"type":"function","function":{"name":"clock","description":"Tells the time.","parameters":{"type":"object","properties":{"zone":{"type":"string"}}}}},
			{"type":"function","function":{"name":"map","parameters":{"type":"object"}}}]
	}`), &want); err != nil {
		t.Fatal(err)
	}
	sent := r.Requests()[0]
	if diff := cmp.Diff(want, sent.Body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got := sent.Header.Get("Authorization"); got != "Bearer key-1" {
		t.Errorf("Authorization = %q", got)
	}
}

func TestToolChoice(t *testing.T) {
	for _, tt := range []struct{ name, choice, want string }{
		{"any", `{"any":{}}`, `"required"`},
		{"auto", `{"auto":{}}`, `"auto"`},
		{"one", `{"tool":{"name":"clock"}}`, `{"type":"function","function":{"name":"clock"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, b := record(t, recorder.Call("a", "clock", "{}"))
			parts(t, b, `{"messages":[{"role":"user","content":[{"text":"go"}]}],
				"toolConfig":{"tools":[{"toolSpec":{"name":"clock","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":`+tt.choice+`}}`)
			var want any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r.Requests()[0].Body["tool_choice"]); diff != "" {
				t.Errorf("tool_choice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	for _, tt := range []struct{ name, body string }{
		{"a video", `{"messages":[{"role":"user","content":[{"text":"see"},{"video":{"format":"mp4","source":{"bytes":"AA=="}}}]}]}`},
		{"a document that is no text", `{"messages":[{"role":"user","content":[{"text":"see"},{"document":{"name":"paper","format":"pdf","source":{"bytes":"AA=="}}}]}]}`},
		{"a schema that is none", `{"messages":[{"role":"user","content":[{"text":"go"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"clock","inputSchema":{"json":[1]}}}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, b := record(t)
			if _, failed := parts(t, b, tt.body); failed == nil || failed.Type != "ValidationException" {
				t.Errorf("failed with %v, want ValidationException", failed)
			}
			if n := len(r.Requests()); n != 0 {
				t.Errorf("the server was asked %d times", n)
			}
		})
	}
}

// TestServerThatWantsNoKey is asked without one.
func TestServerThatWantsNoKey(t *testing.T) {
	r := recorder.Start(recorder.Text("Hi"))
	defer r.Close()
	t.Setenv("OPENAI_API_KEY", "")
	if got, failed := parts(t, openai.New(r.URL, "m1"), hello); failed != nil || len(got) == 0 {
		t.Fatalf("got %v, %v", got, failed)
	}
	if got := r.Requests()[0].Header["Authorization"]; len(got) > 0 {
		t.Errorf("Authorization = %q, want none", got)
	}
}
