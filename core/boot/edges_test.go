package boot_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/core/boot"
)

func TestConfig(t *testing.T) {
	tests := []struct {
		name string
		vars map[string]string
		want string // the endpoint, "": AWS's own
	}{
		{"in AWS", nil, ""},
		{"one endpoint for all", map[string]string{"AWS_ENDPOINT_URL": "http://all"}, "http://all"},
		{"one of its own", map[string]string{"AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_DYNAMODB": "http://own"}, "http://own"},
		{"another's", map[string]string{"AWS_ENDPOINT_URL_EVENTBRIDGE": "http://other"}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"} {
				t.Setenv(name, tc.vars[name])
			}
			c := boot.Config("DYNAMODB", "eu-west-1")
			got := ""
			if c.BaseEndpoint != nil {
				got = *c.BaseEndpoint
			}
			if got != tc.want || c.Region != "eu-west-1" {
				t.Errorf("Config = %q in %q, want %q", got, c.Region, tc.want)
			}
		})
	}
}

// TestCredentials: those of the environment at the time of the call, since Lambda may put new ones there.
func TestCredentials(t *testing.T) {
	c := boot.Config("DYNAMODB", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	t.Setenv("AWS_SESSION_TOKEN", "token")
	got, err := c.Credentials.Retrieve(context.Background())
	if err != nil || got.AccessKeyID != "id" || got.SecretAccessKey != "key" || got.SessionToken != "token" {
		t.Errorf("Retrieve = %+v, %v", got, err)
	}
}

func TestWebSocketURL(t *testing.T) {
	tests := []struct{ endpoint, want string }{
		{"https://x.execute-api.us-east-1.amazonaws.com/live", "wss://x.execute-api.us-east-1.amazonaws.com/live"},
		{"http://127.0.0.1:8787/live", "ws://127.0.0.1:8787/live"},
		{"", ""},
	}
	for _, tc := range tests {
		if got := (boot.Edges{Env: boot.Env{WebSocketEndpoint: tc.endpoint}}).WebSocketURL(); got != tc.want {
			t.Errorf("WebSocketURL of %q = %q, want %q", tc.endpoint, got, tc.want)
		}
	}
}

func TestLogLevel(t *testing.T) {
	tests := []struct {
		level      string
		info, warn bool
	}{{"", true, true}, {"INFO", true, true}, {"WARN", false, true}, {"ERROR", false, false}, {"loud", true, true}}
	for _, tc := range tests {
		t.Setenv("AWS_LAMBDA_LOG_LEVEL", tc.level)
		log := boot.Log()
		if log.Enabled(t.Context(), 0) != tc.info || log.Enabled(t.Context(), 4) != tc.warn {
			t.Errorf("level %q: info %t, warn %t", tc.level, log.Enabled(t.Context(), 0), log.Enabled(t.Context(), 4))
		}
	}
}

// opens makes this test binary a function that needs its table and the WebSocket API.
const opens = "TEST_BOOT_OPENS"

// TestMustOpen: a function with a bad environment ends at once with one line that a person can read.
func TestMustOpen(t *testing.T) {
	if os.Getenv(opens) != "" {
		boot.MustOpen(boot.Table, boot.WebSocket)
		return
	}
	tests := []struct {
		name string
		vars []string
		want string // of the log, "": a function that starts
	}{
		{"all there", []string{"TABLE_NAME=t", "WEBSOCKET_ENDPOINT=https://x/live"}, ""},
		{"none there", nil, `"level":"ERROR","msg":"environment: TABLE_NAME is missing; WEBSOCKET_ENDPOINT is missing"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMustOpen$")
			cmd.Env = slices.Concat([]string{opens + "=1"}, tc.vars)
			var log strings.Builder
			cmd.Stderr = &log
			err := cmd.Run()
			if (err != nil) != (tc.want != "") || !strings.Contains(log.String(), tc.want) || strings.Count(log.String(), "\n") > 1 {
				t.Errorf("ended with %v and said %q, want %q", err, log.String(), tc.want)
			}
		})
	}
}

// TestConnectionsAreKept: a service that answers at once does not cost a connection for each answer.
func TestConnectionsAreKept(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte("{}"))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	client := dynamodb.NewFromConfig(boot.Config("DYNAMODB", "us-east-1"), func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
	table := "t"
	for range 300 {
		if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n > 3 {
		t.Errorf("%d connections for 300 calls, one after the other", n)
	}
}
