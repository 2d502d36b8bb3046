package upload_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/upload"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestWhereverItBreaks: a worker that dies at any call, or does not hear its answer, leaves a list that is the old or the new one,
// whose every skill can be read; and doing it again ends as if nothing had happened.
func TestWhereverItBreaks(t *testing.T) {
	large := upload.File{Path: "large.txt", Text: strings.Repeat("\u00e9\u0100x\U0001f600", 40_000)}
	run := func(ctx context.Context, b bench) error {
		_, err := upload.Push{Edges: b.edges}.Do(ctx, upload.PushIn{Caller: ada, Name: "refund", Files: files("refund", "Pay.", large)})
		if err != nil {
			return err
		}
		_, _, err = (&upload.Sessions{Edges: b.edges}).Of(ctx, "s", ada)
		if err != nil {
			return err
		}
		_, err = upload.Remove{Edges: b.edges}.Do(ctx, upload.RemoveIn{Caller: ada, Name: "old"})
		if fault.Is(err, fault.NotFound) {
			return nil // the time before did it
		}
		return err
	}
	prepare := func(t *testing.T) bench {
		b := open(t)
		b.push(ada, "refund", "Ask.")
		b.push(ada, "old", "Old.")
		return b
	}
	b := prepare(t)
	before := len(b.world.Calls())
	must(t, run(t.Context(), b))
	calls := len(b.world.Calls()) - before
	if calls < 6 {
		t.Fatalf("%d calls only", calls)
	}
	for n := range calls {
		for _, how := range []fake.Mode{fake.KillBefore, fake.KillAfter, fake.LoseAnswer} {
			b := prepare(t)
			b.world.Disturb(fake.Disturbance{At: before + 1 + n, Mode: how})
			err := run(fake.WithWorker(t.Context(), "first"), b)
			if b.world.Disturbed() != 1 || err == nil && how == fake.KillBefore {
				t.Errorf("%v at call %d: %v, %d disturbed", how, n, err, b.world.Disturbed())
			}
			_, found := b.of("probe", ada)
			if len(found) > 0 {
				t.Errorf("%v at call %d: %v", how, n, found)
			}
			must(t, run(t.Context(), b))
			same(t, fmt.Sprintf("%v at call %d: the list", how, n), "refund", b.names(ada))
			all, found := b.of("s", ada)
			if len(all) != 2 || all[1] != "refund: Pay." || len(found) != 0 {
				t.Errorf("%v at call %d: the session has %v, %v", how, n, all, found)
			}
		}
	}
}

// TestTwoSendAtOnce: neither loses the other's.
func TestTwoSendAtOnce(t *testing.T) {
	b := open(t)
	done := make(chan error, 8)
	for i := range 8 {
		go func() {
			name := fmt.Sprintf("s%d", i)
			var err error
			for range 20 {
				_, err = upload.Push{Edges: b.edges}.Do(context.Background(), upload.PushIn{Caller: ada, Name: name, Files: files(name, "x")})
				if !fault.Is(err, fault.Conflict) {
					break
				}
			}
			done <- err
		}()
	}
	for range 8 {
		must(t, <-done)
	}
	same(t, "the list", "s0 s1 s2 s3 s4 s5 s6 s7", b.names(ada))
}
