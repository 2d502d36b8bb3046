package bedrock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// Pieces of requests.
const (
	user     = `{"role":"user","content":[{"text":"hi"}]}`
	calls    = `{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"t","input":{}}},{"toolUse":{"toolUseId":"b","name":"t","input":{"x":1}}}]}`
	resultA  = `{"toolResult":{"toolUseId":"a","content":[{"text":"ok"}]}}`
	resultB  = `{"toolResult":{"toolUseId":"b","status":"error","content":[{"json":{}}]}}`
	answers  = `{"role":"user","content":[` + resultA + `,` + resultB + `,{"text":"and more"}]}`
	theTools = `"toolConfig":{"tools":[{"toolSpec":{"name":"t","description":"d","inputSchema":{"json":{"type":"object"}}}}]}`
)

func conversation(messages ...string) string {
	return `{"messages":[` + strings.Join(messages, ",") + `],` + theTools + `}`
}

func assistant(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }

func says(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }

func withTools(tools string) string {
	return `{"messages":[` + user + `],"toolConfig":` + tools + `}`
}

func tool(name, schema string) string {
	return fmt.Sprintf(`{"toolSpec":{"name":%q,"inputSchema":{"json":%s}}}`, name, schema)
}

func formatted(schema string) string {
	return `{"messages":[` + user + `],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"x","schema":"` + schema + `"}}}}}`
}

func TestCheck(t *testing.T) {
	point := `{"cachePoint":{"type":"default"}}`
	object := `{"type":"object"}`
	thought := `{"reasoningContent":{"reasoningText":{"text":"hm","signature":"sig"}}}`
	document := func(name string) string {
		return `{"document":{"name":"` + name + `","format":"txt","source":{"bytes":"eA=="}}}`
	}
	image := `{"image":{"format":"png","source":{"bytes":"eA=="}}}`
	tests := []struct{ name, body, want string }{
		{"plain", `{"messages":[` + user + `]}`, ""},
		{"calls and results", conversation(user, calls, answers), ""},
		{"results in another order", conversation(user, calls, says(resultB+","+resultA)), ""},
		{"signed reasoning before a call", conversation(user, assistant(thought+`,{"reasoningContent":{"redactedContent":"eA=="}},{"text":"x"}`), user), ""},
		{"settings", `{"messages":[` + user + `],"system":[{"text":"be kind"},` + point + `],"inferenceConfig":{"maxTokens":1,"temperature":0,"topP":1,"stopSequences":["x"]}}`, ""},
		{"cache point after text", conversation(says(`{"text":"hi"},` + point)), ""},
		{"kinds that are not looked into", conversation(says(`{"guardContent":{"text":{"text":"x"}}}`)), ""},
		{"documents and images", conversation(says(`{"text":"look"},` + document("a-b (1) [x]") + "," + image)), ""},

		{"no messages", `{"messages":[]}`, "at least one message"},
		{"assistant first", conversation(assistant(`{"text":"x"}`), user), "must start with a user message"},
		{"assistant last", conversation(user, assistant(`{"text":"x"}`)), "must end with a user message"},
		{"two users", conversation(user, user), "must alternate"},
		{"two assistants", conversation(user, assistant(`{"text":"x"}`), assistant(`{"text":"x"}`), user), "must alternate"},
		{"unknown role", `{"messages":[{"role":"system","content":[{"text":"x"}]}]}`, "must start with a user"},
		{"unknown role later", conversation(user, `{"role":"tool","content":[{"text":"x"}]}`), "enum value set"},
		{"empty content", conversation(`{"role":"user","content":[]}`), "messages.0 is empty"},
		{"blank text", conversation(user, assistant(`{"text":"x"},{"text":" \n"}`), user), "messages.1.content.1 is blank"},
		{"no member", conversation(says(`{}`)), "exactly one known member"},
		{"two members", conversation(says(`{"text":"x","image":{}}`)), "exactly one known member"},
		{"null member", conversation(says(`{"text":null}`)), "exactly one known member"},

		{"call from the user", conversation(says(`{"toolUse":{"toolUseId":"a","name":"t","input":{}}}`)), "only allowed in assistant messages"},
		{"result from the assistant", conversation(user, assistant(resultA), user), "only allowed in user messages"},
		{"call without id", conversation(user, assistant(`{"toolUse":{"toolUseId":"","name":"t","input":{}}}`), user), "toolUseId"},
		{"call with a bad name", conversation(user, assistant(`{"toolUse":{"toolUseId":"a","name":"a b","input":{}}}`), user), "[a-zA-Z0-9_-]+"},
		{"input null", conversation(user, assistant(`{"toolUse":{"toolUseId":"a","name":"t","input":null}}`), user), "Provide a json object"},
		{"input text", conversation(user, assistant(`{"toolUse":{"toolUseId":"a","name":"t","input":"{}"}}`), user), "Provide a json object"},
		{"no input", conversation(user, assistant(`{"toolUse":{"toolUseId":"a","name":"t"}}`), user), "Provide a json object"},
		{"one result missing", conversation(user, calls, says(resultB)), "Expected toolResult blocks at messages.2.content for the following Ids: a"},
		{"both results missing", conversation(user, calls, user), "following Ids: a, b"},
		{"results in two messages", conversation(user, calls, says(resultA), assistant(`{"text":"x"}`), says(resultB)), "following Ids: b"},
		{"result twice", conversation(user, calls, says(resultA+","+resultA+","+resultB)), "duplicate or was not requested: a"},
		{"result of no call", conversation(user, assistant(`{"text":"x"}`), says(resultA)), "exceeds the number of toolUse blocks"},
		{"result first of all", conversation(says(resultA)), "exceeds the number of toolUse blocks"},
		{"text before results", conversation(user, calls, says(`{"text":"x"},`+resultA+","+resultB)), "must come before other content"},
		{"empty result", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a","content":[]}},`+resultB)), "is empty"},
		{"blank result", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a","content":[{"text":" "}]}},`+resultB)), "is blank"},
		{"result that is a list", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a","content":[{"json":[]}]}},`+resultB)), "Provide a json object"},
		{"result of no kind", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a","content":[{}]}},`+resultB)), "exactly one known member"},
		{"result with a status nobody knows", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a","status":"ok","content":[{"text":"x"}]}},`+resultB)), "[success, error]"},
		{"result with a bad id", conversation(user, calls, says(`{"toolResult":{"toolUseId":"a b","content":[{"text":"x"}]}},`+resultB)), "toolUseId"},
		{"an id used twice", conversation(user, calls, answers, calls, answers), "duplicate Ids: a"},
		{"calls without tools", `{"messages":[` + strings.Join([]string{user, calls, answers}, ",") + `]}`, "The toolConfig field must be defined"},

		{"unsigned reasoning", conversation(user, assistant(`{"reasoningContent":{"reasoningText":{"text":"x"}}},{"text":"x"}`), user), "signature: Field required"},
		{"reasoning from the user", conversation(says(thought + `,{"text":"x"}`)), "only allowed in assistant"},
		{"reasoning of no kind", conversation(user, assistant(`{"reasoningContent":{}},{"text":"x"}`), user), "exactly one known member"},
		{"reasoning last", conversation(user, assistant(`{"text":"x"},`+thought), user), "cannot be `thinking`"},

		{"no tools in the list", withTools(`{"tools":[]}`), "length greater than or equal to 1"},
		{"only a cache point", withTools(`{"tools":[` + point + `]}`), "at least one tool"},
		{"tool of no kind", withTools(`{"tools":[{}]}`), "exactly one known member"},
		{"tool with a dot", withTools(`{"tools":[` + tool("a.b", object) + `]}`), "[a-zA-Z0-9_-]+"},
		{"tool with a long name", withTools(`{"tools":[` + tool(strings.Repeat("a", 65), object) + `]}`), "less than or equal to 64"},
		{"tool twice", withTools(`{"tools":[` + tool("a", object) + "," + tool("a", object) + `]}`), "already defined"},
		{"tool with a blank description", withTools(`{"tools":[{"toolSpec":{"name":"a","description":"","inputSchema":{"json":{"type":"object"}}}}]}`), "description"},
		{"schema of an array", withTools(`{"tools":[` + tool("a", `{"type":"array"}`) + `]}`), "one of the following: object"},
		{"schema without type", withTools(`{"tools":[` + tool("a", `{}`) + `]}`), "one of the following: object"},
		{"schema that is text", withTools(`{"tools":[` + tool("a", `"{}"`) + `]}`), "Provide a json object"},
		{"schema with anyOf at the top", withTools(`{"tools":[` + tool("a", `{"type":"object","anyOf":[]}`) + `]}`), "at the top level"},
		{"choice of nobody", withTools(`{"tools":[` + tool("a", object) + `],"toolChoice":{"tool":{"name":"b"}}}`), "is not in toolConfig.tools"},
		{"choice of one", withTools(`{"tools":[` + tool("a", object) + `],"toolChoice":{"tool":{"name":"a"}}}`), ""},
		{"two choices", withTools(`{"tools":[` + tool("a", object) + `],"toolChoice":{"auto":{},"any":{}}}`), "exactly one known member"},
		{"forced while reasoning", `{"messages":[` + user + `],"toolConfig":{"tools":[` + tool("a", object) + `],"toolChoice":{"any":{}}},"additionalModelRequestFields":{"top_k":1,"thinking":{"type":"enabled"}}}`, "Thinking may not be enabled"},

		{"no room for an answer", `{"messages":[` + user + `],"inferenceConfig":{"maxTokens":0}}`, "maxTokens"},
		{"too hot", `{"messages":[` + user + `],"inferenceConfig":{"temperature":1.1}}`, "temperature"},
		{"topP", `{"messages":[` + user + `],"inferenceConfig":{"topP":-0.1}}`, "topP"},
		{"empty stop sequence", `{"messages":[` + user + `],"inferenceConfig":{"stopSequences":[""]}}`, "stopSequences.1.member"},
		{"blank system text", `{"messages":[` + user + `],"system":[{"text":" "}]}`, "system.0 is blank"},
		{"system of another kind", `{"messages":[` + user + `],"system":[{"image":{}}]}`, "exactly one known member"},

		{"cache point first", conversation(says(point + `,{"text":"x"}`)), "must follow a content block"},
		{"cache point after reasoning", conversation(user, assistant(thought+","+point+`,{"text":"x"}`), user), "must follow a content block"},
		{"five cache points", conversation(says(`{"text":"1"},` + point + `,{"text":"2"},` + point + `,{"text":"3"},` + point + `,{"text":"4"},` + point + `,{"text":"5"},` + point)), "A maximum of 4"},
		{"cache point after a result", conversation(user, calls, says(resultA+","+resultB+","+point)), "extraneous key [cachePoint]"},
		{"cache point among the tools", withTools(`{"tools":[` + tool("a", object) + "," + point + `]}`), "extraneous key [cachePoint]"},

		{"picture from the assistant", conversation(user, assistant(`{"text":"x"},`+image), user), "only allowed in user messages"},
		{"document without text", conversation(says(document("a"))), "A text block must be included"},
		{"document with a bad name", conversation(says(`{"text":"x"},` + document("a.txt"))), "file name can only contain"},
		{"document with two spaces", conversation(says(`{"text":"x"},` + document("a  b"))), "file name can only contain"},
		{"two documents of one name", conversation(says(`{"text":"x"},` + document("a") + "," + document("a"))), "must be unique"},
		{"six documents", conversation(says(`{"text":"x"},` + document("a") + "," + document("b") + "," + document("c") + "," + document("d") + "," + document("e") + "," + document("f"))), "number of documents exceeds"},
		{"many images", conversation(says(`{"text":"x"}` + strings.Repeat(","+image, 21))), "number of images exceeds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, message := check(t, "us.amazon.nova-lite-v1:0", tt.body)
			if (tt.want == "") != (name == "") || name != "" && name != "ValidationException" || !strings.Contains(message, tt.want) {
				t.Errorf("Check = %s %q, want a ValidationException with %q", name, message, tt.want)
			}
		})
	}
}

func TestSchemaOfTheText(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"a schema for the text", formatted(`{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":false}`), ""},
		{"a schema that is open", formatted(`{\"type\":\"object\"}`), "'additionalProperties' must be explicitly set to false"},
		{"a schema that is open inside", formatted(`{\"type\":\"array\",\"items\":{\"type\":\"object\"}}`), "'additionalProperties' must be"},
		{"a schema with bounds", formatted(`{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":1}}`), "property 'minimum' is not supported"},
		{"a schema that is text", formatted(`7`), "is not a JSON object"},
		{"no schema", `{"messages":[` + user + `],"outputConfig":{"textFormat":{"type":"json_schema","structure":{}}}}`, "union at outputConfig.textFormat.structure"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, message := check(t, "eu.anthropic.claude-haiku-4-5-20251001-v1:0", tt.body)
			if (tt.want == "") != (message == "") || !strings.Contains(message, tt.want) {
				t.Errorf("Check = %q, want %q", message, tt.want)
			}
		})
	}
	if _, message := check(t, "us.amazon.nova-lite-v1:0", tests[0].body); !strings.Contains(message, "does not support") {
		t.Errorf("Check for a model without = %q", message)
	}
}

// TestSettingsByModel: newer models take less.
func TestSettingsByModel(t *testing.T) {
	warm := `{"messages":[` + user + `],"inferenceConfig":{"temperature":0.5}}`
	forced := withTools(`{"tools":[` + tool("a", `{"type":"object"}`) + `],"toolChoice":{"any":{}}}`)
	for _, tt := range []struct{ model, body, want string }{
		{"us.anthropic.claude-opus-4-6-v1", warm, ""},
		{"us.anthropic.claude-opus-4-7", warm, "temperature` is deprecated"},
		{"anthropic.claude-sonnet-5", warm, "temperature` is deprecated"},
		{"anthropic.claude-sonnet-5", forced, ""},
		{"anthropic.claude-sonnet-5-5", forced, "are not supported for this model"},
		{"anthropic.claude-fable-5", forced, "are not supported for this model"},
	} {
		if _, message := check(t, tt.model, tt.body); (tt.want == "") != (message == "") || !strings.Contains(message, tt.want) {
			t.Errorf("%s: %q, want %q", tt.model, message, tt.want)
		}
	}
}

func TestLargeMedia(t *testing.T) {
	for kind, limit := range map[string]int{"image": bedrock.MaxImageBytes, "document": bedrock.MaxDocumentBytes} {
		for _, over := range []int{0, 1} {
			media := &bedrock.Media{Name: "a"}
			media.Source.Bytes = make([]byte, limit+over)
			err := bedrock.Check(bedrock.Request{Messages: []bedrock.Message{{Role: "user", Content: []bedrock.Block{{Kind: "text", Text: "x"}, {Kind: kind, Media: media}}}}})
			if (err != nil) != (over > 0) {
				t.Errorf("%s of %d bytes: Check = %v", kind, limit+over, err)
			}
		}
	}
}

func TestCachePointsByModel(t *testing.T) {
	point := `{"cachePoint":{"type":"default"}}`
	inText := conversation(says(`{"text":"x"},` + point))
	inTools := withTools(`{"tools":[` + tool("a", `{"type":"object"}`) + "," + point + `]}`)
	afterResult := conversation(user, calls, says(resultA+","+resultB+","+point))
	tests := []struct{ model, body, exception string }{
		{"us.anthropic.claude-sonnet-4-6", inText, ""},
		{"us.anthropic.claude-sonnet-4-6", inTools, ""},
		{"us.anthropic.claude-sonnet-4-6", afterResult, ""},
		{"us.amazon.nova-lite-v1:0", inText, ""},
		{"us.amazon.nova-lite-v1:0", inTools, "ValidationException"},
		{"meta.llama3-1-70b-instruct-v1:0", inText, "AccessDeniedException"},
	}
	for _, tt := range tests {
		if name, message := check(t, tt.model, tt.body); name != tt.exception {
			t.Errorf("%s: Check = %s %q, want %q", tt.model, name, message, tt.exception)
		}
	}
}

// check gives the name and message of the exception that body is refused with, or nothing.
func check(t *testing.T, model, body string) (name, message string) {
	t.Helper()
	req := bedrock.Request{ModelID: model}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatalf("the test's own JSON is broken: %v in %s", err, body)
	}
	err := bedrock.Check(req)
	var e *bedrock.Error
	if errors.As(err, &e) {
		return e.Type, e.Message
	}
	if err != nil {
		t.Fatalf("Check = %v, which is no exception", err)
	}
	return "", ""
}

// No body whatever makes the server fail other than by an exception of the service.
func FuzzConverse(f *testing.F) {
	for _, body := range []string{conversation(user, calls, answers), `{}`, `[]`, `{"messages":[{"role":"user","content":[{"toolResult":null}]}]}`, `{"messages":[null]}`, withTools(`{"tools":[{"toolSpec":null}],"toolChoice":{}}`)} {
		f.Add(body)
	}
	server := &bedrock.Server{Model: bedrock.Offline{}}
	f.Fuzz(func(t *testing.T, body string) {
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, httptest.NewRequest("POST", "/model/m/converse", strings.NewReader(body)))
		if rec.Code != 200 && rec.Header().Get("X-Amzn-Errortype") == "" || rec.Code == 500 {
			t.Errorf("answer to %q = %d %s", body, rec.Code, rec.Body)
		}
	})
}
