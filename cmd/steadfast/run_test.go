package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	models "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

const reviewSchema = `{"type":"object","properties":{"verdict":{"enum":["publish","revise"]},
	"findings":{"type":"array","items":{"type":"object","properties":{"span":{"type":"string"},"fix":{"type":"string"}},"required":["span","fix"]}}},
	"required":["verdict","findings"],"additionalProperties":false}`

func schemaFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRunOnce: what is printed and how it ends, with the model of this machine.
func TestRunOnce(t *testing.T) {
	schema := schemaFile(t, reviewSchema)
	answer := func(input string) string { return "call final_answer with " + input }
	tests := []struct {
		name, stdin string
		args        []string
		status      int
		out, err    string
	}{
		{"text", "", []string{"say 3 words"}, 0, "word1 word2 word3\n", "[1 step, 43 tokens in, 5 out, price not known]\n"},
		{"from stdin", "say 1 words\n", []string{"-"}, 0, "word1\n", "[1 step, 43 tokens in, 2 out, price not known]\n"},
		{"an object", "", []string{"--schema", schema, answer(`{"verdict":"revise","findings":[{"span":"Teh","fix":"The"}]}`)}, 0,
			"{\n  \"findings\": [\n    {\n      \"fix\": \"The\",\n      \"span\": \"Teh\"\n    }\n  ],\n  \"verdict\": \"revise\"\n}\n", ""},
		{"for programs", "", []string{"--json", "--schema", schema, answer(`{"verdict":"publish","findings":[]}`)}, 0,
			`{"output":{"findings":[],"verdict":"publish"},"structured":true,"stopReason":"tool_use","steps":1,"usage":{"inputTokens":`, ""},
		{"no valid object", "", []string{"--schema", schema, answer(`{"verdict":"maybe","findings":[{"span":"Teh"}],"more":1}`)}, 1, "",
			"steadfast: no valid answer in 3 attempts: findings[0].fix: missing; more: not expected; verdict: enum: maybe does not equal any of: [publish revise]\n"},
		{"no valid object, for programs", "", []string{"--json", "--schema", schema, answer(`{"verdict":"maybe","findings":[{"span":"Teh"}],"more":1}`)}, 1, "",
			`"paths":["findings[0].fix","more","verdict"]}`},
		{"too few steps", "", []string{"--max-steps", "1", "--schema", schema, answer(`{}`)}, 1, "", "no valid answer in 1 attempt: verdict: missing; findings: missing; the limit of steps is reached"},
		{"a tool", "", []string{"--tool", "notebook", `call notebook with {"mode":"create","newStr":"a"}`}, 0, `notebook answered: Notebook "default" has 1 lines.` + "\n", "[notebook, "},
		{"a tool that is refused", "", []string{"--tool", "http_request", `call http_request with {"url":"https://127.0.0.1/"}`}, 0, "http_request failed: 127.0.0.1 is not a public host\n", "[http_request, failed: denied]\n"},
		{"a tool that is none", "", []string{"--tool", "bash", "hello"}, 1, "", "there is no built-in tool bash: get_current_time, http_request, notebook are\n"},
		{"nothing", "", []string{""}, 1, "", "the message is empty"},
		{"no steps", "", []string{"--max-steps", "0", "hello"}, 1, "", "--max-steps must be at least 1"},
		{"no such schema", "", []string{"--schema", schema + ".gone", "hello"}, 1, "", "read the schema: open "},
		{"a schema that is none", "", []string{"--schema", schemaFile(t, `[]`), "hello"}, 1, "", "is no JSON schema: "},
		{"a schema that leads nowhere", "", []string{"--schema", schemaFile(t, `{"$ref":"#/$defs/gone"}`), "hello"}, 1, "", "schema: "},
		{"too slow", "", []string{"--timeout", "1ms", "slow 200 ms say 50 words"}, 1, "", "no answer within 1ms (--timeout)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := at(t)(tt.stdin)
			r.run(t, tt.status, append([]string{"run", "--model", "offline"}, tt.args...)...)
			if got := r.out.String(); got != tt.out && (tt.out == "" || !strings.HasPrefix(got, tt.out)) {
				t.Errorf("stdout = %q, want %q", got, tt.out)
			}
			if got := r.err.String(); !strings.Contains(got, tt.err) {
				t.Errorf("stderr = %q, want %q", got, tt.err)
			}
		})
	}
}

// TestRunAtTheDevHost: the model is the dev host's, under the id that was asked for.
func TestRunAtTheDevHost(t *testing.T) {
	script := &models.Script{Replies: []models.Reply{{models.Text("From "), models.Text("there."), models.Usage{Input: 7, Output: 2, CacheRead: 100, CacheWrite: 3}}}}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.Handle("/model/", &models.Server{Model: script})
	mux.HandleFunc("GET /_dev/info", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"aws":%q,"table":"t","bus":"b","region":"us-east-1"}`, server.URL)
	})
	r := at(t)("")
	r.run(t, 0, "run", "--url", server.URL, "--model", "us.amazon.nova-pro-v1:0", "--system", "Be brief.", "--temperature", "0", "--max-tokens", "9", "hello")
	same(t, "stdout", r.out.String(), "From there.\n")
	same(t, "stderr", r.err.String(), "[1 step, 7 tokens in, 2 out, cache: 100 read, 3 written, $0.0000344]\n")
	sent := script.Requests()[0]
	if sent.ModelID != "us.amazon.nova-pro-v1:0" || sent.System[0].Text != "Be brief." || *sent.Inference.Temperature != 0 || *sent.Inference.MaxTokens != 9 {
		t.Errorf("request = %+v", sent)
	}
	r = at(t)("")
	r.run(t, 1, "run", "--url", "https://api.example.com", "hello")
	same(t, "stderr", r.err.String(), "steadfast: which model? Give --model bedrock:<id>, or run steadfast dev\n")
}
