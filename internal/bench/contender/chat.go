package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/socket"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
)

// sink is a connection inside the process. It counts what it is sent.
type sink struct {
	mu              sync.Mutex
	messages, bytes int
	last            []byte
	text            time.Time // of the first piece of an answer
}

// PostToConnection takes a frame.
func (s *sink) PostToConnection(_ context.Context, in *apigatewaymanagementapi.PostToConnectionInput, _ ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.PostToConnectionOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.messages++; s.messages == 2 { // the first tells that the turn begins
		s.text = time.Now()
	}
	s.bytes += len(in.Data)
	s.last = in.Data
	return &apigatewaymanagementapi.PostToConnectionOutput{}, nil
}

// drain gives what came since it was last asked: how many frames and bytes, and the kind of the last.
func (s *sink) drain() (messages, bytes int, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages, bytes = s.messages, s.bytes
	var m contract.ServerMessage
	if json.Unmarshal(s.last, &m) == nil {
		kind = m.Type
	}
	s.messages, s.bytes, s.last = 0, 0, nil
	return messages, bytes, kind
}

// chatter speaks turns with one user.
type chatter struct {
	edges     boot.Edges
	tools     tool.Registry
	sink      sink
	engine    *turn.Engine
	asked     *asked
	sessionID string
	turns     int
}

func newChatter() (*chatter, error) {
	c := &chatter{edges: edges()}
	if text := os.Getenv("TOOL_RESULT_BYTES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("TOOL_RESULT_BYTES: %w", err)
		}
		c.tools = lookup(n)
	}
	return c, nil
}

// said is what a turn came to.
type said struct {
	Mark     string  `json:"mark"`
	Ms       float64 `json:"ms"`
	Messages int     `json:"messages"` // frames
	Bytes    int     `json:"bytes"`
	Last     string  `json:"last,omitempty"`
	History  int     `json:"history"`
	Error    string  `json:"error,omitempty"`
	first    time.Time
}

// turn speaks one turn. same: a worker that remembers the session; reload: one that reads it anew, as a worker that has not met
// it does; reload20: so too, with a new session every 20 turns; fresh: the first turn of a session. Clients are kept, as a worker
// keeps them.
func (c *chatter) turn(ctx context.Context, mode string) said {
	begun := time.Now()
	err := c.begin(ctx, mode)
	if err == nil {
		_, err = flow.Admit{Edges: c.edges.Edges}.Do(ctx, flow.AdmitIn{SessionID: c.sessionID, Caller: user, Text: request})
	}
	if err == nil {
		err = c.engine.Do(ctx, c.sessionID)
	}
	s := said{Mark: "turn", Ms: float64(time.Since(begun).Microseconds()) / 1000}
	s.Messages, s.Bytes, s.Last = c.sink.drain()
	s.first = c.sink.text
	s.History = c.asked.messages + 1
	switch {
	case err != nil:
		s.Error = err.Error()
	case s.Last != contract.TypeComplete:
		s.Error = "the turn ended with " + s.Last
	}
	return s
}

func (c *chatter) begin(ctx context.Context, mode string) error {
	if c.engine == nil {
		c.engine, c.asked = engine(c.edges, c.tools)
		c.engine.Sockets = &socket.Caster{Connections: &c.sink}
	}
	if mode != "same" {
		c.engine.Remembered = &turn.Memory{}
	}
	again := c.sessionID != "" && mode != "fresh" && !(mode == "reload20" && c.turns%20 == 0)
	c.turns++
	if again {
		return nil
	}
	c.sessionID = uuid.NewString()
	follow := flow.Chat{Edges: c.edges.Edges}
	return follow.Follow(ctx, flow.Socket{ConnectionID: c.sessionID, ConnectedAt: time.Now()}, flow.SessionOf{SessionID: c.sessionID, Caller: user})
}

// session answers a line with a turn.
func session(ctx context.Context, in io.Reader) error {
	c, err := newChatter()
	if err != nil {
		return err
	}
	if err := emit(mark{Mark: "ready"}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := emit(c.turn(ctx, strings.TrimSpace(lines.Text()))); err != nil {
			return err
		}
	}
	return lines.Err()
}

// warm measures turns.
func warm(ctx context.Context, n, unmeasured int, mode string) error {
	c, err := newChatter()
	if err != nil {
		return err
	}
	l, err := measure(n, unmeasured, func() (time.Time, error) {
		s := c.turn(ctx, mode)
		if s.Error != "" {
			return s.first, errors.New(s.Error)
		}
		return s.first, nil
	})
	if err != nil {
		return err
	}
	return emit(l)
}
