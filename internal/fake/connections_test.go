package fake_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	apitypes "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

func post(ctx context.Context, c *fake.Connections, id, data string) error {
	_, err := c.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: &id, Data: []byte(data)})
	return err
}

func TestConnections(t *testing.T) {
	w := &fake.World{}
	c := &fake.Connections{World: w}
	c.Open("c1", "c2")
	if err := errors.Join(post(t.Context(), c, "c1", "a"), post(t.Context(), c, "c1", "b"), post(t.Context(), c, "c2", "c")); err != nil {
		t.Fatal(err)
	}
	c.Close("c1")
	var gone *apitypes.GoneException
	if err := post(t.Context(), c, "c1", "late"); !errors.As(err, &gone) || status(err) != http.StatusGone {
		t.Errorf("closed = %v", err)
	}
	c.Bare = true
	if err := post(t.Context(), c, "never", "x"); errors.As(err, &gone) || status(err) != http.StatusGone {
		t.Errorf("bare 410 = %v, want the status alone", err)
	}
	if err := post(t.Context(), c, "c2", strings.Repeat("x", fake.MaxFrameBytes+1)); status(err) != http.StatusRequestEntityTooLarge {
		t.Errorf("over a frame = %v", err)
	}
	w.FailNext("conn.", fake.ErrThrottled)
	if err := post(t.Context(), c, "c2", "x"); status(err) != http.StatusTooManyRequests {
		t.Errorf("throttled = %v", err)
	}
	c.Forbidden = true
	if err := post(t.Context(), c, "c2", "x"); status(err) != http.StatusForbidden {
		t.Errorf("forbidden = %v", err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, [][]string{c.Posts("c1"), c.Posts("c2")}); diff != "" {
		t.Error(diff)
	}
}

func status(err error) int {
	var r *smithyhttp.ResponseError
	if !errors.As(err, &r) {
		return 0
	}
	return r.HTTPStatusCode()
}

func TestConnectionDelaysAndOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fake.Connections{Delay: func(string) time.Duration { return time.Second }}
		c.Open("c")
		began := time.Now()
		go func() { _ = post(t.Context(), c, "c", "first") }()
		synctest.Wait()
		if err := post(t.Context(), c, "c", "second"); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second || c.Overlaps() != 1 {
			t.Errorf("took %v with %d overlaps, want 1s and 1", took, c.Overlaps())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := post(ctx, c, "c", "given up"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up = %v", err)
		}
		if got := c.Posts("c"); len(got) != 2 {
			t.Errorf("posts = %v, want two", got)
		}
	})
}
