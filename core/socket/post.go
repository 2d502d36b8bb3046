package socket

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Post sends one message that belongs to no turn, such as a pong or an error, and waits for it up to 10 s. Faults: NotFound (the
// connection has gone; Gone is not called), Limit (over MaxFrameBytes, though a long Message is cut), Unavailable, Internal
// (refused: the endpoint or the permission is wrong).
func (c *Caster) Post(ctx context.Context, connectionID string, m contract.ServerMessage) error {
	body, err := encode(m)
	if err != nil {
		return err
	}
	err = c.post(ctx, connectionID, body)
	return fault.Wrap(codeOf(err), err, "post %s to connection %s", m.Type, connectionID)
}

// Tell posts messages one after the other, pieces of an answer in as many frames as they need. Faults as Post; what follows the
// first that fails is not posted.
func (c *Caster) Tell(ctx context.Context, connectionID string, messages ...contract.ServerMessage) error {
	for _, m := range messages {
		for _, piece := range split(m) {
			if err := c.Post(ctx, connectionID, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Caster) post(ctx context.Context, connectionID string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	_, err := c.Connections.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{
		ConnectionId: aws.String(connectionID),
		Data:         body,
	})
	return err
}

// gone reports whether err says that the connection does not exist. The type is missing on some answers, the status never.
func gone(err error) bool {
	var e *types.GoneException
	return errors.As(err, &e) || statusOf(err) == http.StatusGone
}

func codeOf(err error) fault.Code {
	status := statusOf(err)
	switch {
	case gone(err):
		return fault.NotFound
	case status == http.StatusRequestEntityTooLarge:
		return fault.Limit
	case status == 0, status == http.StatusTooManyRequests, status >= 500:
		return fault.Unavailable
	}
	return fault.Internal
}

// statusOf gives the HTTP status that an error carries, directly or by its type, or 0 when there was no answer.
func statusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	var (
		limit     *types.LimitExceededException
		forbidden *types.ForbiddenException
		large     *types.PayloadTooLargeException
	)
	switch {
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	case errors.As(err, &forbidden):
		return http.StatusForbidden
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	}
	return 0
}
