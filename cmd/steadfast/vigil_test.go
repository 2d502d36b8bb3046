package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestNobodyWaitsForAFunctionThatDoesNotBuild: the compiler's words end the wait. What does not concern it is none of its business.
func TestNobodyWaitsForAFunctionThatDoesNotBuild(t *testing.T) {
	const said = "build run-turn: exit status 1\nmain.go:2:13: cannot use \"a\""
	const want = "steadfast: run-turn does not build; what was sent to it waits until it does:\n" +
		"  build run-turn: exit status 1\n  main.go:2:13: cannot use \"a\"\n"
	begin := at(t)
	s := standin.New(t)
	s.Broken = map[string]string{"run-turn": said, "list-skills": "no matter"}
	s.Say = func(*standin.Peer, contract.ClientMessage) {}
	s.Task = func(id string, _ int) *contract.TaskResult {
		return &contract.TaskResult{TaskID: id, Status: "PENDING"}
	}
	r := begin("")
	r.run(t, 1, "chat", "hello", "--url", s.URL)
	same(t, "stderr of a chat", r.err.String(), want)
	r = begin("")
	r.run(t, 1, "task", "run", "count", "--wait", "--url", s.URL)
	same(t, "stderr of a task", r.err.String(), "task task/1: PENDING\ntask task/1 goes on: steadfast task get task/1\n"+want)

	s = standin.New(t)
	s.Broken, s.Building = map[string]string{"list-skills": "no matter"}, []string{"connect", "run-turn"}
	r = begin("")
	s.Task = func(id string, _ int) *contract.TaskResult {
		if !strings.Contains(r.err.String(), "[building connect, run-turn]\n") {
			return &contract.TaskResult{TaskID: id, Status: "PENDING"}
		}
		return &contract.TaskResult{TaskID: id, Status: "COMPLETED", Output: "42"}
	}
	r.run(t, 0, "task", "run", "count", "--wait", "--url", s.URL)
	same(t, "stderr of a task that waits for a build", r.err.String(), "task task/1: PENDING\n[building connect, run-turn]\n")
}

// TestAFunctionThatCannotAnswer: what does not build stands behind the gateway's own words. A stack that others run is not asked.
func TestAFunctionThatCannotAnswer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_dev/token", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"token":"t"}`)) })
	mux.HandleFunc("GET /_dev/builds", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"broken":{"list-sessions":"build list-sessions: exit status 1\nmain.go:2:1: syntax error"}}`))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"message":"Internal Server Error"}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	said := "steadfast: GET " + server.URL + "/agent/sessions?limit=50 failed with status 500: Internal Server Error\n"
	begin := at(t)
	r := begin("")
	r.run(t, 1, "sessions", "list", "--url", server.URL)
	same(t, "stderr", r.err.String(), said+"list-sessions does not build:\n  build list-sessions: exit status 1\n  main.go:2:1: syntax error\n")
	r = begin("")
	r.run(t, 1, "sessions", "list", "--url", server.URL, "--token", "t")
	same(t, "stderr with a token", r.err.String(), said)
}

// TestInterruptWhileNothingAnswers: whoever is connected to nothing, or reads a terminal, is let go by one interrupt.
func TestInterruptWhileNothingAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	mouth, terminal, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = mouth.Close(), terminal.Close() })
	begin := at(t)
	for _, args := range [][]string{
		{"chat", "hello"}, {"chat"}, {"chat", "-"}, {"send", "s-1", "-"}, {"run", "-"}, {"sessions", "list"}, {"task", "run", "count", "--wait"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			r := begin("")
			r.s.stdin = mouth
			interrupts := make(chan os.Signal, 1)
			interrupts <- os.Interrupt
			r.s.interrupts = interrupts
			r.run(t, 130, append(args, "--url", "http://"+silent.Addr().String())...)
			same(t, "stderr", r.err.String(), "")
		})
	}
}
