package socket_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// connections is the service that posts, in memory. fail decides about each post before it counts as delivered.
type connections struct {
	mu    sync.Mutex
	fail  func(ctx context.Context, id string, nth int) error
	tries map[string]int
	posts map[string][]post
	gone  []string
}

type post struct {
	at      time.Time
	bytes   int
	message contract.ServerMessage
}

func (c *connections) PostToConnection(ctx context.Context, in *apigatewaymanagementapi.PostToConnectionInput,
	_ ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.PostToConnectionOutput, error) {
	id := *in.ConnectionId
	c.mu.Lock()
	if c.tries == nil {
		c.tries, c.posts = map[string]int{}, map[string][]post{}
	}
	c.tries[id]++
	nth, fail := c.tries[id], c.fail
	c.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, id, nth); err != nil {
			return nil, err
		}
	}
	p := post{at: time.Now(), bytes: len(in.Data)}
	if err := json.Unmarshal(in.Data, &p.message); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.posts[id] = append(c.posts[id], p)
	return &apigatewaymanagementapi.PostToConnectionOutput{}, nil
}

func (c *connections) caster() *socket.Caster {
	return &socket.Caster{Connections: c, Gone: func(_ context.Context, id string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gone = append(c.gone, id)
	}}
}

func (c *connections) of(id string) []post {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]post(nil), c.posts[id]...)
}

func (c *connections) triesOf(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries[id]
}

func plain(id string) socket.Subscriber { return socket.Subscriber{ConnectionID: id} }

func capable(id string) socket.Subscriber {
	return socket.Subscriber{ConnectionID: id, Features: []string{contract.FeatureReset}}
}

// story tells posts by their kind, text by its content.
func story(posts []post) []string {
	var out []string
	for _, p := range posts {
		out = append(out, kind(p.message))
	}
	return out
}

func kind(m contract.ServerMessage) string {
	switch e := m.Event; {
	case m.Type == contract.TypeError:
		return "error " + m.Error
	case e == nil:
		return m.Type + " " + m.SessionID + m.DeliveryID
	case e.Data != nil:
		return *e.Data
	case e.CurrentToolUse != nil:
		return "tool " + e.CurrentToolUse.Name
	case e.Reset != nil:
		return "reset"
	case e.InitEventLoop:
		return "init"
	}
	return "end"
}

// shown is the text a client has at the end that keeps offset code points on a reset. It fails on a hole or an overlap.
func shown(t *testing.T, posts []post) string {
	t.Helper()
	var text []rune
	for i, p := range posts {
		e := p.message.Event
		switch {
		case e == nil:
		case e.Reset != nil:
			text = text[:*p.message.Offset]
		case e.Data != nil:
			if got := *p.message.Offset; got != int64(len(text)) {
				t.Fatalf("post %d: offset = %d, want %d", i, got, len(text))
			}
			text = append(text, []rune(*e.Data)...)
		}
	}
	return string(text)
}
