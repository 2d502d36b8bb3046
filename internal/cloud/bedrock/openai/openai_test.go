package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai/recorder"
)

const hello = `{"messages":[{"role":"user","content":[{"text":"hello"}]}]}`

// record starts a recorder and a bridge to its model m1.
func record(t *testing.T, replies ...recorder.Reply) (*recorder.Server, *openai.Bridge) {
	t.Helper()
	t.Setenv("OPENAI_API_KEY", "key-1")
	r := recorder.Start(replies...)
	t.Cleanup(r.Close)
	return r, openai.New(r.URL, "m1")
}

// parts asks and gives what came, and the exception at its end.
func parts(t *testing.T, b *openai.Bridge, body string) (got []bedrock.Part, failed *bedrock.Error) {
	t.Helper()
	req := bedrock.Request{ModelID: "any", Body: []byte(body)}
	if err := json.Unmarshal(req.Body, &req); err != nil {
		t.Fatal(err)
	}
	for p, err := range b.Respond(t.Context(), req) {
		if err != nil {
			e, ok := err.(*bedrock.Error)
			if !ok {
				t.Fatalf("the error %v is no exception", err)
			}
			failed = e
			continue
		}
		got = append(got, p)
	}
	return got, failed
}

var usage = bedrock.Usage{Input: 8, Output: 3, CacheRead: 4}

func TestAnswers(t *testing.T) {
	chunks := func(list ...string) recorder.Reply { return recorder.Reply{Chunks: list} }
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	tests := []struct {
		name  string
		reply recorder.Reply
		want  []bedrock.Part
	}{
		{"text", recorder.Text("Hel", "lo é😀"), []bedrock.Part{bedrock.Text("Hel"), bedrock.Text("lo é😀"), usage, bedrock.Stop("end_turn")}},
		{"a call", recorder.Call("call_1", "clock", `{"zone":"UTC"}`), []bedrock.Part{
			bedrock.ToolCall{ID: "call_1", Name: "clock"}, bedrock.ToolInput(`{"zone":"UTC"}`), usage, bedrock.Stop("tool_use")}},
		{"text, then mixed calls", chunks(
			delta(`{"content":"I look."}`),
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"clock","arguments":""}},{"index":1,"id":"b","type":"function","function":{"name":"map","arguments":"{\"x\""}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":":1}"}}]}`)).End("tool_calls"), []bedrock.Part{
			bedrock.Text("I look."), bedrock.ToolCall{ID: "a", Name: "clock"}, bedrock.ToolInput(`{}`),
			bedrock.ToolCall{ID: "b", Name: "map"}, bedrock.ToolInput(`{"x":1}`), usage, bedrock.Stop("tool_use")}},
		{"calls of a server without indexes, that says stop", chunks(
			delta(`{"tool_calls":[{"id":"a","function":{"name":"clock","arguments":"{}"}}]}`),
			delta(`{"tool_calls":[{"id":"b","function":{"name":"clock"}}]}`)).End("stop"), []bedrock.Part{
			bedrock.ToolCall{ID: "a", Name: "clock"}, bedrock.ToolInput(`{}`), bedrock.ToolCall{ID: "b", Name: "clock"}, usage, bedrock.Stop("tool_use")}},
		{"the limit is reached within a call", chunks(
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"clock","arguments":"{\"zo"}}]}`)).End("length"), []bedrock.Part{
			bedrock.ToolCall{ID: "a", Name: "clock"}, bedrock.ToolInput(`{"zo`), usage, bedrock.Stop("max_tokens")}},
		{"filtered", chunks(delta(`{"content":"No"}`)).End("content_filter"), []bedrock.Part{bedrock.Text("No"), usage, bedrock.Stop("content_filtered")}},
		{"a refusal is text", chunks(delta(`{"refusal":"I will not."}`)).End("stop"), []bedrock.Part{bedrock.Text("I will not."), usage, bedrock.Stop("end_turn")}},
		{"no usage, and no [DONE]", recorder.Reply{Chunks: []string{delta(`{"content":"Hi"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`}, Cut: true},
			[]bedrock.Part{bedrock.Text("Hi"), bedrock.Stop("end_turn")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, b := record(t, tt.reply)
			got, failed := parts(t, b, hello)
			if diff := cmp.Diff(tt.want, got); diff != "" || failed != nil {
				t.Errorf("parts (-want +got):\n%s\n%v", diff, failed)
			}
		})
	}
}

func TestIDsThatBedrockWouldRefuse(t *testing.T) {
	id := func(body, serverID string) string {
		_, b := record(t, recorder.Call(serverID, "clock", "{}"))
		got, _ := parts(t, b, body)
		return got[0].(bedrock.ToolCall).ID
	}
	other := strings.Replace(hello, "hello", "again", 1)
	for _, serverID := range []string{"", "functions/clock 0", strings.Repeat("x", 65)} {
		first, again, second := id(hello, serverID), id(hello, serverID), id(other, serverID)
		if !strings.HasPrefix(first, "call_") || first != again || first == second {
			t.Errorf("ids for %q: %q, %q and, in another request, %q", serverID, first, again, second)
		}
	}
}

func TestFailures(t *testing.T) {
	refusal := func(status int, body string) recorder.Reply { return recorder.Reply{Status: status, Body: body} }
	cut := recorder.Reply{Chunks: []string{`{"choices":[{"index":0,"delta":{"content":"Hel"}}]}`}, Cut: true}
	broken := recorder.Reply{Chunks: append(cut.Chunks, `{"error":{"message":"the engine died"}}`)}
	odd := recorder.Reply{Chunks: cut.Chunks}.End("wanderlust")
	tests := []struct {
		name        string
		reply       recorder.Reply
		want, holds string
		said        int // parts before it
	}{
		{"bad key", refusal(401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`), "AccessDeniedException", "401: Incorrect API key", 0},
		{"forbidden", refusal(403, `{"error":{"message":"no"}}`), "AccessDeniedException", "no", 0},
		{"no such model", refusal(404, `{"error":{"message":"The model m1 does not exist","code":"model_not_found"}}`), "ResourceNotFoundException", "does not exist", 0},
		{"too much", refusal(429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`), "ThrottlingException", "Rate limit", 0},
		{"no money", refusal(429, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`), "ServiceQuotaExceededException", "quota", 0},
		{"bad request", refusal(400, `{"error":{"message":"too long","code":"context_length_exceeded","param":"messages"}}`), "ValidationException", "too long", 0},
		{"timeout", refusal(408, `{"error":{"message":"slow"}}`), "ModelTimeoutException", "slow", 0},
		{"broken server", refusal(500, `<html>oops</html>`), "InternalServerException", "500", 0},
		{"overloaded", refusal(503, `{"error":{"message":"busy"}}`), "ServiceUnavailableException", "busy", 0},
		{"cut", cut, "ModelStreamErrorException", "before the answer", 1},
		{"error in mid-stream", broken, "ModelStreamErrorException", "the engine died", 1},
		{"a reason that is not known", odd, "ModelErrorException", "wanderlust", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, b := record(t, tt.reply, recorder.Text("a second attempt"))
			got, failed := parts(t, b, hello)
			if failed == nil || failed.Type != tt.want || !strings.Contains(failed.Message, tt.holds) || len(got) != tt.said {
				t.Errorf("got %v and %v, want %d parts, then %s with %q", got, failed, tt.said, tt.want, tt.holds)
			}
			if n := len(r.Requests()); n != 1 {
				t.Errorf("the server was asked %d times: attempts are the caller's", n)
			}
			if failed != nil && strings.Contains(failed.Message, "key-1") {
				t.Error("the key stands in the message")
			}
		})
	}
}

func TestServerThatIsAway(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	_, failed := parts(t, openai.New(away.URL, "m1"), hello)
	if failed == nil || failed.Type != "ServiceUnavailableException" || !strings.Contains(failed.Message, away.URL) {
		t.Errorf("failed with %v, want ServiceUnavailableException that names the address", failed)
	}
}

// TestRefusedParameters: what a server refuses by name is left out, and max_tokens goes by its new name, at once and from then on.
func TestRefusedParameters(t *testing.T) {
	refuse := func(param string) recorder.Reply {
		return recorder.Reply{Status: 400, Body: `{"error":{"message":"Unsupported parameter","type":"invalid_request_error","code":"unsupported_parameter","param":"` + param + `"}}`}
	}
	body := `{"messages":[{"role":"user","content":[{"text":"hello"}]}],"inferenceConfig":{"maxTokens":50,"temperature":0.25,"topP":0.5,"stopSequences":["END"]}}`
	r, b := record(t, refuse("max_tokens"), refuse("temperature"), recorder.Text("Hi"), recorder.Text("Hi again"), refuse("temperature"))
	for range 2 {
		if got, failed := parts(t, b, body); failed != nil || len(got) != 3 {
			t.Fatalf("got %v, %v", got, failed)
		}
	}
	if _, failed := parts(t, b, body); failed == nil || failed.Type != "ValidationException" {
		t.Errorf("a refusal of what was not sent = %v, want ValidationException", failed)
	}
	var got []map[string]any
	for _, q := range r.Requests() {
		got = append(got, only(q.Body, "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop"))
	}
	stop := []any{"END"}
	final := map[string]any{"max_completion_tokens": 50.0, "top_p": 0.5, "stop": stop}
	want := []map[string]any{
		{"max_tokens": 50.0, "temperature": 0.25, "top_p": 0.5, "stop": stop},
		{"max_completion_tokens": 50.0, "temperature": 0.25, "top_p": 0.5, "stop": stop},
		final, final, final,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits, request by request (-want +got):\n%s", diff)
	}
}

// TestModelsThatTheLibraryKnows: what it refuses to send for them is left out.
func TestModelsThatTheLibraryKnows(t *testing.T) {
	r, _ := record(t, recorder.Text("Hi"))
	body := `{"messages":[{"role":"user","content":[{"text":"hello"}]}],"inferenceConfig":{"maxTokens":50,"temperature":0.7}}`
	if got, failed := parts(t, openai.New(r.URL, "gpt-5-mini"), body); failed != nil || len(got) != 3 {
		t.Fatalf("got %v, %v", got, failed)
	}
	want := map[string]any{"model": "gpt-5-mini", "max_completion_tokens": 50.0}
	if diff := cmp.Diff(want, only(r.Requests()[0].Body, "model", "max_tokens", "max_completion_tokens", "temperature")); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// TestTemperatureOfZero is sent as good as zero, not left to the server's default.
func TestTemperatureOfZero(t *testing.T) {
	r, b := record(t, recorder.Text("Hi"))
	parts(t, b, `{"messages":[{"role":"user","content":[{"text":"hello"}]}],"inferenceConfig":{"temperature":0}}`)
	if got, ok := r.Requests()[0].Body["temperature"].(float64); !ok || got > 1e-30 {
		t.Errorf("temperature = %v, %v, want as good as zero", got, ok)
	}
}

// TestListenerThatLeaves ends the request to the server too.
func TestListenerThatLeaves(t *testing.T) {
	r, b := record(t, recorder.Text("one", "two", "three"))
	n := 0
	for p, err := range b.Respond(t.Context(), bedrock.Request{Body: []byte(hello)}) {
		if n++; p != bedrock.Text("one") || err != nil {
			t.Errorf("part %d = %v, %v", n, p, err)
		}
		break
	}
	if n != 1 || len(r.Requests()) != 1 {
		t.Errorf("%d parts, %d requests", n, len(r.Requests()))
	}
}

func only(body map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, n := range names {
		if v, ok := body[n]; ok {
			out[n] = v
		}
	}
	return out
}
