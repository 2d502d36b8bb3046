package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
)

// management is the client that functions use.
func management(endpoint string) *api.Client {
	return api.New(api.Options{
		BaseEndpoint: aws.String(endpoint), Region: "us-east-1", Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("fn-run-turn", "secret", ""),
	})
}

// connected opens a connection and gives its id.
func connected(t *testing.T, w *world, n int) string {
	t.Helper()
	return decode[events.APIGatewayWebsocketProxyRequest](t, w.await(t, "connect", n)[n-1]).RequestContext.ConnectionID
}

func post(ctx context.Context, c *api.Client, id, data string) error {
	_, err := c.PostToConnection(ctx, &api.PostToConnectionInput{ConnectionId: &id, Data: []byte(data)})
	return err
}

func status(err error) int {
	var re *smithyhttp.ResponseError
	if errors.As(err, &re) {
		return re.HTTPStatusCode()
	}
	return 0
}

func TestPost(t *testing.T) {
	w := open(t, chat(nil), nil)
	functionsSide := httptest.NewServer(w.gateway.ConnectionsHandler())
	defer functionsSide.Close()
	conn := dial(t, w.ws, nil)
	conn.SetReadLimit(gateway.MaxMessage)
	id := connected(t, w, 1)
	for i, endpoint := range []string{w.http + "/live", functionsSide.URL + "/live"} {
		c := management(endpoint)
		for _, data := range []string{fmt.Sprint("hi ", i), "", strings.Repeat("ü", gateway.MaxMessage/2)} {
			if err := post(t.Context(), c, id, data); err != nil {
				t.Fatal(err)
			}
			if got := read(t, conn); got != data {
				t.Errorf("client got %d bytes, want %d", len(got), len(data))
			}
		}
		var large *types.PayloadTooLargeException
		if err := post(t.Context(), c, id, strings.Repeat("a", gateway.MaxMessage+1)); !errors.As(err, &large) || status(err) != 413 {
			t.Errorf("a message over the limit: %v, want PayloadTooLargeException", err)
		}
	}
}

func TestP14Gone(t *testing.T) {
	w := open(t, chat(nil), nil)
	c := management(w.http + "/live")
	conn := dial(t, w.ws, nil)
	id := connected(t, w, 1)
	if err := conn.Close(1000, ""); err != nil {
		t.Fatal(err)
	}
	w.await(t, "disconnect", 1)
	var gone *types.GoneException
	for _, which := range []string{id, "L0SM9cOFvHcCIhw="} {
		if err := post(t.Context(), c, which, "hi"); !errors.As(err, &gone) || status(err) != 410 {
			t.Errorf("post to a connection that is not there: %v, want GoneException", err)
		}
	}
	if _, err := c.GetConnection(t.Context(), &api.GetConnectionInput{ConnectionId: &id}); !errors.As(err, &gone) {
		t.Errorf("get: %v, want GoneException", err)
	}
	if _, err := c.DeleteConnection(t.Context(), &api.DeleteConnectionInput{ConnectionId: &id}); !errors.As(err, &gone) {
		t.Errorf("delete: %v, want GoneException", err)
	}
	var forbidden *types.ForbiddenException
	if err := post(t.Context(), management(w.http+"/other"), id, "hi"); status(err) == 410 {
		t.Errorf("post to a wrong address: %v, want anything but 410", err)
	}
	functionsSide := httptest.NewServer(w.gateway.ConnectionsHandler())
	defer functionsSide.Close()
	if err := post(t.Context(), management(functionsSide.URL+"/other"), id, "hi"); !errors.As(err, &forbidden) {
		t.Errorf("post to a wrong stage: %v, want ForbiddenException", err)
	}
}

func TestPostFromWithinConnectIsGone(t *testing.T) {
	var w *world
	var got error
	w = open(t, chat(map[string]func(string) (string, string){
		"connect": func(event string) (string, string) {
			_, id, _ := strings.Cut(event, `"connectionId":"`)
			got = post(context.Background(), management(w.http+"/live"), id[:16], "too early")
			return ok, ""
		},
	}), nil)
	dial(t, w.ws, nil)
	if status(got) != 410 {
		t.Errorf("post from within $connect: %v, want 410", got)
	}
}

func TestGetAndDelete(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := open(t, chat(nil), func(g *gateway.Gateway) { g.Now = func() time.Time { return at } })
	c := management(w.http + "/live")
	conn := dial(t, w.ws, nil)
	id := connected(t, w, 1)
	out, err := c.GetConnection(t.Context(), &api.GetConnectionInput{ConnectionId: &id})
	if err != nil {
		t.Fatal(err)
	}
	if !out.ConnectedAt.Equal(at) || !out.LastActiveAt.Equal(at) || *out.Identity.SourceIp != "127.0.0.1" {
		t.Errorf("connection is %v, %v, %+v", out.ConnectedAt, out.LastActiveAt, out.Identity)
	}
	if err := post(t.Context(), c, id, "last words"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeleteConnection(t.Context(), &api.DeleteConnectionInput{ConnectionId: &id}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, conn); got != "last words" {
		t.Errorf("client got %q, want what was posted before the end", got)
	}
	if got := closeCode(t, conn); got != 1000 {
		t.Errorf("closed with %d, want 1000", got)
	}
	wantDisconnect(t, w, 1000)
}

func TestUnsignedCallsAreRefused(t *testing.T) {
	w := open(t, chat(nil), nil)
	dial(t, w.ws, nil)
	res, _ := do(t, "POST", w.http+"/live/@connections/"+connected(t, w, 1), "hi", nil)
	if res.StatusCode != http.StatusForbidden || res.Header.Get("X-Amzn-Errortype") != "MissingAuthenticationTokenException" {
		t.Errorf("an unsigned post is answered %d, want 403", res.StatusCode)
	}
}

func TestManyWritersOneOrder(t *testing.T) {
	const writers, each = 8, 10
	w := open(t, chat(nil), nil)
	c := management(w.http + "/live")
	conn := dial(t, w.ws, nil)
	id := connected(t, w, 1)
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for i := range each {
				if err := post(t.Context(), c, id, fmt.Sprintf("%d %d", n, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	next := make([]int, writers)
	for range writers * each {
		var n, i int
		if _, err := fmt.Sscanf(read(t, conn), "%d %d", &n, &i); err != nil || i != next[n] {
			t.Fatalf("writer %d's message %d arrived, want %d (%v)", n, i, next[n], err)
		}
		next[n]++
	}
	all.Wait()
}

func TestSlowClientBlocksNobody(t *testing.T) {
	w := open(t, chat(nil), nil)
	c := management(w.http + "/live")
	dial(t, w.ws, nil) // never reads
	slow := connected(t, w, 1)
	quick := dial(t, w.ws, nil)
	id := connected(t, w, 2)
	var limit *types.LimitExceededException
	filled := false
	for range 2000 { // far more than the queue and the buffers of both sides
		if err := post(t.Context(), c, slow, strings.Repeat("a", gateway.MaxMessage)); err != nil {
			if filled = errors.As(err, &limit) && status(err) == 429; !filled {
				t.Fatal(err)
			}
			break
		}
	}
	if !filled {
		t.Error("a client that never reads takes 250 MB, want LimitExceededException")
	}
	if err := post(t.Context(), c, id, "hi"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, quick); got != "hi" {
		t.Errorf("the other client got %q", got)
	}
}
