package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

func TestRefusalsAreExplained(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		code, says string
	}{
		{"ours", `{"message":"the task is over","code":"conflict"}`, 409, "conflict", "the task is over"},
		{"the gateway's for a token", `{"message":"Unauthorized"}`, 401, "unauthorized", "the token was refused"},
		{"the gateway's for a route", `{"message":"Not Found"}`, 404, "not_found", "is not a route there"},
		{"the gateway's for a failure", `{"message":"Service Unavailable"}`, 503, "unavailable", "status 503: Service Unavailable"},
		{"the gateway's for a crash", `{"message":"Internal Server Error"}`, 500, "internal", "status 500: Internal Server Error"},
		{"denied without code", `{"message":"Forbidden"}`, 403, "denied", "Forbidden"},
		{"too large", `{"message":"Request Entity Too Large"}`, 413, "limit", "Too Large"},
		{"too often", `{"message":"Too Many Requests"}`, 429, "unavailable", "asked too often"},
		{"no JSON", `<html>`, 418, "invalid", "refused with status 418"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			_, err := (&client.Client{URL: server.URL, Token: "secret"}).Task(t.Context(), "t-1")
			if codeOf(err) != tt.code || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Task(...) = %v (%s), want %q (%s)", err, codeOf(err), tt.says, tt.code)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + l.Addr().String()
	_ = l.Close()
	want := "nothing listens at " + at + ": start it with `steadfast dev`"
	for name, call := range map[string]func() error{
		"route": func() error { _, err := (&client.Client{URL: at}).Task(t.Context(), "t"); return err },
		"token": func() error { _, err := client.DevToken(t.Context(), nil, at, "ada"); return err },
		"socket": func() error {
			c := client.Chat{Client: &client.Client{URL: at, WSURL: at}}
			_, err := c.Ask(t.Context(), "hello", client.Listener{})
			return err
		},
	} {
		if err := call(); codeOf(err) != "unavailable" || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestOtherAnswersThanOurs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) }))
	defer server.Close()
	if _, err := (&client.Client{URL: server.URL}).Connect(t.Context(), ""); codeOf(err) != "unavailable" {
		t.Errorf("Connect(...) = %v, want unavailable", err)
	}
	if _, err := (&client.Client{URL: "http://a b"}).Connect(t.Context(), ""); codeOf(err) != "invalid" {
		t.Errorf("Connect(...) at no url = %v, want invalid", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&client.Client{URL: server.URL}).Connect(ctx, ""); err != context.Canceled {
		t.Errorf("Connect(...) with an ended context = %v", err)
	}
}

func TestRoutes(t *testing.T) {
	s := standin.New(t)
	s.Task = func(id string, _ int) *contract.TaskResult {
		return &contract.TaskResult{TaskID: id, Status: "COMPLETED", Output: "42"}
	}
	s.Sessions = []map[string]any{{"sessionId": "a", "title": "A"}, {"sessionId": "b"}, {"sessionId": "c/d", "more": true}}
	c := &client.Client{URL: s.URL, Token: s.Token()}

	task, err := c.CreateTask(t.Context(), client.NewTask{Request: "do it", System: "billing"})
	if err != nil || task.TaskID != "task/1" || task.Final() {
		t.Errorf("CreateTask(...) = %+v, %v", task, err)
	}
	if task, err = c.Task(t.Context(), task.TaskID); err != nil || task.TaskID != "task/1" || task.Output != "42" || !task.Final() {
		t.Errorf("Task(...) = %+v, %v", task, err)
	}
	if _, err := c.CancelTask(t.Context(), "task/1"); err != nil {
		t.Errorf("CancelTask(...) = %v", err)
	}
	if _, err := c.CancelTask(t.Context(), "done"); codeOf(err) != "conflict" {
		t.Errorf("CancelTask(done) = %v, want conflict", err)
	}
	all, err := c.Sessions(t.Context(), 10)
	if err != nil || len(all) != 3 || all[0].Title != "A" || string(all[2].Raw) != `{"more":true,"sessionId":"c/d"}` {
		t.Errorf("Sessions(10) = %+v, %v", all, err)
	}
	if all, err = c.Sessions(t.Context(), 1); err != nil || len(all) != 1 {
		t.Errorf("Sessions(1) = %+v, %v", all, err)
	}
	if raw, err := c.SessionByID(t.Context(), "c/d"); err != nil || !strings.Contains(string(raw), `"more":true`) {
		t.Errorf("SessionByID(...) = %s, %v", raw, err)
	}
	if err := c.DeleteSession(t.Context(), "c/d"); err != nil {
		t.Errorf("DeleteSession(...) = %v", err)
	}
	want := []string{
		`POST /agent/tasks {"request":"do it","system":"billing"}`, "GET /agent/tasks/task%2F1",
		"POST /agent/tasks/task%2F1/cancel {}", "POST /agent/tasks/done/cancel {}",
		"GET /agent/sessions?limit=10", "GET /agent/sessions?cursor=2&limit=8", "GET /agent/sessions?limit=1",
		"GET /agent/sessions/c%2Fd", "DELETE /agent/sessions/c%2Fd",
	}
	if diff := cmp.Diff(want, s.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if _, err := c.CreateTask(t.Context(), client.NewTask{Request: strings.Repeat("x", 129*1024)}); codeOf(err) != "limit" {
		t.Errorf("CreateTask(129 KB) = %v, want limit", err)
	}
}

func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	s := standin.New(t)
	c := &client.Client{URL: s.URL}
	renewals := 0
	c.Renew = func(ctx context.Context) (string, error) {
		renewals++
		return client.DevToken(ctx, nil, s.URL, "ada")
	}
	for range 2 {
		if _, err := c.Sessions(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
	}
	s.Expire()
	if _, err := c.Sessions(t.Context(), 5); err != nil || renewals != 2 {
		t.Errorf("Sessions after the token expired: %v with %d renewals, want 2", err, renewals)
	}
	c.Renew = func(context.Context) (string, error) { return "no good", nil }
	s.Expire()
	if _, err := c.Sessions(t.Context(), 5); codeOf(err) != "unauthorized" {
		t.Errorf("Sessions with a bad renewal = %v, want unauthorized", err)
	}
}

func TestLoopback(t *testing.T) {
	for at, want := range map[string]bool{
		"http://127.0.0.1:8787": true, "http://localhost": true, "http://[::1]:1": true, "ws://127.0.0.2/live": true,
		"https://example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "::": false,
	} {
		if got := client.Loopback(at); got != want {
			t.Errorf("Loopback(%q) = %v, want %v", at, got, want)
		}
	}
}
