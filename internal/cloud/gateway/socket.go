package gateway

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const (
	waiting      = 128              // messages that may wait for a slow client, before posting is refused
	writeTimeout = 30 * time.Second // for one message, then the client counts as gone
	closeTimeout = time.Second      // for the client's goodbye
	atOnce       = 100              // messages of one client that functions work on at the same time
)

// closing says how a connection ends or ended.
type closing struct {
	code   int
	reason string
}

// outgoing is a message for the client, or the end of the connection once all before it is sent.
type outgoing struct {
	data []byte
	end  *closing
}

// socket is one connection. One goroutine reads from it and one writes to it; whoever has something for the client
// puts it in the queue and does not wait.
type socket struct {
	peer
	g          *Gateway
	conn       *websocket.Conn
	wire       net.Conn // below conn
	queue      chan outgoing
	slots      chan struct{} // one for each message that a function works on
	lastActive atomic.Int64  // ms
	idle       *time.Timer

	once   sync.Once
	ended  chan struct{} // closed as soon as the end is decided
	closed chan struct{} // closed when the closing handshake is over
	how    closing       // to be read after ended
	open   chan struct{} // closed when conn and idle are set, or will never be
}

func newSocket(g *Gateway, p peer) *socket {
	s := &socket{
		peer: p, g: g, queue: make(chan outgoing, waiting), slots: make(chan struct{}, atOnce),
		open: make(chan struct{}), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	s.lastActive.Store(p.connectedAt.UnixMilli())
	return s
}

// run serves the connection until it ends, and says how it did.
func (s *socket) run(conn *websocket.Conn) closing {
	// frames.go has the real limits and lets the client hear of them; this one only bounds memory.
	conn.SetReadLimit(2 * MaxMessage)
	s.conn = conn
	s.idle = time.AfterFunc(orDefault(s.g.IdleAfter, DefaultIdleAfter), func() { s.end(closing{1001, "Going away"}) })
	life := time.AfterFunc(orDefault(s.g.MaxLife, DefaultMaxLife), func() { s.end(closing{1001, "Going away"}) })
	close(s.open)
	go s.write()
	s.end(s.read())
	<-s.closed
	s.idle.Stop()
	life.Stop()
	s.g.remove(s)
	return s.how
}

// opened is given the connection below the WebSocket.
func (s *socket) opened(wire net.Conn) { s.wire = wire }

// fail ends a connection whose handshake could not be answered.
func (s *socket) fail() closing {
	close(s.open)
	s.end(closing{1006, "Connection Closed Abnormally"})
	return s.how
}

// end decides how the connection ends, the first time, and says so to the client. It does not wait.
func (s *socket) end(how closing) {
	s.once.Do(func() {
		s.how = how
		close(s.ended)
		go func() {
			<-s.open
			switch {
			case s.conn == nil: // the handshake failed
			case how.code == 1005 || how.code == 1006: // cannot be sent: the client is gone
				_ = s.conn.CloseNow()
			default:
				_ = s.wire.SetReadDeadline(time.Now().Add(closeTimeout))
				_ = s.conn.Close(websocket.StatusCode(how.code), how.reason)
			}
			close(s.closed)
		}()
	})
}

// tooBig ends the connection because of a frame or a message over the limit.
func (s *socket) tooBig() { s.end(closing{1009, "Message too long"}) }

// touch puts off the idle time-out.
func (s *socket) touch() {
	<-s.open
	s.lastActive.Store(s.g.now().UnixMilli())
	s.idle.Reset(orDefault(s.g.IdleAfter, DefaultIdleAfter))
}

// read hands on messages until there are no more, and says why.
func (s *socket) read() closing {
	for {
		kind, data, err := s.conn.Read(context.Background())
		switch {
		case err != nil:
			return causeOf(err)
		case s.isEnded():
			continue // what comes after the end is only read away
		case kind == websocket.MessageBinary:
			s.end(closing{1003, "Binary messages are not supported"})
			continue
		}
		s.touch()
		s.dispatch(string(data))
	}
}

func (s *socket) isEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// causeOf turns the end of reading into what $disconnect is told.
func causeOf(err error) closing {
	var c websocket.CloseError
	switch {
	case !errors.As(err, &c):
		return closing{1006, "Connection Closed Abnormally"}
	case c.Code == websocket.StatusNoStatusRcvd:
		return closing{1005, "Client-side close frame status not set"}
	}
	return closing{int(c.Code), c.Reason}
}

// write sends what is in the queue, in order.
func (s *socket) write() {
	for {
		select {
		case <-s.ended:
			return
		case m := <-s.queue:
			if m.end != nil {
				s.end(*m.end)
				return
			}
			if err := s.send(m.data); err != nil {
				s.end(closing{1006, "Connection Closed Abnormally"})
				return
			}
		}
	}
}

func (s *socket) send(data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	kind := websocket.MessageText
	if !utf8.Valid(data) {
		kind = websocket.MessageBinary
	}
	s.touch()
	return s.conn.Write(ctx, kind, data)
}

// post queues m. It reports false if the client takes no more for now.
func (s *socket) post(m outgoing) bool {
	select {
	case s.queue <- m:
		return true
	default:
		return false
	}
}
