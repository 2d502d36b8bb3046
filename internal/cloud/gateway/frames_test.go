package gateway

import (
	"encoding/binary"
	"net"
	"slices"
	"testing"
)

// frame makes the bytes of a client's frame.
func frame(opcode byte, last bool, size int) []byte {
	b := []byte{opcode}
	if last {
		b[0] |= 0x80
	}
	switch {
	case size < 126:
		b = append(b, 0x80|byte(size))
	case size < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(size))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(size))
	}
	// The mask and the payload may look like heads: they must not be taken for any.
	return append(b, slices.Repeat([]byte{0xff}, 4+size)...)
}

// feed is a connection that gives its bytes in pieces of at most step.
type feed struct {
	net.Conn
	bytes []byte
	step  int
}

func (f *feed) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), f.step)], f.bytes)
	f.bytes = f.bytes[n:]
	return n, nil
}

func TestFramesInAnyPieces(t *testing.T) {
	const text, more, ping, closes = 1, 0, 9, 8
	tests := []struct {
		name   string
		stream [][]byte
		want   int // how often too much was reported
	}{
		{"small ones", [][]byte{frame(text, true, 0), frame(text, true, 125), frame(text, true, 126), frame(text, true, 300)}, 0},
		{"the largest", [][]byte{frame(text, true, MaxFrame), frame(text, true, MaxFrame)}, 0},
		{"one byte more", [][]byte{frame(text, true, MaxFrame+1), frame(text, true, 1)}, 1},
		{"more than 64 KB", [][]byte{frame(text, true, 1<<16)}, 1},
		{"the largest message", [][]byte{
			frame(text, false, MaxFrame), frame(more, false, MaxFrame), frame(ping, true, 5), frame(more, false, MaxFrame), frame(more, true, MaxFrame),
		}, 0},
		{"a message of one byte more", [][]byte{
			frame(text, false, MaxFrame), frame(more, false, MaxFrame), frame(more, false, MaxFrame), frame(more, false, MaxFrame), frame(more, true, 1),
		}, 1},
		{"control frames do not count", [][]byte{frame(text, false, 1), frame(ping, true, 125), frame(closes, true, 2)}, 0},
	}
	for _, tt := range tests {
		for _, step := range []int{1, 2, 3, 7, 4096, 1 << 20} {
			got := 0
			f := &frames{Conn: &feed{bytes: slices.Concat(tt.stream...), step: step}, tooBig: func() { got++ }}
			buf := make([]byte, 1<<20)
			for n := 1; n > 0; {
				n, _ = f.Read(buf)
			}
			if got != tt.want {
				t.Errorf("%s in pieces of %d: too much %d times, want %d", tt.name, step, got, tt.want)
			}
		}
	}
}
