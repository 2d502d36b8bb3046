package lambda

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
)

// MaxStream is Lambda's limit of a streamed answer, in bytes.
const MaxStream = 200 << 20

// Stream is Invoke that writes the answer to `to` as it comes, and nothing after it has returned. The result has no payload but
// that of an error. A host that stops does not wait for the end of streams.
func (h *Host) Stream(ctx context.Context, function, trigger string, payload []byte, to io.Writer) (invoke.Result, error) {
	p, ok := h.pools[function]
	if !ok {
		return invoke.Result{}, fmt.Errorf("stream %s: the template has no such function", function)
	}
	if len(payload) > MaxSync {
		return invoke.Result{}, fmt.Errorf("stream %s: payload of %d bytes is over %d", function, len(payload), MaxSync)
	}
	if err := h.enter(); err != nil {
		return invoke.Result{}, fmt.Errorf("stream %s: %w", function, err)
	}
	h.running.Done()
	bin, err := h.builder.binary(ctx, function)
	if err != nil {
		return invoke.Result{}, fmt.Errorf("stream %s: %w", function, err)
	}
	inv := newInvocation(uuid.NewString(), p.function, trigger, payload)
	inv.finished = func() { h.report(inv) }
	inv.stream = &tap{to: to}
	defer inv.stream.close()
	return h.await(ctx, p, inv, bin)
}

// tap passes on what is written until it is closed. It never blocks a function that goes on after its reader has left.
type tap struct {
	mu     sync.Mutex
	to     io.Writer
	closed bool
}

func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return len(b), nil
	}
	if _, err := t.to.Write(b); err != nil {
		t.closed = true
	}
	return len(b), nil
}

func (t *tap) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// serveStream takes a streamed answer for an invocation that has a reader.
func (p *process) serveStream(w http.ResponseWriter, r *http.Request, inv *invocation) {
	n, err := io.Copy(inv.stream, io.LimitReader(r.Body, MaxStream+1))
	switch {
	case err != nil:
		p.answer(inv, inv.failed("Runtime.TruncatedResponse", "the answer broke off: %v", err))
	case n > MaxStream:
		p.answer(inv, inv.failed("Function.ResponseSizeTooLarge",
			"Response payload size exceeded maximum allowed payload size (%d bytes).", MaxStream))
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
		return
	default:
		p.answer(inv, answered(nil, r.Trailer))
	}
	accept(w)
}
