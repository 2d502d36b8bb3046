// Package bedrock asks models of Amazon Bedrock, with Converse and ConverseStream, in the words of core/model. It is
// the only package that knows the service's types: what it sends has been through model.Build and model.Check, and what
// comes back is normalised in one place, so that the loop never meets an event it does not know.
//
// An answer counts only if its end was seen: a stream that just ends, stops in silence or breaks is a failure with
// code Unavailable. The package never retries on its own (the SDK does, before an answer has begun), but for a request that the
// model refuses for a setting which it does not have: that is asked again without. It never runs a tool, never decides what to do
// about a stop reason, and keeps no state between calls.
package bedrock

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// What is used where nothing else is said.
const (
	DefaultModelID   = "us.amazon.nova-lite-v1:0"
	DefaultRegion    = "us-east-1"
	DefaultMaxTokens = 4096            // of output; the service reserves them from the account's quota when a call begins
	DefaultStall     = 2 * time.Minute // a stream that says nothing for this long has failed
)

// settle is how long the usage report may take after the end of a message.
const settle = 5 * time.Second

// Client is the part of *bedrockruntime.Client that a Model needs. It must be safe for concurrent use.
type Client interface {
	Converse(ctx context.Context, in *bedrockruntime.ConverseInput, opts ...func(*bedrockruntime.Options)) (*bedrockruntime.ConverseOutput, error)
	ConverseStream(ctx context.Context, in *bedrockruntime.ConverseStreamInput, opts ...func(*bedrockruntime.Options)) (*bedrockruntime.ConverseStreamOutput, error)
}

// Model is one model of Bedrock. Only Client is required; a Request's own ModelID, MaxTokens and Temperature come before
// those here. A Model is a value, safe for concurrent use.
type Model struct {
	Client      Client
	ID          string         // model, inference profile, or ARN of either; empty: BEDROCK_MODEL_ID, else DefaultModelID
	MaxTokens   int            // of output; 0: DefaultMaxTokens
	Temperature *float64       // 0 to 1; nil: the service's default for the model
	Fields      map[string]any // the model's own request fields, as {"thinking": {...}}; switched-on reasoning is left out where a tool is forced, and the temperature where reasoning is on, for the service refuses both
	Guardrail   Guardrail
	Structured  *bool         // whether the service can hold its text to a schema, so that AnswerTool is not offered; nil: StructuredOf the model's id
	Caching     *Caching      // where cache points may stand; nil: CachingOf the model's id. &Caching{}: nowhere
	Whole       bool          // ask with Converse: for models that do not stream. The events then come all at once
	Stall       time.Duration // 0: DefaultStall
	Log         *slog.Logger  // nil: discard
}

// Stream asks the model and yields the events of its answer: content, one Stop, at most one UsageReport after it. An
// error ends the stream. Breaking off the range ends the call, as does the end of ctx.
//
// Fault codes: Invalid (the request; reason "context_full" if it is too long), NotFound (no such model), Denied, Limit
// (a quota that waiting does not restore), Unavailable (try again; reasons "throttled", "model_not_ready", "model_timeout",
// "model_error", "stream_cut", "stream_stalled", "malformed_output", "unreachable", "service_error"), Internal (a stop
// reason that nobody knows, reason "unknown_stop"). A failure may come after content, and after a UsageReport if the service
// counted the failed answer.
func (m Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { m.ask(ctx, req, yield) }
}

// Defaults are MaxTokens and Temperature, for callers with defaults of their own: 0 and nil where m says nothing.
func (m Model) Defaults() (maxTokens int, temperature *float64) { return m.MaxTokens, m.Temperature }

// once asks once.
func (m Model) once(ctx context.Context, req model.Request, yield func(model.Event, error) bool) {
	in, err := m.input(req)
	switch {
	case err != nil:
		yield(nil, err)
	case m.Whole:
		m.whole(ctx, in, yield)
	default:
		m.stream(ctx, in, yield)
	}
}

// Complete asks the model without streaming and gives the whole answer, put together as model.Collect does. Faults are
// those of Stream and of model.Collector.
func (m Model) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	m.Whole = true
	return model.Collect(m.Stream(ctx, req))
}

// id is the model's id for req.
func (m Model) id(req model.Request) string {
	for _, id := range []string{req.ModelID, m.ID, os.Getenv("BEDROCK_MODEL_ID")} {
		if id != "" {
			return id
		}
	}
	return DefaultModelID
}

func (m Model) stall() time.Duration {
	if m.Stall == 0 {
		return DefaultStall
	}
	return m.Stall
}

func (m Model) log() *slog.Logger {
	if m.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.Log
}

// errNoClient is a defect of the program around this package.
func errNoClient(id string) error {
	return fault.New(fault.Internal, "ask model %s: the bedrock.Model has no Client", id)
}
