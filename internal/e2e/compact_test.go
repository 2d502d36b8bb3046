package e2e_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// attentive notes what it is asked, and sums up by a word.
type attentive struct {
	bedrock.Responder
	mu    sync.Mutex
	asked []bedrock.Request
}

func (a *attentive) Respond(ctx context.Context, req bedrock.Request) iter.Seq2[bedrock.Part, error] {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, req)
	if len(req.System) > 0 && strings.HasPrefix(req.System[0].Text, "You sum up") {
		return func(yield func(bedrock.Part, error) bool) { yield(bedrock.Text("ALL SO FAR"), nil) }
	}
	return a.Responder.Respond(ctx, req)
}

// TestP09AConversationOutgrowsItsModel: with a window that is a parameter of the stack, a conversation is summed up on the way, and goes
// on; the log has all of it.
func TestP09AConversationOutgrowsItsModel(t *testing.T) {
	t.Parallel()
	model := &attentive{Responder: quick()}
	s := start(t, cloud.Options{Model: model, Parameters: map[string]string{"BedrockContextTokens": "6000"}})
	p, session := s.connect("ada", ""), uuid.NewString()
	for n := range 12 {
		want := fmt.Sprintf("%d %s", n, strings.Repeat("word ", 100))
		if got := p.ask(session, fmt.Sprintf("say %q", want)); got.text != want {
			t.Errorf("message %d was answered %q", n, got.text)
		}
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	last, summaries := model.asked[len(model.asked)-1], 0
	for _, req := range model.asked {
		if len(req.Body) > 20_000 {
			t.Errorf("the model was sent %d bytes", len(req.Body))
		}
		if strings.HasPrefix(req.System[0].Text, "You sum up") {
			summaries++
		}
	}
	if begin := last.Messages[0].Content[0].Text; summaries == 0 || !strings.Contains(begin, "ALL SO FAR") {
		t.Errorf("after %d summaries the conversation begins %.100q", summaries, begin)
	}
	log := s.as("ada", "GET", "/agent/sessions/"+session+"/events", "").body
	if n := strings.Count(log, `"type":"turn.completed"`); n != 12 {
		t.Errorf("%d turns in the log are complete", n)
	}
	s.rest(t)
}
