// Package socket posts the turns of a session to the WebSocket connections that follow it. A Turn numbers its frames,
// gathers text into few posts and hands each frame to one writer per connection, so that the frames of a connection stay in order
// and a slow or dead connection delays neither the turn nor anybody else.
//
// It never stores anything, never decides what a turn says and never fails a turn: what cannot be delivered is logged,
// without its text, and stays readable in the session's stream. Only an answer that the connection is gone removes one.
package socket

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Limits of posting.
const (
	MaxFrameBytes   = 32 * 1024              // of one frame's JSON; API Gateway's limit of a WebSocket frame
	GatherBytes     = 2 * 1024               // of text; that much is posted without waiting longer
	GatherTime      = 40 * time.Millisecond  // longest wait of a piece of text for company
	CloseTime       = 5 * time.Second        // longest wait of Close for what is queued
	YoungTime       = 10 * time.Second       // a connection younger than this is not removed when it is said to be gone
	MaxQueuedBytes  = 1024 * 1024            // waiting for one connection; over it the connection has fallen behind
	MaxQueuedFrames = 1024                   // likewise
	postTime        = 10 * time.Second       // of one post with the SDK's own retries
	youngTries      = 4                      // posts of one frame to a young connection that is said to be gone
	youngPause      = 250 * time.Millisecond // between them
)

// Caster makes turns and posts single answers. It is safe for concurrent use as long as its fields are not changed.
type Caster struct {
	// Connections posts to one connection: *apigatewaymanagementapi.Client, with its own retries. It must be safe for
	// concurrent use.
	Connections interface {
		PostToConnection(ctx context.Context, in *apigatewaymanagementapi.PostToConnectionInput,
			opts ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.PostToConnectionOutput, error)
	}
	// Gone is called, at most once per turn and connection and from several goroutines, for a connection that has gone
	// and is not young. It may be nil.
	Gone func(ctx context.Context, connectionID string)
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: nothing is logged
}

// Subscriber is a connection that follows a session.
type Subscriber struct {
	ConnectionID string
	ConnectedAt  time.Time // the zero time counts as long ago
	Features     []string  // what the client asked for: contract.FeatureReset, FeatureApprovals
	Asked        int64     // when it asked to be told what it missed, ms; 0: it did not
}

func (s Subscriber) resets() bool { return slices.Contains(s.Features, contract.FeatureReset) }

func (s Subscriber) approvals() bool { return slices.Contains(s.Features, contract.FeatureApprovals) }

func (c *Caster) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func (c *Caster) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}
