package bedrock

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// Reply is one scripted answer: its parts in order. A *Error in it ends the reply with that exception: as the first
// part it is an HTTP error, later an exception inside the stream. Hangup ends it without a word. What a real model may
// do wrong (cut JSON, a stop reason that does not fit, no text at all) is written as it is.
type Reply []Part

// Say is a reply of text in pieces.
func Say(pieces ...string) Reply {
	var r Reply
	for _, p := range pieces {
		r = append(r, Text(p))
	}
	return r
}

// Calling is a reply of one tool call whose input comes in two pieces.
func Calling(id, name, input string) Reply {
	half := len(input) / 2
	return Reply{ToolCall{ID: id, Name: name}, ToolInput(input[:half]), ToolInput(input[half:])}
}

// And joins replies, for example text and two calls.
func (r Reply) And(more ...Reply) Reply { return slices.Concat(append([]Reply{r}, more...)...) }

// Script answers each request with the next of its replies and keeps the requests. It is safe for concurrent use; a
// request that was refused by Check never reaches it. When the replies are used up, Then answers; without one the
// request is refused.
type Script struct {
	Replies []Reply
	Then    Responder

	mu       sync.Mutex
	requests []Request
}

// Requests gives the requests so far.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Respond plays the next reply.
func (s *Script) Respond(ctx context.Context, req Request) iter.Seq2[Part, error] {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	switch {
	case n < len(s.Replies):
		return s.Replies[n].play(ctx)
	case s.Then != nil:
		return s.Then.Respond(ctx, req)
	}
	return Reply{invalid("The script has %d replies and this is request %d", len(s.Replies), n+1)}.play(ctx)
}

func (r Reply) play(ctx context.Context) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		for _, p := range r {
			var err error
			switch p := p.(type) {
			case *Error:
				err = p
			case Wait:
				if err = pause(ctx, time.Duration(p)); err == nil {
					continue
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// pause waits for d or until ctx is over.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
