package bedrock_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0"

// client starts a server that answers with model and gives an SDK client of it that tries once.
func client(t *testing.T, model bedrock.Responder) *bedrockruntime.Client {
	t.Helper()
	srv := httptest.NewServer(&bedrock.Server{Model: model})
	t.Cleanup(srv.Close)
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: &srv.URL, RetryMaxAttempts: 1, HTTPClient: boot.Steady(http.DefaultClient),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
}

func ask(text string) []types.Message {
	return []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}}}
}

// events reads a whole stream into one line an event.
func events(t *testing.T, c *bedrockruntime.Client, in *bedrockruntime.ConverseStreamInput) ([]string, error) {
	t.Helper()
	out, err := c.ConverseStream(context.Background(), in)
	if err != nil {
		return nil, err
	}
	defer out.GetStream().Close()
	var lines []string
	for e := range out.GetStream().Events() {
		lines = append(lines, line(e))
	}
	return lines, out.GetStream().Err()
}

func line(e types.ConverseStreamOutput) string {
	switch e := e.(type) {
	case *types.ConverseStreamOutputMemberMessageStart:
		return "start " + string(e.Value.Role)
	case *types.ConverseStreamOutputMemberContentBlockStart:
		u := e.Value.Start.(*types.ContentBlockStartMemberToolUse).Value
		return "call " + *u.ToolUseId + " " + *u.Name
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		return deltaLine(e.Value.Delta)
	case *types.ConverseStreamOutputMemberContentBlockStop:
		return "end block"
	case *types.ConverseStreamOutputMemberMessageStop:
		return "stop " + string(e.Value.StopReason)
	case *types.ConverseStreamOutputMemberMetadata:
		return "usage"
	case *types.UnknownUnionMember:
		return "unknown " + e.Tag
	}
	return "?"
}

func deltaLine(d types.ContentBlockDelta) string {
	switch d := d.(type) {
	case *types.ContentBlockDeltaMemberText:
		return "text " + d.Value
	case *types.ContentBlockDeltaMemberToolUse:
		return "input " + *d.Value.Input
	case *types.ContentBlockDeltaMemberReasoningContent:
		switch r := d.Value.(type) {
		case *types.ReasoningContentBlockDeltaMemberText:
			return "reasoning " + r.Value
		case *types.ReasoningContentBlockDeltaMemberSignature:
			return "signature " + r.Value
		case *types.ReasoningContentBlockDeltaMemberRedactedContent:
			return "redacted " + string(r.Value)
		}
	}
	return "?"
}

func TestStream(t *testing.T) {
	tests := []struct {
		name  string
		reply bedrock.Reply
		want  []string
	}{
		{"text in pieces", bedrock.Say("Hel", "lo"), []string{"start assistant", "text Hel", "text lo", "end block", "stop end_turn", "usage"}},
		{"no content at all", bedrock.Reply{}, []string{"start assistant", "stop end_turn", "usage"}},
		{"text and two calls", bedrock.Say("wait").And(bedrock.Calling("a", "x", `{"n":1}`), bedrock.Reply{bedrock.ToolCall{ID: "b", Name: "y"}}), []string{
			"start assistant", "text wait", "end block", "call a x", `input {"n`, `input ":1}`, "end block", "call b y", "end block", "stop tool_use", "usage",
		}},
		{"reasoning, signed and opaque", bedrock.Reply{bedrock.Reasoning{Text: "hm"}, bedrock.Reasoning{Signature: "sig"}, bedrock.Text("x"), bedrock.Reasoning{Redacted: []byte("??")}}, []string{
			"start assistant", "reasoning hm", "signature sig", "end block", "text x", "end block", "redacted ??", "end block", "stop end_turn", "usage",
		}},
		{"a stop reason that does not fit", bedrock.Calling("a", "x", `{}`).And(bedrock.Reply{bedrock.Stop("end_turn")}), []string{
			"start assistant", "call a x", "input {", "input }", "end block", "stop end_turn", "usage",
		}},
		{"an event of the future", bedrock.Reply{bedrock.Raw{Event: "weather", JSON: []byte(`{"rain":true}`)}, bedrock.Text("x")}, []string{
			"start assistant", "unknown weather", "text x", "end block", "stop end_turn", "usage",
		}},
		{"silent end", bedrock.Reply{bedrock.Text("x"), bedrock.Hangup{}}, []string{"start assistant", "text x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := events(t, client(t, &bedrock.Script{Replies: []bedrock.Reply{tt.reply}}), &bedrockruntime.ConverseStreamInput{ModelId: aws.String(arn), Messages: ask("hi")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamExceptionInTheMiddle(t *testing.T) {
	for _, name := range []string{"ThrottlingException", "ModelStreamErrorException", "InternalServerException", "ServiceUnavailableException", "ValidationException"} {
		t.Run(name, func(t *testing.T) {
			script := &bedrock.Script{Replies: []bedrock.Reply{{bedrock.Text("x"), &bedrock.Error{Type: name, Message: "no more"}}}}
			got, err := events(t, client(t, script), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")})
			var api smithy.APIError
			if !errors.As(err, &api) || api.ErrorCode() != name || api.ErrorMessage() != "no more" {
				t.Errorf("error = %v, want %s: no more", err, name)
			}
			if diff := cmp.Diff([]string{"start assistant", "text x"}, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorBeforeTheAnswer(t *testing.T) {
	tests := []struct {
		name string
		want int
	}{
		{"ThrottlingException", 429}, {"ModelNotReadyException", 429}, {"ModelTimeoutException", 408}, {"ModelErrorException", 424}, {"ServiceUnavailableException", 503},
		{"InternalServerException", 500}, {"ValidationException", 400}, {"AccessDeniedException", 403}, {"ResourceNotFoundException", 404}, {"ServiceQuotaExceededException", 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &bedrock.Script{Replies: []bedrock.Reply{{&bedrock.Error{Type: tt.name, Message: "no"}}, {&bedrock.Error{Type: tt.name, Message: "no"}}}}
			c := client(t, script)
			_, streamed := events(t, c, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")})
			_, whole := c.Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: ask("hi")})
			for _, err := range []error{streamed, whole} {
				var api smithy.APIError
				var re interface{ HTTPStatusCode() int }
				if !errors.As(err, &api) || api.ErrorCode() != tt.name || !errors.As(err, &re) || re.HTTPStatusCode() != tt.want {
					t.Errorf("error = %v, want %s with status %d", err, tt.name, tt.want)
				}
			}
		})
	}
}

func TestConverse(t *testing.T) {
	reply := bedrock.Reply{bedrock.Reasoning{Text: "h"}, bedrock.Reasoning{Text: "m", Signature: "sig"}, bedrock.Reasoning{Signature: "nature"}}.
		And(bedrock.Say("Hel", "lo"), bedrock.Calling("a", "x", `{"n":1}`), bedrock.Calling("b", "y", `{"n":`), bedrock.Reply{bedrock.Usage{Input: 7, Output: 5, CacheRead: 3}})
	script := &bedrock.Script{Replies: []bedrock.Reply{reply}}
	out, err := client(t, script).Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: ask("hi")})
	if err != nil {
		t.Fatal(err)
	}
	content := out.Output.(*types.ConverseOutputMemberMessage).Value.Content
	r := content[0].(*types.ContentBlockMemberReasoningContent).Value.(*types.ReasoningContentBlockMemberReasoningText).Value
	got := []string{*r.Text, *r.Signature, content[1].(*types.ContentBlockMemberText).Value, string(out.StopReason)}
	for _, b := range content[2:] {
		u := b.(*types.ContentBlockMemberToolUse).Value
		input, err := u.Input.MarshalSmithyDocument()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *u.ToolUseId, *u.Name, string(input))
	}
	want := []string{"hm", "signature", "Hello", "tool_use", "a", "x", `{"n":1}`, "b", "y", "{}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	u := out.Usage
	if diff := cmp.Diff([]int32{7, 5, 15, 3, 0}, []int32{*u.InputTokens, *u.OutputTokens, *u.TotalTokens, *u.CacheReadInputTokens, *u.CacheWriteInputTokens}); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestBrokenConnection(t *testing.T) {
	script := &bedrock.Script{Replies: []bedrock.Reply{{bedrock.Text("x"), bedrock.Hangup{Reset: true}}, {bedrock.Hangup{}}}}
	c := client(t, script)
	if got, _ := events(t, c, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")}); len(got) > 2 {
		t.Errorf("events after a broken connection = %v", got)
	}
	if _, err := c.Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: ask("hi")}); err == nil {
		t.Error("Converse over a broken connection gave no error")
	}
}

func TestRefusedRequestNeverReachesTheModel(t *testing.T) {
	script := &bedrock.Script{}
	_, err := events(t, client(t, script), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask(" \n")})
	var ve *types.ValidationException
	if !errors.As(err, &ve) || !strings.Contains(ve.ErrorMessage(), "messages.0.content.0 is blank") {
		t.Errorf("error = %v, want a ValidationException that names the block", err)
	}
	if n := len(script.Requests()); n != 0 {
		t.Errorf("the model saw %d requests", n)
	}
}

func TestModelIDComesFromThePath(t *testing.T) {
	script := &bedrock.Script{Replies: []bedrock.Reply{bedrock.Say("x")}}
	if _, err := events(t, client(t, script), &bedrockruntime.ConverseStreamInput{ModelId: aws.String(arn), Messages: ask("hi")}); err != nil {
		t.Fatal(err)
	}
	if got := script.Requests()[0]; got.ModelID != arn || !got.Stream {
		t.Errorf("request = model %q, stream %t", got.ModelID, got.Stream)
	}
}

func TestScriptThatIsUsedUp(t *testing.T) {
	script := &bedrock.Script{Replies: []bedrock.Reply{bedrock.Say("one")}}
	c := client(t, script)
	in := &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask(`say "two"`)}
	if _, err := events(t, c, in); err != nil {
		t.Fatal(err)
	}
	if _, err := events(t, c, in); err == nil || !strings.Contains(err.Error(), "has 1 replies and this is request 2") {
		t.Errorf("error = %v, want one that counts", err)
	}
	script.Then = bedrock.Offline{}
	if got, err := events(t, c, in); err != nil || got[1] != "text two" {
		t.Errorf("events = %v, %v, want the offline model's", got, err)
	}
}

func TestRequestsThatAreNotConverse(t *testing.T) {
	tests := []struct {
		name, method, path, body, want string
		status                         int
	}{
		{"other operation", "POST", "/model/m/invoke", "{}", "UnknownOperationException", 404},
		{"other method", "GET", "/model/m/converse", "", "UnknownOperationException", 404},
		{"not JSON", "POST", "/model/m/converse", "{", "SerializationException", 400},
		{"wrong type", "POST", "/model/m/converse-stream", `{"messages":7}`, "SerializationException", 400},
		{"too large", "POST", "/model/m/converse", `{"x":"` + strings.Repeat("x", bedrock.MaxBody) + `"}`, "ValidationException", 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			(&bedrock.Server{}).ServeHTTP(rec, httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body)))
			if got := rec.Header().Get("X-Amzn-Errortype"); got != tt.want || rec.Code != tt.status {
				t.Errorf("answer = %d %s, want %d %s", rec.Code, got, tt.status, tt.want)
			}
		})
	}
}

// A piece must be on the wire before the next one exists.
func TestPiecesAreSentAtOnce(t *testing.T) {
	gate := make(gated)
	srv := httptest.NewServer(&bedrock.Server{Model: gate})
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/model/m/converse-stream", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "application/vnd.amazon.eventstream" {
		t.Errorf("content type = %q", got)
	}
	var seen []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(seen, []byte("first piece")) {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buf[:n]...)
	}
	close(gate)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(rest, []byte("second piece")) {
		t.Errorf("rest = %q, %v", rest, err)
	}
}

// A client that goes away ends the answer.
func TestClientGone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	srv := httptest.NewServer(&bedrock.Server{Model: endless(left)})
	defer srv.Close()
	req, _ := http.NewRequestWithContext(ctx, "POST", srv.URL+"/model/m/converse-stream", strings.NewReader(`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the model ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the model goes on for a client that is gone")
	}
}

// The zero server is the offline model, which can fail the first attempt of a request.
func TestZeroServer(t *testing.T) {
	server := &bedrock.Server{}
	for i, want := range []int{503, 200, 200} {
		rec := httptest.NewRecorder()
		body := `{"messages":[{"role":"user","content":[{"text":"say 1 word, fail with ServiceUnavailableException once"}]}]}`
		server.ServeHTTP(rec, httptest.NewRequest("POST", "/model/m/converse", strings.NewReader(body)))
		if rec.Code != want {
			t.Errorf("answer %d = %d %s, want %d", i+1, rec.Code, rec.Body, want)
		}
	}
}
