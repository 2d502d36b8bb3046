package entry

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// Files makes the handler of a session's files: a list as JSON, or the text of the file that the path names. Text goes as bytes that
// no browser takes for a page, and in a form of which the size is known: written as a JSON text some would be too large for an answer.
func Files(log *slog.Logger, read func(context.Context, flow.FileOf) (flow.FileOut, error)) Handler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		r := Request{e}
		of, err := Session(r)
		if err != nil {
			return failure(ctx, log, e.RouteKey, err), nil
		}
		out, err := read(ctx, flow.FileOf{SessionOf: of, Path: r.Path("path")})
		switch {
		case err != nil:
			return failure(ctx, log, e.RouteKey, err), nil
		case out.List != nil:
			return reply(http.StatusOK, out.List), nil
		}
		return events.APIGatewayV2HTTPResponse{
			StatusCode: http.StatusOK, Body: base64.StdEncoding.EncodeToString([]byte(out.Content)), IsBase64Encoded: true,
			Headers: map[string]string{"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "cache-control": "no-store"},
		}, nil
	}
}
