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
		{"permissions", "GET", "/_dev/iam", "", 200, `"Function":"keep"`},
		{"permissions as text", "GET", "/_dev/iam?format=text", "", 200, "never used   dynamodb:PutItem"},
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

func TestServicesOfTheAWSDoor(t *testing.T) {
	c := start(t, cloud.Options{})
	tests := []struct {
		name, method, path, target, body string
		status                           int
		want                             string
	}{
		{"tables", "POST", "/", "DynamoDB_20120810.ListTables", "{}", 200, `["steadfast-Notes"]`},
		{"bus", "POST", "/", "AWSEvents.PutEvents", `{"Entries":[{"Source":"a","DetailType":"b","Detail":"{}"}]}`, 200, `"FailedEntryCount":0`},
		{"queues", "POST", "/", "AmazonSQS.ListQueues", "{}", 200, "steadfast-Failures"},
		{"schedules", "GET", "/schedules", "", "", 200, `"Schedules":[]`},
		{"schedule groups", "GET", "/schedule-groups/none", "", "", 404, "Schedule group none does not exist"},
		{"model", "POST", "/model/any/converse", "", `{"messages":[]}`, 400, "message"},
		{"functions", "POST", "/2015-03-31/functions/nobody/invocations", "", "{}", 404, "Function not found"},
		{"keys", "GET", "/us-east-1_local/.well-known/jwks.json", "", "", 200, "RS256"},
		{"connections", "POST", "/live/@connections/x", "", "{}", 403, "Missing Authentication Token"},
		{"another service", "POST", "/", "Kinesis_20131202.PutRecord", "{}", 400, "does not offer Kinesis_20131202.PutRecord"},
		{"another path", "GET", "/bucket/key", "", "", 400, "does not offer GET /bucket/key"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, c.Info().AWS+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.target != "" {
				req.Header.Set("X-Amz-Target", tc.target)
			}
			if got := send(t, req); got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("= %+v, want %d with %q", got, tc.status, tc.want)
			}
		})
	}
}
