// Package entry is the way in: it turns what Lambda hands over into a use-case's input, and what comes back, or the fault, into
// a reply. It alone knows status codes. It decides nothing.
package entry

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/core/task"
)

// MaxBodyBytes is the largest body that is read: a message and its files.
const MaxBodyBytes = 300 * 1024

// Request is an HTTP request of a verified caller.
type Request struct {
	events.APIGatewayV2HTTPRequest
}

// Caller is the verified user: the subject of the access token that API Gateway checked, never a value from the body. API Gateway takes
// ID tokens too; here they are refused, as at the other doors. Faults: Denied.
func (r Request) Caller() (contract.Principal, error) {
	auth := r.RequestContext.Authorizer
	if auth == nil || auth.JWT == nil || auth.JWT.Claims["sub"] == "" {
		return contract.Principal{}, fault.New(fault.Denied, "no verified user")
	}
	if use := auth.JWT.Claims["token_use"]; use != "" && use != string(identity.Access) {
		return contract.Principal{}, fault.New(fault.Denied, "an access token is needed, this is another").Because("token_use")
	}
	return task.User(auth.JWT.Claims["sub"]), nil
}

// Path gives a path parameter.
func (r Request) Path(name string) string { return r.PathParameters[name] }

// Query gives a query parameter.
func (r Request) Query(name string) string { return r.QueryStringParameters[name] }

// Number gives a query parameter that is a whole number; 0 when it is absent. Faults: Invalid.
func (r Request) Number(name string) (int, error) {
	text := r.Query(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s: must be a whole number", name)
	}
	return n, nil
}

// Body reads the JSON body into v; no body is an empty object. Unknown fields are ignored. Faults: Invalid, naming the field.
func (r Request) Body(v any) error { return r.BodyUpTo(MaxBodyBytes, v) }

// BodyUpTo is Body with another limit.
func (r Request) BodyUpTo(limit int, v any) error {
	data := []byte(r.APIGatewayV2HTTPRequest.Body)
	if r.IsBase64Encoded {
		var err error
		if data, err = base64.StdEncoding.DecodeString(r.APIGatewayV2HTTPRequest.Body); err != nil {
			return fault.New(fault.Invalid, "body: is not valid base64")
		}
	}
	if len(data) > limit {
		return fault.New(fault.Invalid, "body: %d bytes, the limit is %d", len(data), limit)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	return decode("body", data, v)
}

// decode reads one JSON object. Faults: Invalid, naming what is wrong, without repeating the text.
func decode(what string, data []byte, v any) error {
	if !utf8.Valid(data) { // the decoder would change it without a word
		return fault.New(fault.Invalid, "%s: is not valid UTF-8", what)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return fault.New(fault.Invalid, "%s: must be one JSON object", what)
		}
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return fault.New(fault.Invalid, "%s: must be %s, is %s", fieldName(wrong), jsonName(wrong), article(wrong.Value))
	case errors.As(err, &wrong):
		return fault.New(fault.Invalid, "%s: must be a JSON object", what)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fault.New(fault.Invalid, "%s: the JSON ends too early", what)
	}
	return fault.New(fault.Invalid, "%s: is not valid JSON", what)
}

// fieldName is the path of a field as callers write it: without the Go names of structs that are embedded.
func fieldName(e *json.UnmarshalTypeError) string {
	path := strings.Split(e.Field, ".")
	for len(path) > 1 && path[0] != "" && unicode.IsUpper(rune(path[0][0])) {
		path = path[1:]
	}
	return strings.Join(path, ".")
}

// jsonName names the kind of JSON value that a field takes.
func jsonName(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "string":
		return "a string"
	case "bool":
		return "a boolean"
	case "slice", "array":
		return "a list"
	case "map", "struct", "ptr":
		return "an object"
	}
	return "a number"
}

func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// Handler is a Lambda handler of the HTTP API.
type Handler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// HTTP makes a handler: decode reads the input, do is the use-case, status gives the status code of its answer. Faults become the reply
// that the package's table of status codes says.
func HTTP[In, Out any](log *slog.Logger, decode func(Request) (In, error), do func(context.Context, In) (Out, error), status func(Out) int) Handler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		in, err := decode(Request{e})
		if err != nil {
			return failure(ctx, log, e.RouteKey, err), nil
		}
		out, err := do(ctx, in)
		if err != nil {
			return failure(ctx, log, e.RouteKey, err), nil
		}
		return reply(status(out), out), nil
	}
}

// Always gives a status that does not depend on the answer.
func Always[Out any](code int) func(Out) int { return func(Out) int { return code } }

func reply(code int, body any) events.APIGatewayV2HTTPResponse {
	r := events.APIGatewayV2HTTPResponse{StatusCode: code, Headers: map[string]string{"content-type": "application/json", "cache-control": "no-store"}}
	if code == http.StatusNoContent {
		return events.APIGatewayV2HTTPResponse{StatusCode: code}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusInternalServerError, Body: `{"message":"something went wrong","code":"internal"}`}
	}
	r.Body = string(data)
	return r
}

// statuses of the faults.
var statuses = map[fault.Code]int{
	fault.Invalid: http.StatusBadRequest, fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict,
	fault.Denied: http.StatusForbidden, fault.Limit: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
	fault.Internal: http.StatusInternalServerError,
}

func failure(ctx context.Context, log *slog.Logger, route string, err error) events.APIGatewayV2HTTPResponse {
	code := fault.CodeOf(err)
	note(ctx, log, "request failed", err, "route", route)
	return reply(statuses[code], contract.ErrorBody{Message: fault.Public(err), Code: word(err)})
}

// word is the code a program may go by: the fault's reason, else its code.
func word(err error) string {
	if reason := fault.ReasonOf(err); reason != "" {
		return reason
	}
	return string(fault.CodeOf(err))
}

// note logs a fault: what the caller did wrong in passing, what we did wrong as an error.
func note(ctx context.Context, log *slog.Logger, what string, err error, args ...any) {
	level := slog.LevelInfo
	switch fault.CodeOf(err) {
	case fault.Internal:
		level = slog.LevelError
	case fault.Unavailable:
		level = slog.LevelWarn
	}
	log.Log(ctx, level, what, append(args, "code", word(err), "error", fmt.Sprint(err))...)
}

// Session decodes a request that names a session in its path.
func Session(r Request) (in flow.SessionOf, err error) {
	in.SessionID = r.Path("sessionId")
	in.Caller, err = r.Caller()
	return in, err
}

// Task decodes a request that names a task in its path.
func Task(r Request) (flow.TaskOf, error) {
	caller, err := r.Caller()
	return flow.TaskOf{TaskID: r.Path("taskId"), Caller: caller.ID}, err
}

// Wire turns a use-case that gives a task's result into one that gives the result's public form.
func Wire[In any](do func(context.Context, In) (task.Result, error)) func(context.Context, In) (contract.TaskResult, error) {
	return func(ctx context.Context, in In) (contract.TaskResult, error) {
		r, err := do(ctx, in)
		return r.Wire(), err
	}
}
