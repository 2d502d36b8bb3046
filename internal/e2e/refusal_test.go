package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// unchanged fails the test when the table is not as it was, connections aside, which come and go.
func (s stack) unchanged(before map[string]map[string]any) {
	s.t.Helper()
	after := s.rows(s.t)
	for _, rows := range []map[string]map[string]any{before, after} {
		maps.DeleteFunc(rows, func(k string, _ map[string]any) bool { return strings.HasPrefix(k, "CONNECTION#") })
	}
	if diff := cmp.Diff(before, after); diff != "" {
		s.t.Errorf("what was refused changed the table (-before +after):\n%s", diff)
	}
}

// wrongTokens gives tokens that must be refused everywhere, by what is wrong with them.
func (s stack) wrongTokens() map[string]string {
	s.t.Helper()
	other, err := identity.New(identity.Options{URL: s.info.Issuer, ClientID: "steadfastdev"})
	if err != nil {
		s.t.Fatal(err)
	}
	forged, err := other.Token("ada", identity.TokenOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	good := s.token("ada")
	tokens := map[string]string{
		"none":                    "",
		"no token":                "nonsense.of.twenty-or-more-letters",
		"signed by another key":   forged,
		"signature cut off":       good[:strings.LastIndexByte(good, '.')+1],
		"without algorithm":       "eyJhbGciOiJub25lIn0." + strings.Split(good, ".")[1] + ".",
		"expired":                 s.tokenWith("ada", identity.TokenOptions{IssuedAt: time.Now().Add(-2 * time.Hour)}),
		"of another client":       s.tokenWith("ada", identity.TokenOptions{ClientID: "another"}),
		"of another pool":         s.tokenWith("ada", identity.TokenOptions{Claims: map[string]any{"iss": s.info.Issuer + "2"}}),
		"without a client":        s.tokenWith("ada", identity.TokenOptions{Claims: map[string]any{"client_id": nil}}),
		"an id of another client": s.tokenWith("ada", identity.TokenOptions{Use: "id", ClientID: "another"}),
	}
	for _, token := range tokens {
		s.keep(token)
	}
	return tokens
}

// TestP32WrongTokens are refused at both doors, before anything runs.
func TestP32WrongTokens(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	before := s.rows(t)
	for what, token := range s.wrongTokens() {
		if got := s.with(token, "GET", "/agent/sessions", ""); got.status != 401 || got.body != `{"message":"Unauthorized"}` {
			t.Errorf("HTTP, %s: %+v", what, got)
		}
		tries := map[string]func() (*websocket.Conn, *http.Response, error){
			"subprotocol": func() (*websocket.Conn, *http.Response, error) { return s.handshake(token, "") },
			"query": func() (*websocket.Conn, *http.Response, error) {
				return websocket.Dial(t.Context(), s.info.WS+"?token="+url.QueryEscape(token), nil)
			},
			"header": func() (*websocket.Conn, *http.Response, error) {
				return websocket.Dial(t.Context(), s.info.WS, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
			},
		}
		for how, try := range tries {
			conn, resp, err := try()
			if err == nil {
				_ = conn.CloseNow()
				t.Errorf("WebSocket, %s in the %s: let in", what, how)
			} else if resp == nil || resp.StatusCode != 401 && resp.StatusCode != 403 {
				t.Errorf("WebSocket, %s in the %s: %v", what, how, err)
			}
		}
	}
	s.unchanged(before)
}

// TestP16TokenInThreePlaces: subprotocol, header and query are all taken.
func TestP16TokenInThreePlaces(t *testing.T) {
	t.Parallel()
	s := shared(t)
	s.connect("ada", "").ask(uuid.NewString(), `say "as subprotocol"`)
	for how, dial := range map[string]func() (*websocket.Conn, *http.Response, error){
		"query": func() (*websocket.Conn, *http.Response, error) {
			return websocket.Dial(t.Context(), s.info.WS+"?token="+s.token("ada"), nil)
		},
		"header": func() (*websocket.Conn, *http.Response, error) {
			return websocket.Dial(t.Context(), s.info.WS, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.token("ada")}}})
		},
	} {
		conn, _, err := dial()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		(&talker{t, conn}).ask(uuid.NewString(), `say "hello"`)
		_ = conn.CloseNow()
	}
}

func quoted(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// TestBadRequests: one clear error each, naming the field and the limit, and nothing is stored.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	before := s.rows(t)
	tests := []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"cut JSON", "POST", "/agent/sessions", `{"title":`, 400, "body: the JSON ends too early"},
		{"no JSON", "POST", "/agent/tasks", `request=x`, 400, "body: is not valid JSON"},
		{"a list", "POST", "/agent/sessions", `[]`, 400, "body: must be a JSON object"},
		{"two objects", "POST", "/agent/tasks", `{"request":"x"} {}`, 400, "body: must be one JSON object"},
		{"a number as title", "POST", "/agent/sessions", `{"title":7}`, 400, "title: must be a string, is a number"},
		{"a text as list", "POST", "/agent/sessions", `{"tools":"all"}`, 400, "tools: must be a list, is a string"},
		{"too hot", "POST", "/agent/sessions", `{"temperature":3}`, 400, "temperature: "},
		{"no tokens", "POST", "/agent/sessions", `{"maxTokens":-1}`, 400, "maxTokens: "},
		{"a long title", "POST", "/agent/sessions", `{"title":` + quoted(600) + `}`, 400, "title: 600 bytes, the limit is 512"},
		{"a long prompt", "POST", "/agent/sessions", `{"systemPrompt":` + quoted(70_000) + `}`, 400, "systemPrompt: 70000 bytes, the limit is 65536"},
		{"a large session", "POST", "/agent/sessions", `{"unknown":` + quoted(310_000) + `}`, 400, "the limit is 307200"},
		{"a local MCP server", "POST", "/agent/sessions", `{"mcpServers":{"x":{"command":"rm"}}}`, 400, "mcpServers.x"},
		{"an unknown MCP host", "POST", "/agent/sessions", `{"mcpServers":{"x":{"url":"https://example.com/mcp"}}}`, 400, "mcpServers.x"},
		{"a task with a local MCP server", "POST", "/agent/tasks", `{"request":"x","mcpServers":{"x":{"command":"rm"}}}`, 400, "mcpServers.x: servers that are started by a command"},
		{"a task without a request", "POST", "/agent/tasks", `{}`, 400, "request: must not be empty"},
		{"a task with a long request", "POST", "/agent/tasks", `{"request":` + quoted(150_000) + `}`, 400, "request: 150000 bytes, the limit is 131072"},
		{"a large task", "POST", "/agent/tasks", `{"request":` + quoted(310_000) + `}`, 400, "the limit is 307200"},
		{"a task in an odd session", "POST", "/agent/tasks", `{"request":"x","sessionId":"a\nb"}`, 400, "sessionId: "},
		{"a long session id", "POST", "/agent/connect", `{"sessionId":` + quoted(300) + `}`, 400, "the limit is 256"},
		{"a task's session", "POST", "/agent/connect", `{"sessionId":"task-1"}`, 400, "task-"},
		{"a limit of no number", "GET", "/agent/sessions?limit=many", "", 400, "limit: must be a whole number"},
		{"a limit too high", "GET", "/agent/sessions?limit=101", "", 400, "limit: must be from 1 to 100"},
		{"a made-up cursor", "GET", "/agent/sessions?cursor=bm9uZQ", "", 400, "cursor: "},
		{"a session that is not there", "GET", "/agent/sessions/nobodys", "", 404, "no such session"},
		{"a task that is not there", "GET", "/agent/tasks/nobodys", "", 404, "no such task"},
	}
	for _, tt := range tests {
		got := s.as("ada", tt.method, tt.path, tt.body)
		if got.status != tt.status || !strings.Contains(got.body, tt.says) || len(got.body) > 300 {
			t.Errorf("%s: %+v, want %d with %q", tt.name, got, tt.status, tt.says)
		}
		if body := got.is(t, tt.status); len(body) != 2 || body["message"] == "" || body["code"] == "" {
			t.Errorf("%s: %v, want a message and a code", tt.name, body)
		}
	}
	s.unchanged(before)
}

// TestUnknownRoutes are answered by API Gateway itself.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	s := shared(t)
	for _, r := range [][2]string{{"GET", "/agent/nothing"}, {"GET", "/"}, {"PUT", "/agent/sessions"}, {"POST", "/agent/tasks/x/y/z"}} {
		if got := s.as("ada", r[0], r[1], ""); got != (answer{404, `{"message":"Not Found"}`}) {
			t.Errorf("%s %s = %+v", r[0], r[1], got)
		}
	}
	if got := s.as("ada", "POST", "/agent/tasks", strings.Repeat(" ", 10<<20+1)); got.status != 413 {
		t.Errorf("a body over 10 MB = %+v", got)
	}
}

// TestBadMessages: one error message each over the same socket, which stays good, and nothing is stored.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	p := s.connect("ada", "")
	before := s.rows(t)
	id := uuid.NewString()
	tests := []struct{ name, message, says string }{
		{"cut JSON", `{"request":`, "message: the JSON ends too early"},
		{"no JSON", `hello`, "message: is not valid JSON"},
		{"a list", `[1]`, "message: must be a JSON object"},
		{"a number as request", `{"request":1,"session_id":"` + id + `"}`, "request: must be a string, is a number"},
		{"an unknown action", `{"action":"dance","session_id":"` + id + `"}`, `action: "dance" is not one of message, stop, subscribe, decide, ping`},
		{"no session", `{"request":"x"}`, "session_id: must not be empty"},
		{"no request", `{"request":"  ","session_id":"` + id + `"}`, "request: must not be empty"},
		{"a task's session", `{"request":"x","session_id":"task-1"}`, "session_id: "},
		{"a long session id", `{"request":"x","session_id":` + quoted(300) + `}`, "the limit is 256"},
		{"an unknown admission", `{"request":"x","admission":"now","session_id":"` + id + `"}`, "admission: must be"},
	}
	for _, tt := range tests {
		p.send(tt.message)
		m, raw := p.next()
		if m.Type != contract.TypeError || m.Error != "invalid" || !strings.Contains(m.Message, tt.says) {
			t.Errorf("%s: %s, want an error with %q", tt.name, raw, tt.says)
		}
	}
	p.send(fmt.Sprintf(`{"action":"stop","session_id":%q}`, id))
	if m, raw := p.next(); m.Type != contract.TypeError || m.Error != "not_found" {
		t.Errorf("stop of no session: %s", raw)
	}
	p.send(`{"action":"ping"}`)
	if m, raw := p.next(); m.Type != contract.TypePong {
		t.Errorf("ping after all that: %s", raw)
	}
	s.unchanged(before)
}

// TestP15LargeMessages: what API Gateway takes is taken, in any frames; what is larger ends the connection with its code, and
// nothing is stored.
func TestP15LargeMessages(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	p := s.connect("ada", "")
	if h := p.ask(id, `say "fine" `+strings.Repeat("é", 60_000)); h.text != "fine" {
		t.Errorf("a message of 120 KB = %+v", h)
	}
	s.rest(t)
	before := s.rows(t)
	if err := p.write(`{"request":` + quoted(150*1024) + `,"session_id":"` + id + `"}`); err != nil {
		t.Logf("the connection ended while a message of 150 KB was written: %v", err)
	}
	if code := p.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("150 KB in small frames: closed with %d, want 1009", code)
	}
	p = s.connect("ada", "")
	_ = p.conn.Write(t.Context(), websocket.MessageText, []byte(`{"request":`+quoted(40*1024)+`,"session_id":"`+id+`"}`))
	if code := p.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("40 KB in one frame: closed with %d, want 1009", code)
	}
	for k, row := range before { // the first connection's place among those that follow goes with it
		if strings.HasPrefix(fmt.Sprint(row["sk"]), "SUB#") {
			delete(before, k)
		}
	}
	eventually(t, "the connections to be forgotten", func() bool { return len(s.under(t, "SESSION#"+id)) > 0 && !s.anyFollower(id) })
	s.unchanged(before)
}

func (s stack) anyFollower(id string) bool {
	for _, sk := range s.under(s.t, "SESSION#"+id) {
		if strings.HasPrefix(sk, "SUB#") {
			return true
		}
	}
	return false
}

// TestMissingEnvironment: a function that lacks a variable says which, in one line, and answers nothing.
func TestMissingEnvironment(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Env: map[string]map[string]string{
		"get-session":  {"TABLE_NAME": ""},
		"ws-message":   {"TABLE_NAME": "", "WEBSOCKET_ENDPOINT": "nowhere"},
		"create-task":  {"EVENT_SOURCE": "aws.mine", "BEDROCK_TEMPERATURE": "warm"},
		"ws-authorize": {},
	}})
	before := s.rows(t)
	if got := s.as("ada", "GET", "/agent/sessions/x", ""); got != (answer{500, `{"message":"Internal Server Error"}`}) {
		t.Errorf("a function without its table = %+v", got)
	}
	if got := s.as("ada", "POST", "/agent/tasks", `{"request":"x"}`); got.status != 500 {
		t.Errorf("a function with bad settings = %+v", got)
	}
	p := s.connect("ada", "")
	p.say(uuid.NewString(), "hello")
	if m, raw := p.next(); m.Message != "Internal server error" {
		t.Errorf("a message to a function without its table: %s", raw)
	}
	for function, says := range map[string]string{
		"get-session": "environment: TABLE_NAME is missing",
		"ws-message":  "environment: TABLE_NAME is missing; WEBSOCKET_ENDPOINT must be a URL with https",
		"create-task": "environment: BEDROCK_TEMPERATURE must be a number from 0 to 1; EVENT_SOURCE must not start with aws.",
	} {
		if n := len(s.log.lines(function+" | ", says)); n != 1 {
			t.Errorf("%s: %d lines say %q, want one:\n%s", function, n, says, strings.Join(s.log.lines(function), "\n"))
		}
	}
	s.unchanged(before)
}
