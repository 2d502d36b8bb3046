package lambda_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStream(t *testing.T) {
	h := open(t, nil)
	tests := []struct{ name, payload, kind, wrote string }{
		{"whole", `{"do":"stream"}`, "", `"streamed"`},
		{"plain", `{"do":"big","count":7000000}`, "", ""},
		{"broken off", `{"do":"broken"}`, "Unhandled", `"half`},
		{"failed", `{"do":"fail","text":"no such row"}`, "Unhandled", ""},
		{"ended", `{"do":"exit"}`, "Runtime.ExitError", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var to strings.Builder
			r, err := h.Stream(t.Context(), "probe", "test", []byte(tc.payload), &to)
			if err != nil || r.FunctionError != tc.kind {
				t.Fatalf("Stream = %+v, %v, want %q", r, err, tc.kind)
			}
			if tc.name == "plain" {
				if to.Len() != 7_000_002 {
					t.Errorf("%d bytes are passed on: the limit of whole answers is none of streams", to.Len())
				}
			} else if to.String() != tc.wrote {
				t.Errorf("passed on %q, want %q", to.String(), tc.wrote)
			}
		})
	}
	if _, err := h.Stream(t.Context(), "nobody", "test", nil, io.Discard); err == nil {
		t.Error("a function that is not there runs")
	}
}

// TestStreamThatIsLeft: the function goes on, and nothing is written any more. A host that stops does not wait for it.
func TestStreamThatIsLeft(t *testing.T) {
	h := open(t, nil)
	file := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	var to strings.Builder
	go func() {
		_, err := h.Stream(ctx, "probe", "test", []byte(`{"do":"sleep","ms":15000,"text":"`+file+`"}`), &to)
		left <- err
	}()
	eventually(t, "the function to run", func() bool { found, _ := filepath.Glob(file); return len(found) == 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("Stream = %v", err)
	}
	begun := time.Now()
	stop, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if err := h.Stop(stop); err != nil || time.Since(begun) > 5*time.Second {
		t.Errorf("Stop = %v after %v", err, time.Since(begun))
	}
	if to.Len() != 0 {
		t.Errorf("written after the end: %q", to.String())
	}
}
