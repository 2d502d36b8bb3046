package bedrock_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// current answers with whatever reply it holds.
type current struct{ reply wire.Reply }

func (c *current) Respond(context.Context, wire.Request) iter.Seq2[wire.Part, error] {
	return func(yield func(wire.Part, error) bool) {
		for _, p := range c.reply {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Whatever one event holds, the stream neither panics nor ends without a Stop or an error, and block numbers stay small.
func FuzzStreamEvent(f *testing.F) {
	for _, seed := range [][2]string{
		{"contentBlockStart", `{}`}, {"contentBlockStart", `{"contentBlockIndex":7,"start":{"toolUse":null}}`}, {"contentBlockStart", `{"start":{"toolUse":{}}}`},
		{"contentBlockDelta", `{"delta":{"toolUse":{}}}`}, {"contentBlockDelta", `{"contentBlockIndex":-1,"delta":{"text":null}}`},
		{"contentBlockDelta", `{"contentBlockIndex":2147483647,"delta":{"text":"x"}}`}, {"contentBlockDelta", `{"delta":{"reasoningContent":{}}}`},
		{"contentBlockStop", `{"contentBlockIndex":9}`}, {"messageStop", `{}`}, {"messageStop", `{"stopReason":null}`},
		{"metadata", `{"usage":{"inputTokens":-5}}`}, {"metadata", `{}`}, {"messageStart", `[]`}, {"contentBlockDelta", `not JSON`}, {"", ``},
	} {
		f.Add(seed[0], seed[1])
	}
	answer := &current{}
	srv := httptest.NewServer(&wire.Server{Model: answer})
	f.Cleanup(srv.Close)
	m := bedrock.Model{Client: bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: &srv.URL, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	f.Fuzz(func(t *testing.T, event, payload string) {
		answer.reply = wire.Reply{wire.Text("a"), wire.Raw{Event: event, JSON: json.RawMessage(payload)}, wire.Text("b")}
		ended := false
		for e, err := range m.Stream(context.Background(), hello()) {
			_, stop := e.(model.Stop)
			ended = ended || stop || err != nil
			if fault.Is(err, fault.Internal) && fault.ReasonOf(err) != "unknown_stop" {
				t.Errorf("an error that nobody thought of: %v", err)
			}
			if d, ok := e.(model.TextDelta); ok && (d.Block < 0 || d.Block > 2) {
				t.Errorf("block number %d", d.Block)
			}
			if u, ok := e.(model.UsageReport); ok && u.Usage.InputTokens < 0 {
				t.Errorf("usage %+v", u)
			}
		}
		if !ended {
			t.Errorf("the stream with %s %q just ended", event, payload)
		}
	})
}
