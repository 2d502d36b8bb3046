package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// view is everything that a caller can learn of an error.
type view struct {
	Code      fault.Code
	Reason    string
	Public    string
	Text      string
	Retryable bool
}

func viewOf(err error) view {
	text := ""
	if err != nil {
		text = err.Error()
	}
	return view{fault.CodeOf(err), fault.ReasonOf(err), fault.Public(err), text, fault.Retryable(err)}
}

const hidden = "something went wrong"

func TestWhatAnErrorTells(t *testing.T) {
	stale := fault.New(fault.Conflict, "the token is stale").Because("stale_token")
	tests := []struct {
		name string
		err  error
		want view
	}{
		{"nil", nil, view{"", "", hidden, "", false}},
		{"without a code", io.EOF, view{fault.Internal, "", hidden, "EOF", false}},
		{"new", fault.New(fault.Invalid, "title: %d bytes", 7), view{fault.Invalid, "", "title: 7 bytes", "title: 7 bytes", false}},
		{"internal is hidden", fault.New(fault.Internal, "row 7 is odd"), view{fault.Internal, "", hidden, "row 7 is odd", false}},
		{"with a reason", stale, view{fault.Conflict, "stale_token", "the token is stale", "the token is stale", false}},
		{"a cause is not shown", fault.Wrap(fault.Unavailable, io.EOF, "read %s", "task t"),
			view{fault.Unavailable, "", "read task t", "read task t: EOF", true}},
		{"the outermost code counts", fault.Wrap(fault.Denied, stale, "send"),
			view{fault.Denied, "stale_token", "send", "send: the token is stale", false}},
		{"the outermost reason counts", fault.Wrap(fault.Denied, stale, "send").(*fault.Error).Because("mine"),
			view{fault.Denied, "mine", "send", "send: the token is stale", false}},
		{"below an error without code", fmt.Errorf("sweep: %w", stale),
			view{fault.Conflict, "stale_token", "the token is stale", "sweep: the token is stale", false}},
		{"in a joined error", errors.Join(io.EOF, stale),
			view{fault.Conflict, "stale_token", "the token is stale", "EOF\nthe token is stale", false}},
		{"a deadline", fmt.Errorf("call: %w", context.DeadlineExceeded),
			view{fault.Unavailable, "", "the service is not available, try again", "call: context deadline exceeded", true}},
		{"a cancelled context", context.Canceled,
			view{fault.Unavailable, "", "the service is not available, try again", "context canceled", true}},
		{"a deadline that got another code", fault.Wrap(fault.Limit, context.DeadlineExceeded, "too slow"),
			view{fault.Limit, "", "too slow", "too slow: context deadline exceeded", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, viewOf(tt.err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlyUnavailableIsRetryable(t *testing.T) {
	for _, code := range []fault.Code{fault.Invalid, fault.NotFound, fault.Conflict, fault.Denied, fault.Limit, fault.Unavailable, fault.Internal} {
		err := error(fault.New(code, "x"))
		if got, want := fault.Retryable(err), code == fault.Unavailable; got != want {
			t.Errorf("Retryable(%s) = %v, want %v", code, got, want)
		}
		for _, other := range []fault.Code{"", fault.Invalid, fault.Unavailable, fault.Internal} {
			if got, want := fault.Is(err, other), code == other; got != want {
				t.Errorf("Is(%s, %q) = %v, want %v", code, other, got, want)
			}
		}
	}
	if fault.Is(nil, "") {
		t.Error("Is(nil) = true, want false")
	}
}

func TestWrapKeepsTheCause(t *testing.T) {
	err := fault.Wrap(fault.Unavailable, io.ErrUnexpectedEOF, "read")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("errors.Is(%v, its cause) = false, want true", err)
	}
	if err := fault.Wrap(fault.Internal, nil, "read"); err != nil {
		t.Errorf("Wrap(nil) = %v, want nil", err)
	}
}

func TestBecauseCopies(t *testing.T) {
	plain := fault.New(fault.Conflict, "busy")
	if with := plain.Because("session_busy"); with.Reason != "session_busy" || plain.Reason != "" {
		t.Errorf("Because: %q, and the original has %q, want it untouched", with.Reason, plain.Reason)
	}
}
