package fake

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Limits of WebSocket connections.
const (
	MaxMessageBytes = 128 * 1024 // message payload
	MaxFrameBytes   = 32 * 1024  // one frame; a post is one frame here, so a larger one is refused
)

// Connections is the @connections API of a WebSocket stage. A connection exists between Open and Close; a post to any
// other is answered with 410.
type Connections struct {
	World *World
	Now   func() time.Time // for ConnectedAt; nil: always Start

	Forbidden bool                          // every call is answered with 403, as by a wrong address
	Bare      bool                          // 410 comes without its error type, as a proxy sends it
	Delay     func(id string) time.Duration // how long a post to a connection takes; nil: no time

	mu       sync.Mutex
	open     map[string]*connection
	posts    map[string][]string
	overlaps int
}

type connection struct {
	since   time.Time
	posting bool
}

// Open lets connections be.
func (c *Connections) Open(ids ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]*connection{}
	}
	for _, id := range ids {
		c.open[id] = &connection{since: c.now()}
	}
}

func (c *Connections) now() time.Time {
	if c.Now == nil {
		return Start()
	}
	return c.Now()
}

// Close ends a connection, as a client does that goes away.
func (c *Connections) Close(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// Posts gives what was posted to a connection, in order, also after it was closed.
func (c *Connections) Posts(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.posts[id])
}

// Overlaps is how often a post to a connection began while another was on its way to it: their order is then open.
func (c *Connections) Overlaps() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overlaps
}

// PostToConnection sends one message. Errors as the service's, with their HTTP status: GoneException 410,
// ForbiddenException 403, PayloadTooLargeException 413, LimitExceededException 429.
func (c *Connections) PostToConnection(ctx context.Context, in *apigatewaymanagementapi.PostToConnectionInput,
	_ ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.PostToConnectionOutput, error) {
	id := aws.ToString(in.ConnectionId)
	return connectionCall(ctx, c, "PostToConnection", id, func() (*apigatewaymanagementapi.PostToConnectionOutput, error) {
		if len(in.Data) > MaxFrameBytes {
			return nil, &types.PayloadTooLargeException{Message: aws.String("the message is over the limit of a frame (32 KB) or of a message (128 KB)")}
		}
		if err := c.begin(id); err != nil {
			return nil, err
		}
		err := c.travel(ctx, id)
		return &apigatewaymanagementapi.PostToConnectionOutput{}, c.finish(id, in.Data, err)
	})
}

// begin takes the connection for one post.
func (c *Connections) begin(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.open[id]
	if to == nil {
		return gone()
	}
	if to.posting {
		c.overlaps++
	}
	to.posting = true
	return nil
}

// travel takes the time of a post.
func (c *Connections) travel(ctx context.Context, id string) error {
	if c.Delay == nil {
		return nil
	}
	wait := time.NewTimer(c.Delay(id))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish delivers the data, unless the connection was closed or the caller went away meanwhile.
func (c *Connections) finish(id string, data []byte, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.open[id]
	if to != nil {
		to.posting = false
	}
	if err != nil {
		return err
	}
	if to == nil {
		return gone()
	}
	if c.posts == nil {
		c.posts = map[string][]string{}
	}
	c.posts[id] = append(c.posts[id], string(data))
	return nil
}

// GetConnection tells whether a connection is there.
func (c *Connections) GetConnection(ctx context.Context, in *apigatewaymanagementapi.GetConnectionInput,
	_ ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.GetConnectionOutput, error) {
	id := aws.ToString(in.ConnectionId)
	return connectionCall(ctx, c, "GetConnection", id, func() (*apigatewaymanagementapi.GetConnectionOutput, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		to := c.open[id]
		if to == nil {
			return nil, gone()
		}
		return &apigatewaymanagementapi.GetConnectionOutput{ConnectedAt: aws.Time(to.since), LastActiveAt: aws.Time(c.now())}, nil
	})
}

// DeleteConnection ends a connection from the server's side.
func (c *Connections) DeleteConnection(ctx context.Context, in *apigatewaymanagementapi.DeleteConnectionInput,
	_ ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.DeleteConnectionOutput, error) {
	id := aws.ToString(in.ConnectionId)
	return connectionCall(ctx, c, "DeleteConnection", id, func() (*apigatewaymanagementapi.DeleteConnectionOutput, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[id] == nil {
			return nil, gone()
		}
		delete(c.open, id)
		return &apigatewaymanagementapi.DeleteConnectionOutput{}, nil
	})
}

func gone() error { return &types.GoneException{} }

func connectionCall[T any](ctx context.Context, c *Connections, operation, id string, effect func() (T, error)) (T, error) {
	out, err := through(ctx, c.World, "conn."+operation, id, func() (T, error) {
		if c.Forbidden {
			var none T
			return none, &types.ForbiddenException{}
		}
		return effect()
	})
	if err != nil {
		var none T
		return none, c.failed(operation, err)
	}
	return out, nil
}

// failed gives err the shape of the service's answer: the modeled error inside of a response with its status.
func (c *Connections) failed(operation string, err error) error {
	if errors.Is(err, ErrThrottled) {
		err = &types.LimitExceededException{}
	}
	status := statusOf(err)
	if status == 0 {
		return serviceError("ApiGatewayManagementApi", operation, err)
	}
	if status == http.StatusGone && c.Bare {
		err = &smithy.GenericAPIError{Code: "UnknownError", Message: "UnknownError"}
	}
	response := &smithyhttp.Response{Response: &http.Response{StatusCode: status}}
	return &smithy.OperationError{ServiceID: "ApiGatewayManagementApi", OperationName: operation, Err: &smithyhttp.ResponseError{Response: response, Err: err}}
}

func statusOf(err error) int {
	var gone *types.GoneException
	var forbidden *types.ForbiddenException
	var large *types.PayloadTooLargeException
	var limit *types.LimitExceededException
	switch {
	case errors.As(err, &gone):
		return http.StatusGone
	case errors.As(err, &forbidden):
		return http.StatusForbidden
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	}
	return 0
}
