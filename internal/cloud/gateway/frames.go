package gateway

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
)

// watched is a ResponseWriter whose hijacked connection counts the client's frames: the WebSocket library gives whole
// messages, but API Gateway limits frames as well. tooBig is called, once or more, before a byte that is too much is
// handed on.
type watched struct {
	http.ResponseWriter
	tooBig func()
	opened func(net.Conn) // is given the connection
}

// Hijack gives the connection with everything that the client has sent so far still to be read from it.
func (w watched) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early := make([]byte, rw.Reader.Buffered())
	if _, err := io.ReadFull(rw.Reader, early); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	w.opened(conn)
	f := &frames{Conn: conn, early: early, tooBig: w.tooBig}
	return f, bufio.NewReadWriter(bufio.NewReader(f), rw.Writer), nil
}

// frames follows the frames of RFC 6455 in what is read.
type frames struct {
	net.Conn
	early  []byte // read before the upgrade was done
	tooBig func()

	head    []byte // of the frame that begins
	payload uint64 // bytes of the frame still to come
	message uint64 // bytes of the message so far
}

func (f *frames) Read(p []byte) (n int, err error) {
	if len(f.early) > 0 {
		n = copy(p, f.early)
		f.early = f.early[n:]
	} else {
		n, err = f.Conn.Read(p)
	}
	f.follow(p[:n])
	return n, err
}

// follow takes the next bytes of the stream.
func (f *frames) follow(b []byte) {
	for len(b) > 0 {
		if f.payload > 0 {
			skip := min(f.payload, uint64(len(b)))
			f.payload -= skip
			b = b[skip:]
			continue
		}
		f.head = append(f.head, b[0])
		b = b[1:]
		if size := headSize(f.head); len(f.head) == size {
			f.begin()
			f.head = f.head[:0]
		}
	}
}

// headSize gives how long the head is, as far as it can be told yet: more than len(head) until it is whole.
func headSize(head []byte) int {
	if len(head) < 2 {
		return 2
	}
	size := 2
	switch head[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if head[1]&0x80 != 0 {
		size += 4 // the mask
	}
	return size
}

// begin takes in a whole head.
func (f *frames) begin() {
	switch n := f.head[1] & 0x7f; n {
	case 126:
		f.payload = uint64(binary.BigEndian.Uint16(f.head[2:]))
	case 127:
		f.payload = binary.BigEndian.Uint64(f.head[2:])
	default:
		f.payload = uint64(n)
	}
	if control := f.head[0]&0x08 != 0; control {
		return
	}
	f.message += min(f.payload, MaxMessage+1) // so that it cannot overflow
	if f.payload > MaxFrame || f.message > MaxMessage {
		f.tooBig()
	}
	if last := f.head[0]&0x80 != 0; last {
		f.message = 0
	}
}
