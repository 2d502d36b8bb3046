// Package openai lets any server of the OpenAI chat completions API answer as Bedrock in the local cloud: a Bridge is a
// bedrock.Responder that writes a Converse request as a chat completion, streams it, and reads the stream back as parts.
//
// It translates and nothing else: what a request must look like is checked before it comes here, and attempts are repeated by
// the caller, as with Bedrock. It never sends reasoning back to a server, which has no place for it.
package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/sashabaranov/go-openai"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// Bridge answers with one model of one server. Make one with New; it is safe for concurrent use.
type Bridge struct {
	client      *openai.Client
	base, model string

	mu      sync.Mutex
	refused map[string]bool // names of parameters that the server does not take
}

// New gives the bridge to model at baseURL, the address before "/chat/completions". The key is OPENAI_API_KEY of the environment;
// without one the server is asked without.
func New(baseURL, model string) *Bridge {
	config := openai.DefaultConfig(os.Getenv("OPENAI_API_KEY"))
	config.BaseURL, config.OrgID = strings.TrimSuffix(baseURL, "/"), os.Getenv("OPENAI_ORG_ID")
	config.EmptyMessagesLimit = 1 << 20 // lines that keep the connection alive are no fault
	return &Bridge{client: openai.NewClientWithConfig(config), base: config.BaseURL, model: model, refused: map[string]bool{}}
}

// Respond asks the server. A parameter that it does not take (newer models take no temperature) is left out from then on.
func (b *Bridge) Respond(ctx context.Context, req bedrock.Request) iter.Seq2[bedrock.Part, error] {
	return func(yield func(bedrock.Part, error) bool) {
		a := answer{yield: yield, request: req}
		stream, err := b.open(ctx, req)
		if err == nil {
			err = a.read(stream)
			_ = stream.Close() // it has been read, or nobody reads it any more
		}
		switch {
		case ctx.Err() != nil:
			a.fail(ctx.Err())
		case err != nil:
			a.fail(b.exception(err))
		default:
			a.finish()
		}
	}
}

// open sends the request, until the server has told all parameters that it does not take.
func (b *Bridge) open(ctx context.Context, req bedrock.Request) (*openai.ChatCompletionStream, error) {
	for {
		written, err := b.write(req)
		if err != nil {
			return nil, err
		}
		stream, err := b.client.CreateChatCompletionStream(ctx, written)
		if !b.learn(err) {
			return stream, err
		}
	}
}

// learn notes which parameters were refused by name, and reports whether that was news.
func (b *Bridge) learn(err error) bool {
	var params []string
	var refusal *openai.APIError
	switch { // the library knows some models itself
	case errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated):
		params = []string{"max_tokens"}
	case errors.Is(err, openai.ErrReasoningModelLimitationsOther), errors.Is(err, openai.ErrReasoningSamplingUnsupported):
		params = []string{"temperature", "top_p"}
	case errors.As(err, &refusal) && refusal.HTTPStatusCode == http.StatusBadRequest && refusal.Param != nil:
		params = []string{*refusal.Param}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	news := false
	for _, p := range params {
		switch p {
		case "max_tokens", "temperature", "top_p", "stop":
			news = news || !b.refused[p]
			b.refused[p] = true
		}
	}
	return news
}

// takes reports whether the server is not known to refuse a parameter.
func (b *Bridge) takes(param string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.refused[param]
}

// read takes the stream to its end, or as long as somebody listens.
func (a *answer) read(stream *openai.ChatCompletionStream) error {
	for !a.left {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a.add(chunk)
	}
	return nil
}
