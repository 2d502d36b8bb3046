package entry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/core/task"
)

// streamReserve is how long before the end of the function a stream ends, so that its last line arrives whole.
const streamReserve = 3 * time.Second

type (
	urlRequest  = events.LambdaFunctionURLRequest
	urlResponse = events.LambdaFunctionURLStreamingResponse
)

// Stream is the handler of a function URL that streams its answer. Nothing stands before it: it verifies the token itself.
type Stream struct {
	Follow flow.FollowEvents
	Verify func(ctx context.Context, token string) (identity.Caller, error)
	Log    *slog.Logger
}

// Handle answers GET /agent/sessions/{sessionId}/stream with lines of JSON: the session's events from startIndex on, then those to
// come; an empty line is a sign of life. The stream ends shortly before the function does, or as until=idle or seconds=N ask.
func (s Stream) Handle(ctx context.Context, r urlRequest) (*urlResponse, error) {
	in, err := s.read(ctx, r)
	if err == nil {
		err = s.Follow.Check(ctx, in)
	}
	if err != nil {
		return s.refuse(ctx, r, err), nil
	}
	lines, out := io.Pipe()
	go func() { _ = out.CloseWithError(s.write(ctx, in, out)) }() // always nil
	return &urlResponse{
		StatusCode: http.StatusOK, Body: lines, Headers: map[string]string{"content-type": ndjson, "cache-control": "no-store"},
	}, nil
}

// write follows the session. An answer under way has no status left to tell a failure with: it is logged, the stream ends, and its
// reader asks again from the next index.
func (s Stream) write(ctx context.Context, in flow.FollowEventsIn, out *io.PipeWriter) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-streamReserve))
		defer cancel()
	}
	err := s.Follow.Do(ctx, in, func(e *contract.SessionEvent) error {
		line := []byte("\n")
		if e != nil {
			encoded, err := json.Marshal(e)
			if err != nil {
				return fault.Wrap(fault.Internal, err, "encode event %d", e.Index)
			}
			line = append(encoded, '\n')
		}
		_, err := out.Write(line)
		return err
	})
	if err != nil && !errors.Is(err, io.ErrClosedPipe) { // closed: nobody reads any more
		note(ctx, s.Log, "stream ended", err, "session", in.SessionID)
	}
	return nil
}

func (s Stream) read(ctx context.Context, r urlRequest) (in flow.FollowEventsIn, err error) {
	if r.RequestContext.HTTP.Method != http.MethodGet {
		return in, fault.New(fault.NotFound, "no such route")
	}
	middle, ok := strings.CutPrefix(r.RawPath, "/agent/sessions/")
	middle, last := strings.CutSuffix(middle, "/stream")
	if !ok || !last {
		return in, fault.New(fault.NotFound, "no such route")
	}
	token, _ := identity.TokenFrom(r.Headers, nil, r.QueryStringParameters)
	who, err := s.Verify(ctx, token)
	if err != nil {
		return in, err
	}
	in.Caller, in.SessionID = task.User(who.Sub), middle
	if plain, err := url.PathUnescape(middle); err == nil {
		in.SessionID = plain
	}
	return s.options(in, r.QueryStringParameters)
}

func (s Stream) options(in flow.FollowEventsIn, query map[string]string) (_ flow.FollowEventsIn, err error) {
	if in.From, err = index(query["startIndex"]); err != nil {
		return in, err
	}
	switch query["until"] {
	case "":
	case "idle":
		in.UntilIdle = true
	default:
		return in, fault.New(fault.Invalid, `until: must be "idle"`)
	}
	if text := query["seconds"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 900 {
			return in, fault.New(fault.Invalid, "seconds: must be a whole number from 1 to 900")
		}
		in.For = time.Duration(n) * time.Second
	}
	return in, nil
}

// refuse answers before the stream has begun.
func (s Stream) refuse(ctx context.Context, r urlRequest, err error) *urlResponse {
	body := contract.ErrorBody{Message: fault.Public(err), Code: word(err)}
	status := statuses[fault.CodeOf(err)]
	if strings.HasPrefix(fault.ReasonOf(err), "token_") { // there is no authorizer that would say so
		status, body = http.StatusUnauthorized, contract.ErrorBody{Message: "Unauthorized", Code: "unauthorized"}
	}
	note(ctx, s.Log, "request failed", err, "route", "GET "+r.RawPath)
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(`{}`)
	}
	return &urlResponse{StatusCode: status, Body: bytes.NewReader(data), Headers: map[string]string{"content-type": "application/json"}}
}
