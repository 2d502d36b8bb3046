package entry

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

const ndjson = "application/x-ndjson"

// HeaderNext names the index to go on from, on an answer that has not all events there are.
const HeaderNext = "X-Next-Index"

// Events makes the handler of a page of a session's stream: lines of JSON, and HeaderNext while there is more.
func Events(log *slog.Logger, read func(context.Context, flow.ReadEventsIn) (flow.ReadEventsOut, error)) Handler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		in, err := page(Request{e})
		if err != nil {
			return failure(ctx, log, e.RouteKey, err), nil
		}
		out, err := read(ctx, in)
		if err != nil {
			return failure(ctx, log, e.RouteKey, err), nil
		}
		answer := events.APIGatewayV2HTTPResponse{
			StatusCode: http.StatusOK, Body: string(out.Lines), Headers: map[string]string{"content-type": ndjson, "cache-control": "no-store"},
		}
		if out.More {
			answer.Headers[HeaderNext] = strconv.FormatInt(out.Next, 10)
		}
		return answer, nil
	}
}

func page(r Request) (in flow.ReadEventsIn, err error) {
	if in.SessionOf, err = Session(r); err != nil {
		return in, err
	}
	if in.From, err = index(r.Query("startIndex")); err != nil {
		return in, err
	}
	in.Limit, err = r.Number("limit")
	return in, err
}

// index reads startIndex; none is 0.
func index(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.Invalid, "startIndex: must be a whole number from 0 on")
	}
	return n, nil
}
