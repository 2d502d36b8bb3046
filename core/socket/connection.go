package socket

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// connection is one subscriber of one turn. Its fields are guarded by the turn's mutex.
type connection struct {
	Subscriber
	queue   []frame
	bytes   int  // of queue
	writing bool // a writer drains queue
	shown   bool // text of the running attempt was queued
	ended   bool // nothing more is queued
}

// ending is the last message to a connection that cannot follow the rest of a turn.
type ending struct{ word, sentence string }

var (
	brokeOff   = ending{"answer_restarted", "The answer broke off and is being written again. Read the session for the whole of it."}
	fellBehind = ending{"fell_behind", "This connection is too slow for the answer. Read the session for the whole of it."}
	lostFrame  = ending{"delivery_failed", "A part of the answer could not be delivered. Read the session for the whole of it."}
)

func everyone(*connection) bool { return true }

// find gives the connection with an id, nil if it does not follow the turn.
func (t *Turn) find(id string) *connection {
	for _, c := range t.connections {
		if c.ConnectionID == id {
			return c
		}
	}
	return nil
}

// restate tells c the turn from its beginning, before anything that comes. t.mu is held.
func (t *Turn) restate(c *connection) {
	if t.over || !t.started {
		return
	}
	for _, m := range t.told.Messages(retell.WantsOf(c.Features)) {
		for _, piece := range split(m) {
			if f, ok := t.frame(piece, nil); ok {
				t.queue(c, f)
			}
		}
	}
	c.shown = c.shown || t.offset > t.kept
}

// emit numbers m, encodes it and queues it for the connections that want it. t.mu is held.
func (t *Turn) emit(m contract.ServerMessage, wants func(*connection) bool) {
	seq := t.seq
	f, ok := t.frame(m, &seq)
	if !ok {
		return
	}
	t.seq++
	for _, c := range t.connections {
		if wants(c) {
			t.push(c, f)
		}
	}
}

// frame encodes m. seq nil: it tells something again.
func (t *Turn) frame(m contract.ServerMessage, seq *int64) (frame, bool) {
	m.TurnID, m.Fence, m.Seq = t.turnID, t.fence, seq
	body, err := encode(m)
	if err != nil {
		t.caster.log().Error("frame left out", "session", t.sessionID, "turn", t.turnID, "type", m.Type, "error", err)
		return frame{}, false
	}
	if seq == nil {
		return frame{t.seq, body}, true
	}
	return frame{*seq, body}, true
}

func (t *Turn) push(c *connection, f frame) {
	if c.ended || t.over {
		return
	}
	if c.bytes+len(f.body) > MaxQueuedBytes || len(c.queue) >= MaxQueuedFrames {
		t.caster.log().Warn("connection fell behind", "connection", c.ConnectionID, "session", t.sessionID, "turn", t.turnID)
		first := append(c.queue, f)[0].seq
		c.queue, c.bytes = nil, 0
		t.end(c, first, fellBehind)
		return
	}
	t.queue(c, f)
}

// end queues the last frame of c. What is queued before it is still delivered.
func (t *Turn) end(c *connection, seq int64, why ending) {
	if c.ended {
		return
	}
	c.ended = true
	if f, ok := t.frame(contract.ServerMessage{Type: contract.TypeError, Error: why.word, Message: why.sentence}, &seq); ok {
		t.queue(c, f)
	}
}

func (t *Turn) queue(c *connection, f frame) {
	c.queue = append(c.queue, f)
	c.bytes += len(f.body)
	if !c.writing {
		c.writing = true
		t.writers.Go(func() { t.drain(c) })
	}
}

// drain posts what is queued for c until nothing is.
func (t *Turn) drain(c *connection) {
	for {
		f, ok := t.take(c)
		if !ok {
			return
		}
		if err := t.deliver(c, f); err != nil {
			t.failed(c, f, err)
		}
	}
}

func (t *Turn) take(c *connection) (frame, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(c.queue) == 0 {
		c.writing = false
		return frame{}, false
	}
	f := c.queue[0]
	c.queue = c.queue[1:]
	c.bytes -= len(f.body)
	return f, true
}

// deliver posts f. A young connection may not be reachable yet, so that one is tried a few times.
func (t *Turn) deliver(c *connection, f frame) error {
	for try := 1; ; try++ {
		err := t.caster.post(t.background, c.ConnectionID, f.body)
		if !gone(err) || !t.young(c) || try == youngTries {
			return err
		}
		select {
		case <-time.After(youngPause):
		case <-t.background.Done():
			return err
		}
	}
}

func (t *Turn) young(c *connection) bool {
	return t.caster.now().Sub(c.ConnectedAt) < YoungTime
}

// failed takes c out of the turn after f could not be posted: the frames behind it would leave a hole. Unless c is gone it is
// told so, once.
func (t *Turn) failed(c *connection, f frame, err error) {
	t.caster.log().Warn("post failed", "connection", c.ConnectionID, "session", t.sessionID, "turn", t.turnID,
		"fence", t.fence, "seq", f.seq, "gone", gone(err), "error", err)
	t.mu.Lock()
	c.queue, c.bytes = nil, 0
	if gone(err) || t.background.Err() != nil {
		c.ended = true
	} else {
		t.end(c, f.seq, lostFrame)
	}
	t.mu.Unlock()
	if gone(err) && !t.young(c) && t.caster.Gone != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.background), CloseTime)
		defer cancel()
		t.caster.Gone(ctx, c.ConnectionID)
	}
}
