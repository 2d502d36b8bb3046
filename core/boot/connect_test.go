package boot_test

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/steadfast-agents/steadfast/core/boot"
)

// visitors are the connections to a server, and what is asked of it.
type visitors struct {
	opened atomic.Int64
	asked  atomic.Pointer[[]string]
}

func (v *visitors) serve(start func(*httptest.Server), answer http.HandlerFunc) *httptest.Server {
	v.asked.Store(new([]string))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := append(*v.asked.Load(), r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		v.asked.Store(&all)
		answer(w, r)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			v.opened.Add(1)
		}
	}
	start(server)
	return server
}

// TestConnect: the first call finds the connection, whatever the greeting is answered; it carries no credentials.
func TestConnect(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusForbidden, http.StatusInternalServerError} {
		var v visitors
		server := v.serve((*httptest.Server).StartTLS, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(strings.Repeat("healthy ", 100)))
				return
			}
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			_, _ = w.Write([]byte(`{"TableNames":[]}`))
		})
		t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.URL)
		t.Setenv("AWS_ACCESS_KEY_ID", "id")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
		c := boot.Config("DYNAMODB", "us-east-1")
		c.HTTPClient = server.Client()
		boot.Connect(t.Context(), c.HTTPClient, server.URL)
		client := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
		if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}
		asked := *v.asked.Load()
		if v.opened.Load() != 1 || len(asked) != 2 || asked[0] != "GET / " {
			t.Errorf("%d: %d connections for %q, want one, and a greeting without credentials", status, v.opened.Load(), asked)
		}
		server.Close()
	}
}

// TestConnectGivesUp: a service that does not answer, or is not there, costs its patience and nothing else.
func TestConnectGivesUp(t *testing.T) {
	var v visitors
	server := v.serve((*httptest.Server).StartTLS, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	boot.Connect(ctx, server.Client(), server.URL)
	if ctx.Err() == nil {
		t.Error("it came back before its time, without an answer")
	}
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	boot.Connect(t.Context(), gone.Client(), gone.URL)
	boot.Connect(t.Context(), gone.Client(), "https://no host")
}

// TestConnectIsForHTTPS: without TLS there is nothing to gain.
func TestConnectIsForHTTPS(t *testing.T) {
	var v visitors
	server := v.serve((*httptest.Server).Start, func(http.ResponseWriter, *http.Request) {})
	defer server.Close()
	boot.Connect(t.Context(), server.Client(), server.URL)
	if asked := *v.asked.Load(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
}

// TestMustOpenConnects: a function in Lambda has its connection to the table before it asks for an event; elsewhere nothing is asked.
func TestMustOpenConnects(t *testing.T) {
	if os.Getenv(opens) != "" {
		boot.MustOpen(boot.Table)
		return
	}
	for _, tt := range []struct {
		name   string
		lambda string
		want   int
	}{{"in Lambda", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", 1}, {"elsewhere", "HERE=1", 0}} {
		t.Run(tt.name, func(t *testing.T) {
			var v visitors
			server := v.serve((*httptest.Server).StartTLS, func(http.ResponseWriter, *http.Request) {})
			defer server.Close()
			roots := filepath.Join(t.TempDir(), "roots.pem")
			if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMustOpenConnects$")
			cmd.Env = []string{opens + "=1", "TABLE_NAME=t", "SSL_CERT_FILE=" + roots, "AWS_ENDPOINT_URL_DYNAMODB=" + server.URL, tt.lambda}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if opened := v.opened.Load(); opened != int64(tt.want) { // on a busy machine its patience may end before it has asked
				t.Errorf("%d connections, want %d", opened, tt.want)
			}
		})
	}
}
