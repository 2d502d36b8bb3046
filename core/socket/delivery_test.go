package socket_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// status is an answer that has a status and no error type.
func status(code int) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: code}},
		Err:      &smithy.GenericAPIError{Code: "UnknownError"},
	}
}

func failing(id string, err error) func(context.Context, string, int) error {
	return func(_ context.Context, to string, _ int) error {
		if to == id {
			return err
		}
		return nil
	}
}

func TestP14OnlyAGoneConnectionIsRemoved(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		age   time.Duration
		gone  []string
		tries int // posts to the failing connection
	}{
		{"gone", &types.GoneException{}, time.Minute, []string{"c1"}, 1},
		{"gone without its type", status(410), time.Minute, []string{"c1"}, 1},
		{"gone and young", &types.GoneException{}, time.Second, nil, 4},
		{"forbidden", &types.ForbiddenException{}, time.Minute, nil, 2},
		{"server error", status(503), time.Minute, nil, 2},
		{"throttled", &types.LimitExceededException{}, time.Minute, nil, 2},
		{"no answer", errors.New("connection reset"), time.Minute, nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connections{fail: failing("c1", tt.err)}
				c1 := socket.Subscriber{ConnectionID: "c1", ConnectedAt: time.Now().Add(-tt.age)}
				turn := c.caster().Turn([]socket.Subscriber{c1, plain("c2")}, "s", "t", 1)
				turn.Start(nil)
				turn.Text("all of it", nil)
				synctest.Wait()
				turn.Complete(nil, nil)
				turn.Close()

				if diff := cmp.Diff(tt.gone, c.gone); diff != "" {
					t.Errorf("removed (-want +got):\n%s", diff)
				}
				if got := c.triesOf("c1"); got != tt.tries {
					t.Errorf("%d posts to c1, want %d", got, tt.tries)
				}
				want := []string{"init", "all of it", "end", "complete s"}
				if diff := cmp.Diff(want, story(c.of("c2"))); diff != "" {
					t.Errorf("posts to c2 (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestYoungConnectionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{fail: func(_ context.Context, _ string, nth int) error {
			if nth <= 2 {
				return &types.GoneException{}
			}
			return nil
		}}
		turn := c.caster().Turn([]socket.Subscriber{{ConnectionID: "a", ConnectedAt: time.Now()}}, "s", "t", 1)
		turn.Start(nil)
		turn.Complete(nil, nil)
		turn.Close()
		if diff := cmp.Diff([]string{"init", "end", "complete s"}, story(c.of("a"))); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
	})
}

func TestLostFrameEndsTheTurnForItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{fail: func(_ context.Context, _ string, nth int) error {
			if nth == 2 {
				return status(500)
			}
			return nil
		}}
		turn := c.caster().Turn([]socket.Subscriber{plain("a")}, "s", "t", 1)
		turn.Start(nil)
		turn.Text("lost", nil)
		synctest.Wait()
		turn.Complete(nil, nil)
		turn.Add(plain("a"))
		turn.Close()
		if diff := cmp.Diff([]string{"init", "error delivery_failed"}, story(c.of("a"))); diff != "" {
			t.Errorf("posts (-want +got):\n%s", diff)
		}
	})
}

func TestSlowConnectionFallsBehindAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{fail: func(_ context.Context, id string, _ int) error {
			if id == "slow" {
				time.Sleep(2 * time.Second)
			}
			return nil
		}}
		turn := c.caster().Turn([]socket.Subscriber{plain("slow"), plain("fast")}, "s", "t", 1)
		piece := strings.Repeat("x", 20_000)
		begin := time.Now()
		turn.Start(nil)
		for range 60 {
			turn.Text(piece, nil)
			turn.Flush()
			synctest.Wait()
		}
		turn.Complete(nil, nil)
		if took := time.Since(begin); took != 0 {
			t.Errorf("the turn waited %v for a slow connection", took)
		}
		turn.Close()
		if got := len(shown(t, c.of("fast"))); got != 60*20_000 {
			t.Errorf("the fast one got %d characters, want all", got)
		}
		synctest.Wait()
		posts := c.of("slow")
		if diff := cmp.Diff([]string{"init", "error fell_behind"}, story(posts)); diff != "" {
			t.Fatalf("posts to the slow one (-want +got):\n%s", diff)
		}
		if *posts[1].message.Seq != 1 {
			t.Errorf("seq of its error = %d, want 1: no hole", *posts[1].message.Seq)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{fail: func(ctx context.Context, id string, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		turn := c.caster().Turn([]socket.Subscriber{plain("dead")}, "s", "t", 1)
		turn.Start(nil)
		turn.Complete(nil, nil)
		begin := time.Now()
		turn.Close()
		if took := time.Since(begin); took != socket.CloseTime {
			t.Errorf("Close took %v, want %v", took, socket.CloseTime)
		}
		synctest.Wait()
		if c.gone != nil || c.triesOf("dead") != 1 {
			t.Errorf("removed %v after %d posts, want nothing after 1", c.gone, c.triesOf("dead"))
		}
		turn.Close()
	})
}

func TestLogHoldsNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := connections{fail: failing("a", status(500))}
		caster := c.caster()
		caster.Log = slog.New(slog.NewJSONHandler(&log, nil))
		turn := caster.Turn([]socket.Subscriber{plain("a")}, "s-1", "t-1", 3)
		turn.Text("a secret", nil)
		turn.Fail("failed", "a secret")
		turn.Close()
		if s := log.String(); strings.Contains(s, "secret") || !strings.Contains(s, `"turn":"t-1"`) {
			t.Errorf("log = %s", s)
		}
	})
}

func TestPost(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want fault.Code
	}{
		{"delivered", nil, ""},
		{"gone", &types.GoneException{}, fault.NotFound},
		{"gone without its type", status(410), fault.NotFound},
		{"too large", &types.PayloadTooLargeException{}, fault.Limit},
		{"throttled", &types.LimitExceededException{}, fault.Unavailable},
		{"server error", status(502), fault.Unavailable},
		{"no answer", errors.New("connection reset"), fault.Unavailable},
		{"forbidden", &types.ForbiddenException{}, fault.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connections{fail: failing("a", tt.err)}
			err := c.caster().Post(t.Context(), "a", contract.ServerMessage{Type: contract.TypePong})
			if got := fault.CodeOf(err); got != tt.want {
				t.Errorf("Post(...) = %v with code %q, want %q", err, got, tt.want)
			}
			if delivered := len(c.of("a")) == 1; delivered != (tt.err == nil) {
				t.Errorf("delivered = %v", delivered)
			}
			if c.gone != nil {
				t.Errorf("Post removed %v", c.gone)
			}
		})
	}
}

func TestPostRefusesWhatDoesNotFit(t *testing.T) {
	var c connections
	err := c.caster().Post(t.Context(), "a", contract.ServerMessage{Type: contract.TypeError, Error: strings.Repeat("e", 40_000)})
	if !fault.Is(err, fault.Limit) || c.triesOf("a") != 0 {
		t.Errorf("Post(40 KB) = %v after %d posts, want a limit and no post", err, c.triesOf("a"))
	}
}
