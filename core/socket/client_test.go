package socket_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// TestOverTheWire posts with the real client to a server that answers as the service does, and once without the header
// that names the error.
func TestOverTheWire(t *testing.T) {
	var (
		mu     sync.Mutex
		bodies []string
		gone   []string
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.EscapedPath() {
		case "POST /live/@connections/typed%3D":
			w.Header().Set("X-Amzn-ErrorType", "GoneException")
			w.WriteHeader(http.StatusGone)
		case "POST /live/@connections/bare%3D":
			w.WriteHeader(http.StatusGone)
		case "POST /live/@connections/open%3D":
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			bodies = append(bodies, string(body))
		default:
			t.Errorf("unexpected %s %s", r.Method, r.URL.EscapedPath())
		}
	}))
	defer server.Close()
	caster := &socket.Caster{
		Connections: apigatewaymanagementapi.New(apigatewaymanagementapi.Options{
			BaseEndpoint: aws.String(server.URL + "/live"), Region: "us-east-1",
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
			}),
		}),
		Gone: func(_ context.Context, id string) {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, id)
		},
	}
	long := time.Now().Add(-time.Hour)
	turn := caster.Turn([]socket.Subscriber{{ConnectionID: "typed=", ConnectedAt: long}, {ConnectionID: "bare=", ConnectedAt: long},
		{ConnectionID: "open=", ConnectedAt: long}}, "s-1", "t-1", 1)
	turn.Text("x", nil)
	turn.Fail("failed", "no", "d")
	turn.Close()
	if err := caster.Post(t.Context(), "open=", contract.ServerMessage{Type: contract.TypePong}); err != nil {
		t.Errorf("Post(...) = %v", err)
	}

	slices.Sort(gone)
	if diff := cmp.Diff([]string{"bare=", "typed="}, gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	want := []string{
		`{"type":"stream_event","event":{"data":"x"},"turn_id":"t-1","fence":1,"seq":0,"offset":0}`,
		`{"type":"error","error":"failed","message":"no","turn_id":"t-1","fence":1,"seq":1,"delivery_id":"d"}`,
		`{"type":"pong"}`,
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}
