package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestBuiltinTools: offered where they are named and nowhere else; http_request asks what the stack's parameter allows, and never the
// inside; notes stand in the conversation.
func TestBuiltinTools(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "the weather is fine")
	}))
	t.Cleanup(server.Close)
	s := start(t, cloud.Options{Parameters: map[string]string{"HttpAllowedHosts": server.URL + ", api.example.com"}})
	p := s.connect("ada", "")
	if got := p.ask(uuid.NewString(), "What tools do you have?").text; strings.Contains(got, "http_request") || !strings.Contains(got, "get_current_time") {
		t.Errorf("a session that names no tools has %q", got)
	}
	id := s.as("ada", "POST", "/agent/sessions", `{"tools":["http_request","notebook","no_such_tool"]}`).is(t, 201)["sessionId"].(string)
	if got := p.ask(id, "What tools do you have?").text; got != "My tools are: http_request, notebook." {
		t.Errorf("a session that names tools has %q", got)
	}
	get := func(url string) string { return p.ask(id, fmt.Sprintf(`call http_request with {"url":%q}`, url)).text }
	contains(t, "the answer", get(server.URL+"/"), "the weather is fine")
	contains(t, "the answer", get(server.URL+"/in"), "http_request failed: 169.254.169.254 is not a public host")
	contains(t, "the answer", get("https://www.example.org/"), "http_request failed: www.example.org is not among the hosts that may be asked")
	p.ask(id, `call notebook with {"mode":"create","newStr":"bread"}`)
	p.ask(id, `call notebook with {"mode":"write","newStr":"milk"}`)
	contains(t, "the answer", p.ask(id, `call notebook with {"mode":"read"}`).text, "bread\nmilk")
}

// TestRunAgainstTheDevHost: the command asks the model of the running stack, in both of Bedrock's ways to an object, and says where an
// answer does not fit.
func TestRunAgainstTheDevHost(t *testing.T) {
	t.Parallel()
	sh := shared(t).shell()
	schema := filepath.Join(t.TempDir(), "schema.json")
	text := `{"type":"object","properties":{"verdict":{"enum":["publish","revise"]},"score":{"type":"integer"}},"required":["verdict","score"],"additionalProperties":false}`
	if err := os.WriteFile(schema, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"us.amazon.nova-lite-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-opus-5-5"} {
		got := sh.fine("Review this.", "run", "-", "--schema", schema, "--model", model)
		if got.out != "{\n  \"score\": 0,\n  \"verdict\": \"publish\"\n}\n" || !strings.Contains(got.err, "[1 step, ") {
			t.Errorf("%s: %+v", model, got)
		}
	}
	wrong := sh.run("", "run", `call final_answer with {"verdict":"maybe"}`, "--schema", schema, "--json")
	if wrong.status != 1 || wrong.out != "" || !strings.Contains(wrong.err, `"code":"limit"`) || !strings.Contains(wrong.err, `"paths":["score","verdict"]`) {
		t.Errorf("an answer that does not fit: %+v", wrong)
	}
}
