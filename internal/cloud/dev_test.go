package cloud_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{"what is built", "GET", "/_dev/builds", "", 200, `{"broken":{},"building":[]}`},
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
		{"events", "GET", "/_dev/events", "", 200, `[]`},
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

// TestEventOverHTTP2: an SDK that speaks HTTP/2 without TLS puts an event, and the developer sees it.
func TestEventOverHTTP2(t *testing.T) {
	c := start(t, cloud.Options{})
	entry := `{"Entries":[{"Source":"app","DetailType":"Post Published","Detail":"{\"id\":\"p<1>\"}"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Info().AWS, strings.NewReader(entry))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("PutEvents = %s over %s", resp.Status, resp.Proto)
	}
	type event struct {
		DetailType string            `json:"detail-type"`
		Detail     map[string]string `json:"detail"`
	}
	want := []event{{"Post Published", map[string]string{"id": "p<1>"}}}
	if diff := cmp.Diff(want, decode[[]event](t, c.http("GET", "/_dev/events?detailType=Post+Published", "", "").body)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := c.http("GET", "/_dev/events?detailType=Other", "", ""); strings.TrimSpace(got.body) != `[]` {
		t.Errorf("events of another type = %s", got.body)
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
