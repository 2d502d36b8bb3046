package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles: what each command asks, and what it prints. @ stands for a folder with a.md.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "image.png"), []byte("\x89PNG"), 0o600); err != nil {
		t.Fatal(err)
	}
	const list = `{"files":[{"path":"in/a b.md","bytes":4},{"path":"report.md","bytes":12,"artifact":"report"}]}`
	const receipt = `{"deliveryId":"dlv_1"}`
	tests := []struct {
		name, args string
		code       int
		answer     string
		asked      string // the last
		status     int
		want       string // of stdout, or of stderr when it fails
	}{
		{"list", "files|list|s 1", 200, list, "GET /agent/sessions/s%201/files ", 0, "in/a b.md  4   \nreport.md  12  report\n"},
		{"list none", "files|list|s", 200, `{"files":[]}`, "GET /agent/sessions/s/files ", 0, ""},
		{"list as JSON", "--json|files|list|s", 200, list, "GET /agent/sessions/s/files ", 0, list + "\n"},
		{"get", "files|get|s|in/a b.md", 200, "# A\n", "GET /agent/sessions/s/files/in/a%20b.md ", 0, "# A\n"},
		{"get as JSON", "--json|files|get|s|a", 200, "x", "GET /agent/sessions/s/files/a ", 0, `{"content":"x","path":"a"}` + "\n"},
		{"get none", "files|get|s|x", 404, `{"message":"no such file: x","code":"not_found"}`, "GET /agent/sessions/s/files/x ", 1, "steadfast: no such file: x\n"},
		{"send", "send|s|hi|--file|@/a.md|--file|in/b, c.md=@/a.md", 202, receipt,
			`POST /agent/sessions/s/messages {"message":"hi","continuationToken":"","admission":"preempt","files":{"a.md":"# A\n","in/b, c.md":"# A\n"}}`, 0, "dlv_1\n"},
		{"send what is no text", "send|s|hi|--file|@/image.png", 202, receipt, "", 1, "steadfast: file: " + filepath.Join(dir, "image.png") + " is no UTF-8 text\n"},
		{"send two of one name", "send|s|hi|--file|@/a.md|--file|a.md=@/a.md", 202, receipt, "", 1, "steadfast: file: two are named a.md: give one another name, as NAME=PATH\n"},
	}
	start := at(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			asked := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if r.Method == http.MethodGet && !strings.Contains(r.URL.Path, "/files") { // send reads the session's token
					_, _ = io.WriteString(w, `{}`)
					return
				}
				asked = r.Method + " " + r.URL.EscapedPath() + " " + strings.TrimSpace(string(body))
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			r := start("")
			args := append([]string{"--url", server.URL, "--token", "a.b.c"}, strings.Split(strings.ReplaceAll(tc.args, "@", dir), "|")...)
			r.run(t, tc.status, args...)
			if got := asked; !strings.HasPrefix(tc.asked, "POST") || tc.asked == "" {
				same(t, "asked", got, tc.asked)
			} else if !strings.HasPrefix(got, "POST /agent/sessions/s/messages ") || !strings.Contains(got, `"files":{"a.md":"# A\n","in/b, c.md":"# A\n"}`) {
				t.Errorf("asked %s", got)
			}
			if got := r.out.String(); tc.status == 0 {
				same(t, "printed", got, tc.want)
			} else {
				same(t, "the error", r.err.String(), tc.want)
			}
		})
	}
}
