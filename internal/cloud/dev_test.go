package cloud_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

func TestDevOperations(t *testing.T) {
	c := start(t, cloud.Options{})
	tests := []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"info", "GET", "/_dev/info", "", 200, `"table":"steadfast-Notes"`},
		{"token", "POST", "/_dev/token", `{"user":"ada"}`, 200, `"expiresIn":3600`},
		{"token by query", "POST", "/_dev/token?user=ada", "", 200, `"token":"ey`},
		{"token of nobody", "POST", "/_dev/token", `{}`, 400, "must be a name"},
		{"token for what", "POST", "/_dev/token", `{"user":"ada","use":"refresh"}`, 400, "access or id"},
		{"token of no JSON", "POST", "/_dev/token", `ada`, 400, "must be JSON"},
		{"token is not read", "GET", "/_dev/token?user=ada", "", 405, ""},
		{"kill", "POST", "/_dev/kill?function=read", "", 200, `{"killed":0}`},
		{"kill nobody", "POST", "/_dev/kill?function=nobody", "", 404, "no such function"},
		{"failed", "GET", "/_dev/failed", "", 200, `{"steadfast-Failures":[]}`},
		{"pending", "GET", "/_dev/pending", "", 200, `{"pending":0}`},
		{"unknown", "GET", "/_dev/nothing", "", 404, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := c.http(tc.method, tc.path, "", tc.body)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("= %+v, want %d with %q", got, tc.status, tc.want)
			}
		})
	}
}

func TestDevIsForThisMachine(t *testing.T) {
	c := start(t, cloud.Options{})
	tests := []struct {
		name, host, origin string
		status             int
	}{
		{"address", "127.0.0.1:8787", "", 200},
		{"name", "localhost:8787", "", 200},
		{"version 6", "[::1]:8787", "", 200},
		{"own page", "127.0.0.1", "http://localhost:3000", 200},
		{"rebound name", "attacker.example:8787", "", 403},
		{"name that begins well", "127.0.0.1.attacker.example", "", 403},
		{"other page", "127.0.0.1:8787", "https://attacker.example", 403},
		{"page without origin", "127.0.0.1:8787", "null", 403},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Info().HTTP+"/_dev/token?user=ada", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = tc.host
			if tc.origin != "" {
				req.Header.Set("Origin", tc.origin)
			}
			if got := send(t, req); got.status != tc.status || (tc.status == 403) == strings.Contains(got.body, "ey") {
				t.Errorf("= %+v, want %d", got, tc.status)
			}
		})
	}
}

func TestServicesThatAreNotOffered(t *testing.T) {
	c := start(t, cloud.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Info().AWS+"/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "Kinesis_20131202.PutRecord")
	got := send(t, req)
	if got.status != 400 || !strings.Contains(got.body, "does not offer Kinesis_20131202.PutRecord") {
		t.Errorf("= %+v, want 400 that names the operation", got)
	}
}
