package fake

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// Model is a model that says what a test tells it to. It refuses every request that model.Check refuses, as a strict
// service does, and records all. A disturbance LoseAnswer or KillAfter of its call "model.Stream" strikes in the middle of
// the stream.
type Model struct {
	World *World

	Script []Turn                   // the answers, call by call; a call past the end fails
	Answer func(model.Request) Turn // computes the answer, when there is no Script; nil: "ok"
	Forget bool                     // requests are checked but not kept, for there are too many; Answer only

	mu       sync.Mutex
	requests []model.Request
	refused  []error
}

// Turn is what one call of the model streams. A turn without a Stop is a stream that closes silently.
type Turn []Piece

// Piece is one thing that happens in a stream: after Wait and Pause either Err ends the stream or Event comes. A zero
// Event with no Err only waits.
type Piece struct {
	Wait  <-chan struct{}
	Pause time.Duration
	Err   error
	Event model.Event
}

// Say is a complete answer of text, streamed in pieces.
func Say(pieces ...string) Turn { return ended(said(pieces), model.EndTurn) }

// Calls is a complete reply that calls tools, after text if that is not empty. Each input comes in two pieces.
func Calls(text string, calls ...model.ToolUse) Turn {
	var t Turn
	block := 0
	if text != "" {
		t = said([]string{text})
		block = 1
	}
	for _, c := range calls {
		input := string(c.Input)
		half := len(input) / 2
		t = append(t, Piece{Event: model.ToolStart{Block: block, ID: c.ID, Name: c.Name}},
			Piece{Event: model.ToolInput{Block: block, JSON: input[:half]}}, Piece{Event: model.ToolInput{Block: block, JSON: input[half:]}},
			Piece{Event: model.BlockStop{Block: block}})
		block++
	}
	return ended(t, model.StopToolUse)
}

func said(pieces []string) Turn {
	var t Turn
	for _, text := range pieces {
		t = append(t, Piece{Event: model.TextDelta{Text: text}})
	}
	return append(t, Piece{Event: model.BlockStop{}})
}

// ended closes a turn: stop reason, then 10 tokens in and one out for each event.
func ended(t Turn, reason model.StopReason) Turn {
	usage := model.Usage{InputTokens: 10, OutputTokens: len(t)}
	return append(t, Piece{Event: model.Stop{Reason: reason}}, Piece{Event: model.UsageReport{Usage: usage}})
}

// Stopping gives the turn with another stop reason, whatever its content.
func (t Turn) Stopping(reason model.StopReason) Turn {
	t = slices.Clone(t)
	for i, p := range t {
		if _, ok := p.Event.(model.Stop); ok {
			t[i].Event = model.Stop{Reason: reason}
		}
	}
	return t
}

// Cut gives the first n pieces: the stream then closes silently.
func (t Turn) Cut(n int) Turn { return slices.Clone(t[:n]) }

// Failing gives the first n pieces and then err.
func (t Turn) Failing(n int, err error) Turn { return append(t.Cut(n), Piece{Err: err}) }

// Waiting gives the turn with a wait for the channel before piece n.
func (t Turn) Waiting(n int, until <-chan struct{}) Turn {
	t = slices.Clone(t)
	t[n].Wait = until
	return t
}

// Pausing gives the turn with a pause before every piece.
func (t Turn) Pausing(pause time.Duration) Turn {
	t = slices.Clone(t)
	for i := range t {
		t[i].Pause = pause
	}
	return t
}

// Stream answers one request. Faults: Invalid when model.Check refuses it, Unavailable for injected errors, Internal when
// the script is at its end.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		p, err := m.World.enter(ctx, "model.Stream", note(req))
		if err != nil {
			yield(nil, modelError(err))
			return
		}
		turn, err := m.turn(req)
		if err != nil {
			yield(nil, p.leave(err))
			return
		}
		m.play(ctx, p, turn, yield)
	}
}

func note(req model.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	text := []rune(req.Messages[len(req.Messages)-1].PlainText())
	return string(text[:min(len(text), 40)])
}

// modelError makes an injected error one that a model client returns.
func modelError(err error) error {
	if errors.Is(err, ErrThrottled) || errors.Is(err, ErrLost) {
		return fault.Wrap(fault.Unavailable, err, "call the model")
	}
	return err
}

// turn records the request and finds its answer.
func (m *Model) turn(req model.Request) (Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.Forget {
		m.requests = append(m.requests, req)
	}
	if err := model.Check(req); err != nil {
		m.refused = append(m.refused, err)
		return nil, fault.Wrap(fault.Invalid, err, "the model refuses the request")
	}
	switch n := len(m.requests); {
	case m.Script != nil && n > len(m.Script):
		return nil, fault.New(fault.Internal, "call %d of the model, but its script has %d turns", n, len(m.Script))
	case m.Script != nil:
		return m.Script[n-1], nil
	case m.Answer != nil:
		return m.Answer(req), nil
	}
	return Say("ok"), nil
}

func (m *Model) play(ctx context.Context, p passage, turn Turn, yield func(model.Event, error) bool) {
	if p.mode == KillAfter || p.mode == LoseAnswer {
		turn = turn[:len(turn)/2]
	}
	for _, piece := range turn {
		err := piece.come(ctx)
		if err != nil {
			yield(nil, modelError(p.leave(err)))
			return
		}
		if piece.Event != nil && !yield(piece.Event, nil) {
			_ = p.leave(nil)
			return
		}
	}
	if err := p.leave(nil); err != nil {
		yield(nil, modelError(err))
	}
}

// come waits as the piece says.
func (p Piece) come(ctx context.Context) error {
	if p.Wait != nil {
		select {
		case <-p.Wait:
		case <-ctx.Done():
		}
	}
	if p.Pause > 0 {
		pause := time.NewTimer(p.Pause)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
	if err := alive(ctx, "model.Stream"); err != nil {
		return err
	}
	return p.Err
}

// Requests gives every request, in order, those that were refused included.
func (m *Model) Requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Refused gives what model.Check said about the requests it refused; a test that is not about refusals wants none.
func (m *Model) Refused() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.refused)
}
