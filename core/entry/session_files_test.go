package entry_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// TestFilesOverHTTP: a list is JSON, a text is its bytes and no page, a refusal is an error as any.
func TestFilesOverHTTP(t *testing.T) {
	read := func(_ context.Context, in flow.FileOf) (flow.FileOut, error) {
		switch in.Path {
		case "":
			return flow.FileOut{List: &contract.SessionFiles{Files: []contract.FileInfo{{Path: "a", Bytes: 1}}}}, nil
		case "a":
			return flow.FileOut{Path: "a", Content: "<b>\x00"}, nil
		}
		return flow.FileOut{}, fault.New(fault.NotFound, "no such file: %s", in.Path)
	}
	handle := entry.Files(slog.New(slog.DiscardHandler), read)
	ask := func(path string) events.APIGatewayV2HTTPResponse {
		t.Helper()
		e := events.APIGatewayV2HTTPRequest{PathParameters: map[string]string{"sessionId": "s", "path": path}}
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "ada"}},
		}
		got, err := handle(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask(""); got.StatusCode != 200 || got.Body != `{"files":[{"path":"a","bytes":1}]}` {
		t.Errorf("list = %+v", got)
	}
	got := ask("a")
	if text, err := base64.StdEncoding.DecodeString(got.Body); err != nil || !got.IsBase64Encoded || string(text) != "<b>\x00" ||
		got.Headers["content-type"] != "text/plain; charset=utf-8" || got.Headers["x-content-type-options"] != "nosniff" {
		t.Errorf("text = %+v, %v", got, err)
	}
	if got := ask("x"); got.StatusCode != 404 {
		t.Errorf("none = %+v", got)
	}
	if got, _ := handle(t.Context(), events.APIGatewayV2HTTPRequest{}); got.StatusCode != 403 {
		t.Errorf("nobody = %+v", got)
	}
}

// TestWebhookKeepsTheBytes: what was signed is what is verified, however it travelled.
func TestWebhookKeepsTheBytes(t *testing.T) {
	for _, encoded := range []bool{false, true} {
		body := "{\"a\": 1}\n"
		e := events.APIGatewayV2HTTPRequest{Body: body, IsBase64Encoded: encoded, PathParameters: map[string]string{"channel": "hooks"}, Headers: map[string]string{"steadfast-signature": "t=1"}}
		if encoded {
			e.Body = base64.StdEncoding.EncodeToString([]byte(body))
		}
		in, err := entry.Webhook(entry.Request{APIGatewayV2HTTPRequest: e})
		want := channel.Request{Headers: e.Headers, Body: []byte(body)}
		if err != nil || in.Channel != "hooks" || string(in.Body) != string(want.Body) || in.Headers["steadfast-signature"] != "t=1" {
			t.Errorf("Webhook = %+v, %v", in, err)
		}
	}
	if _, err := entry.Webhook(entry.Request{APIGatewayV2HTTPRequest: events.APIGatewayV2HTTPRequest{Body: "%", IsBase64Encoded: true}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("Webhook = %v", err)
	}
}
