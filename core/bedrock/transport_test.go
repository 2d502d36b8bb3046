package bedrock_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// counting counts how often the bodies of its answers are read.
type counting struct {
	http.Client
	reads atomic.Int64
}

func (c *counting) Do(req *http.Request) (*http.Response, error) {
	res, err := c.Client.Do(req)
	if err == nil {
		res.Body = counted{res.Body, &c.reads}
	}
	return res, err
}

type counted struct {
	io.ReadCloser
	reads *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	c.reads.Add(1)
	return c.ReadCloser.Read(p)
}

// TestAnswersAreReadByTheBuffer: an event does not cost a dozen reads of the connection.
func TestAnswersAreReadByTheBuffer(t *testing.T) {
	const pieces = 200
	srv := httptest.NewServer(&wire.Server{Model: &wire.Script{Replies: []wire.Reply{wire.Say(strings.Split(strings.Repeat("word ", pieces), " ")[:pieces]...)}}})
	defer srv.Close()
	h := &counting{}
	m := bedrock.Model{Client: bedrockruntime.New(bedrockruntime.Options{
		Region: bedrock.DefaultRegion, BaseEndpoint: &srv.URL, HTTPClient: h, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	events, err := drain(m, hello())
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for _, e := range events {
		if _, ok := e.(model.TextDelta); ok {
			texts++
		}
	}
	if reads := h.reads.Load(); texts != pieces || reads > 2*pieces {
		t.Errorf("%d pieces of %d came by %d reads", texts, pieces, reads)
	}
}

// TestStreamsOfOneClientShareNothing: several at once, as subagents and the lenses of one program ask; the race detector watches.
func TestStreamsOfOneClientShareNothing(t *testing.T) {
	const streams, pieces = 8, 50
	var replies []wire.Reply
	for range streams {
		replies = append(replies, wire.Say(strings.Split(strings.Repeat("word ", pieces), " ")[:pieces]...))
	}
	srv := httptest.NewServer(&wire.Server{Model: &wire.Script{Replies: replies}})
	defer srv.Close()
	m := bedrock.Model{Client: bedrockruntime.New(bedrockruntime.Options{
		Region: bedrock.DefaultRegion, BaseEndpoint: &srv.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	var group sync.WaitGroup
	for range streams {
		group.Go(func() {
			if reply, err := model.Collect(m.Stream(t.Context(), hello())); err != nil || reply.Message.PlainText() != strings.Repeat("word", pieces) {
				t.Errorf("Stream = %q, %v", reply.Message.PlainText(), err)
			}
		})
	}
	group.Wait()
}
