package interop_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
)

// turn is what the command line tells of a chat turn.
type turn struct {
	Text  string
	Tools []string
	Code  string // of the error, if it failed
}

// chat says something in a session, by the command line.
func (b bench) chat(user, session, text string) turn {
	b.t.Helper()
	say := exec.CommandContext(b.t.Context(), command, "chat", text, "--session", session, "--url", b.info.HTTP, "--user", user, "--json")
	say.Env = append(os.Environ(), "XDG_CONFIG_HOME="+b.dir)
	var out, failed bytes.Buffer
	say.Stdout, say.Stderr = &out, &failed
	var got turn
	last := &out
	if err := say.Run(); err != nil {
		last = &failed
	}
	lines := strings.Split(strings.TrimSpace(last.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		b.t.Fatalf("chat printed %q and %q", out.String(), failed.String())
	}
	return got
}

// token is a token of user and the user's id in it.
func (b bench) token(user string) (token, sub string) {
	b.t.Helper()
	got := decode[struct{ Token, Sub string }](b.t, b.http("POST", "/_dev/token?user="+url.QueryEscape(user), "", "", 200))
	return got.Token, got.Sub
}

// sub is the id of user.
func (b bench) sub(user string) string {
	_, sub := b.token(user)
	return sub
}

// as makes a request as user, which must be answered with status.
func (b bench) as(user, method, path, body string, status int) map[string]any {
	b.t.Helper()
	token, _ := b.token(user)
	return decode[map[string]any](b.t, b.http(method, path, token, body, status))
}

func (b bench) http(method, path, token, body string, status int) []byte {
	b.t.Helper()
	return b.request(b.info.HTTP, method, path, token, body, status)
}

func (b bench) request(base, method, path, token, body string, status int) []byte {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		b.t.Fatalf("%s %s = %s %s, %v, want %d", method, path, resp.Status, got, err, status)
	}
	return got
}

// event is one event on the bus.
type event struct {
	Source string
	Detail map[string]any
}

// completions are the completion events of a task, without what we add to them.
func (b bench) completions(taskID string) []event {
	b.t.Helper()
	var out []event
	for _, e := range decode[[]event](b.t, b.http("GET", "/_dev/events?detailType=Agent+Task+Completed", "", "", 200)) {
		if e.Detail["taskId"] == taskID {
			delete(e.Detail, "usage")
			out = append(out, e)
		}
	}
	return out
}

// quiet waits until nothing is under way: no event, no invocation.
func (b bench) quiet() {
	b.t.Helper()
	eventually(b.t, "events to be delivered", func() bool {
		return strings.TrimSpace(string(b.http("GET", "/_dev/pending", "", "", 200))) == `{"pending":0}`
	})
}

// sweep runs the recovery sweep now.
func (b bench) sweep() {
	b.t.Helper()
	if got := b.request(b.info.AWS, "POST", "/2015-03-31/functions/recover/invocations", "", "{}", 200); bytes.Contains(got, []byte("errorMessage")) {
		b.t.Fatalf("the sweep = %s", got)
	}
}
