package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/recall"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// session is one run of the command line.
type session struct {
	out, err safeBuffer
	s        surroundings
}

// safeBuffer is written by a turn and read by a test.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// at gives runs that share a memory of sessions and find no settings in the environment.
func at(t *testing.T) func(stdin string) *session {
	for _, name := range []string{"STEADFAST_URL", "STEADFAST_WS_URL", "STEADFAST_TOKEN"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name) // Setenv brings it back
	}
	book := recall.Book{Path: filepath.Join(t.TempDir(), "sessions.json")}
	return func(stdin string) *session {
		r := &session{}
		r.s = surroundings{stdin: strings.NewReader(stdin), stdout: &r.out, stderr: &r.err, program: "steadfast", book: book, poll: time.Millisecond}
		return r
	}
}

func (r *session) run(t *testing.T, want int, args ...string) {
	t.Helper()
	if got := run(args, r.s); got != want {
		t.Fatalf("%v: status %d, want %d\nstdout: %s\nstderr: %s", args, got, want, r.out.String(), r.err.String())
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// echo answers each message with what it said and a tool call.
func echo(p *standin.Peer, m contract.ClientMessage) {
	turn := &standin.Turn{ID: "t-" + m.DeliveryID, Fence: 1, Session: m.SessionID}
	p.Send(turn.Begin(), turn.Text("You said", 1), turn.Tool("clock", "tu-1"), turn.Text(": "+m.Request, 2))
	p.Send(turn.End(m.DeliveryID)...)
}

func TestHelp(t *testing.T) {
	r := at(t)("")
	r.run(t, 0, "--help")
	for _, word := range []string{"dev", "token", "chat", "task", "sessions", "send", "stop", "events", "trajectory", "--url", "--json"} {
		if !strings.Contains(r.out.String(), word) {
			t.Errorf("help does not mention %s:\n%s", word, r.out.String())
		}
	}
	r = at(t)("")
	r.run(t, 0, "run", "--help")
	for _, part := range []string{"default 25", "default 10m", "default " + defaultURL} {
		if !strings.Contains(strings.Join(strings.Fields(r.out.String()), " "), part) {
			t.Errorf("help does not say %q:\n%s", part, r.out.String())
		}
	}
}

func TestVersion(t *testing.T) {
	r := at(t)("")
	r.run(t, 0, "--version")
	if !regexp.MustCompile(`^steadfast \S+ go1\.\d+\S*\n$`).MatchString(r.out.String()) {
		t.Errorf("version = %q", r.out.String())
	}
}

func TestErrors(t *testing.T) {
	s := standin.New(t)
	tests := []struct {
		name          string
		args          []string
		message, code string
	}{
		{"unknown flag", []string{"token", "--colour"}, "unknown flag --colour (see steadfast token --help)", "invalid"},
		{"unknown command", []string{"sessions", "lst"}, `unexpected argument lst, did you mean "list"? (see steadfast sessions --help)`, "invalid"},
		{"a variable that is not set", []string{"sessions", "delete", ""}, "<id> is empty (see steadfast sessions delete --help)", "invalid"},
		{"a flag with one", []string{"chat", "--session", "", "hello"}, "--session is empty (see steadfast chat --help)", "invalid"},
		{"nobody", []string{"token", "--user", ""}, "--user is empty (see steadfast token --help)", "invalid"},
		{"no URL", []string{"token", "--url", "127.0.0.1:8787"}, `--url: "127.0.0.1:8787" is no URL such as http://127.0.0.1:8787`, "invalid"},
		{"nobody there", []string{"token", "--url", "http://127.0.0.1:1"}, "nothing listens at http://127.0.0.1:1: start it with `steadfast dev`", "unavailable"},
		{"no token for a far stack", []string{"task", "get", "x", "--url", "https://example.com"}, "no token for https://example.com: give one with --token or STEADFAST_TOKEN", "unauthorized"},
		{"bad token", []string{"task", "get", "x", "--url", s.URL, "--token", "secret"}, "the token was refused: it is missing, has expired or belongs to another user pool", "unauthorized"},
		{"no such task", []string{"task", "get", "x", "--url", s.URL}, "there is no such task", "not_found"},
		{"other people's session", []string{"sessions", "show", "x", "--url", s.URL}, "the session belongs to somebody else", "denied"},
		{"too late", []string{"task", "cancel", "done", "--url", s.URL}, "the task is over", "conflict"},
		{"150 KB", []string{"chat", strings.Repeat("x", 150*1024), "--url", s.URL}, "the message has 153600 bytes, the limit is 131072 (128 KB)", "limit"},
		{"empty message", []string{"chat", "-", "--url", s.URL}, "the message is empty", "invalid"},
		{"bad limit", []string{"sessions", "list", "--limit", "0", "--url", s.URL}, "--limit must be at least 1", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begin := at(t)
			people := begin("")
			people.run(t, 1, tt.args...)
			same(t, "stderr", people.err.String(), "steadfast: "+tt.message+"\n")
			same(t, "stdout", people.out.String(), "")

			programs := begin("")
			programs.run(t, 1, append(tt.args, "--json")...)
			var said contract.ErrorBody
			if err := json.Unmarshal([]byte(programs.err.String()), &said); err != nil {
				t.Fatalf("stderr %q: %v", programs.err.String(), err)
			}
			if diff := cmp.Diff(contract.ErrorBody{Message: tt.message, Code: tt.code}, said); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToken(t *testing.T) {
	s := standin.New(t)
	begin := at(t)
	r := begin("")
	r.run(t, 0, "token", "--user", "ada", "--url", s.URL+"/")
	same(t, "stdout", r.out.String(), s.Token()+"\n")
	r = begin("")
	r.run(t, 0, "token", "--user", "ada", "--url", s.URL, "--json")
	same(t, "stdout", r.out.String(), fmt.Sprintf(`{"token":%q,"user":"ada"}`, s.Token())+"\n")
}

func TestTask(t *testing.T) {
	s := standin.New(t)
	s.Task = func(id string, asked int) *contract.TaskResult {
		switch {
		case id == "bad":
			return &contract.TaskResult{TaskID: id, Status: "FAILED", Error: "the model refused"}
		case asked == 1:
			return &contract.TaskResult{TaskID: id, Status: "RUNNING"}
		}
		return &contract.TaskResult{TaskID: id, Status: "COMPLETED", Output: "42"}
	}
	begin := at(t)

	r := begin("")
	r.run(t, 0, "task", "run", "count", "--wait", "--session", "s-1", "--url", s.URL)
	same(t, "stdout", r.out.String(), "42\n")
	same(t, "stderr", r.err.String(), "task task/1: PENDING\ntask task/1: RUNNING\n")
	if got := s.Requests()[0]; got != `POST /agent/tasks {"request":"count","sessionId":"s-1"}` {
		t.Errorf("request = %s", got)
	}

	r = begin("")
	r.run(t, 0, "task", "run", "count", "--url", s.URL)
	same(t, "stdout", r.out.String(), "task    task/1\nstatus  PENDING\n")

	r = begin("")
	r.run(t, 0, "task", "get", "bad", "--url", s.URL)
	same(t, "stdout", r.out.String(), "task    bad\nstatus  FAILED\nerror   the model refused\n")

	r = begin("")
	r.run(t, 0, "task", "get", "t-1", "--url", s.URL, "--json")
	same(t, "stdout", r.out.String(), `{"taskId":"t-1","status":"COMPLETED","output":"42"}`+"\n")

	r = begin("")
	r.run(t, 0, "task", "cancel", "t-1", "--url", s.URL)
	same(t, "stdout", r.out.String(), "task t-1: cancel asked for\n")
}

func TestFailedTaskThatWasWaitedFor(t *testing.T) {
	s := standin.New(t)
	s.Task = func(id string, _ int) *contract.TaskResult {
		return &contract.TaskResult{TaskID: id, Status: "FAILED", Error: "the model refused"}
	}
	r := at(t)("")
	r.run(t, 1, "task", "run", "count", "--wait", "--json", "--url", s.URL)
	same(t, "stdout", r.out.String(), `{"taskId":"task/1","status":"FAILED","error":"the model refused"}`+"\n")
	same(t, "stderr", r.err.String(), `{"code":"task_failed","message":"task task/1 ended FAILED: the model refused"}`+"\n")
}

func TestSessions(t *testing.T) {
	s := standin.New(t)
	s.Sessions = []map[string]any{
		{"sessionId": "a", "title": "First", "createdAt": "2026-01-02T00:00:00.000Z"}, {"sessionId": "b", "title": "Second", "createdAt": "2026-01-01T00:00:00.000Z"},
	}
	begin := at(t)
	r := begin("")
	r.run(t, 0, "sessions", "list", "--url", s.URL)
	same(t, "stdout", r.out.String(), "SESSION  CREATED                   TITLE\n"+
		"a        2026-01-02T00:00:00.000Z  First\nb        2026-01-01T00:00:00.000Z  Second\n")
	r = begin("")
	r.run(t, 0, "sessions", "list", "--limit", "1", "--url", s.URL, "--json")
	same(t, "stdout", r.out.String(), `{"sessions":[{"createdAt":"2026-01-02T00:00:00.000Z","sessionId":"a","title":"First"}]}`+"\n")
	r = begin("")
	r.run(t, 0, "sessions", "show", "b", "--url", s.URL)
	same(t, "stdout", r.out.String(), "{\n  \"createdAt\": \"2026-01-01T00:00:00.000Z\",\n  \"sessionId\": \"b\",\n  \"title\": \"Second\"\n}\n")

	if err := r.s.book.Remember(s.URL, "dev", "b"); err != nil {
		t.Fatal(err)
	}
	r = begin("")
	r.run(t, 0, "sessions", "delete", "b", "--url", s.URL)
	same(t, "stdout", r.out.String(), "session b is deleted\n")
	same(t, "remembered session", r.s.book.Session(s.URL, "dev"), "")

	s.Sessions = nil
	r = begin("")
	r.run(t, 0, "sessions", "list", "--url", s.URL)
	same(t, "stdout", r.out.String(), "")
	same(t, "stderr", r.err.String(), "no sessions yet\n")
	r = begin("")
	r.run(t, 0, "sessions", "list", "--url", s.URL, "--json")
	same(t, "stdout", r.out.String(), `{"sessions":[]}`+"\n")
}

func TestTrajectory(t *testing.T) {
	stream := `{"type":"turn.started","index":1,"sessionId":"s","turnId":"turn_1","data":{}}
{"type":"turn.failed","index":2,"sessionId":"s","turnId":"turn_1","data":{"status":"cancelled","error":"stopped"}}
`
	want := `{"type":"answer","session_id":"s","turn_id":"turn_1","text":"","tools":[],"error":"cancelled","message":"stopped"}` + "\n"
	new := at(t)
	r := new(stream)
	r.run(t, 0, "trajectory", "--events", "-")
	same(t, "of stdin", r.out.String(), want)
	file := filepath.Join(t.TempDir(), "events.ndjson")
	if err := os.WriteFile(file, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	r = new("")
	r.run(t, 0, "trajectory", "--events", file)
	same(t, "of a file", r.out.String(), want)
	new("").run(t, 1, "trajectory", "--events", file+"x")
	new("nonsense").run(t, 1, "trajectory", "--events", "-")
}

func TestWho(t *testing.T) {
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"sub-1"}`))
	for _, tt := range []struct {
		c    cli
		want string
	}{
		{cli{User: "ada"}, "ada"},
		{cli{User: "ada", JWT: "h." + claims + ".s"}, "sub-1"},
		{cli{JWT: "opaque"}, "token"},
		{cli{JWT: "a.b.c"}, "token"},
	} {
		if got := tt.c.who(); got != tt.want {
			t.Errorf("who() with token %q = %q, want %q", tt.c.JWT, got, tt.want)
		}
	}
}

func TestProgramName(t *testing.T) {
	for arg0, want := range map[string]string{
		"./bin/steadfast": "./bin/steadfast",
		filepath.FromSlash("/tmp/go-build123/b001/exe/steadfast"): "go run ./cmd/steadfast",
	} {
		if got := programName(arg0); got != want {
			t.Errorf("programName(%q) = %q, want %q", arg0, got, want)
		}
	}
}
