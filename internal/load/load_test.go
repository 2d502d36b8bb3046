package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// start brings a cloud up whose functions are built as far as they are used here, and ends it with the test.
func start(tb testing.TB) *cloud.Cloud {
	tb.Helper()
	said := &tail{}
	c, err := cloud.Start(tb.Context(), cloud.Options{
		Dir: "../..", Addr: "127.0.0.1:0", Model: bedrock.Offline{Attempts: &bedrock.Attempts{}}, Out: said,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			tb.Logf("what the cloud said last:\n%s", said)
		}
	})
	if err := c.Build(tb.Context(), "ws-authorize", "ws-connect", "ws-disconnect", "ws-message", "run-turn", "get-session-events"); err != nil {
		tb.Fatal(err)
	}
	return c
}

// talk has many sessions talk at once: each says two messages, the second while the first is answered, waits for both ends, and says
// the next two. It gives how long each message took to its end.
func talk(ctx context.Context, c *cloud.Cloud, sessions, sends int) ([]time.Duration, error) {
	var mu sync.Mutex
	var took []time.Duration
	all, ctx := errgroup.WithContext(ctx)
	for n := range sessions {
		all.Go(func() error {
			mine, err := converse(ctx, c, fmt.Sprint("user-", n), sends)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			return err
		})
	}
	return took, all.Wait()
}

func converse(ctx context.Context, c *cloud.Cloud, user string, sends int) ([]time.Duration, error) {
	p, err := dial(ctx, c, user)
	if err != nil {
		return nil, err
	}
	defer p.close()
	id := uuid.NewString()
	var sent []string
	var took []time.Duration
	for len(sent) < sends {
		began, missing := time.Now(), map[string]bool{}
		for _, admission := range []contract.Admission{contract.Preempt, contract.Coalesce} {
			delivery := fmt.Sprintf("%s-%d", user, len(sent))
			if err := p.say(ctx, id, delivery, fmt.Sprintf("say 20 words, message %d", len(sent)), admission); err != nil {
				return took, err
			}
			sent, missing[delivery] = append(sent, delivery), true
		}
		if err := p.wait(ctx, missing); err != nil {
			return took, fmt.Errorf("session of %s: %w", user, err)
		}
		took = append(took, time.Since(began), time.Since(began))
	}
	events, err := p.events(ctx, id)
	if err != nil {
		return took, err
	}
	return took, account(events, sent)
}

// account checks a log: no gap, every message told once, every turn that began is complete, nobody works any more.
func account(events []contract.SessionEvent, sent []string) error {
	told, open := map[string]int{}, map[string]bool{}
	for i, e := range events {
		if e.Index != int64(i) {
			return fmt.Errorf("event %d has the index %d", i, e.Index)
		}
		var data struct {
			DeliveryIDs []string
			DeliveryID  string
			Error       string
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return err
		}
		switch e.Type {
		case "turn.started":
			open[e.TurnID] = true
		case "turn.completed":
			delete(open, e.TurnID)
		case "turn.failed":
			return fmt.Errorf("%s failed: %s", e.TurnID, data.Error)
		}
		for _, id := range append(data.DeliveryIDs, data.DeliveryID) {
			told[id]++
		}
	}
	delete(told, "")
	for _, id := range sent {
		if told[id] != 1 {
			return fmt.Errorf("message %s is told of %d times", id, told[id])
		}
	}
	if len(told) != len(sent) || len(open) > 0 || events[len(events)-1].Type != "session.waiting" {
		return fmt.Errorf("%d messages sent, %d told of, %d turns open, the log ends with %s", len(sent), len(told), len(open), events[len(events)-1].Type)
	}
	return nil
}

// listen opens many sockets, lets them rest, and asks each whether it is there.
func listen(ctx context.Context, c *cloud.Cloud, sockets int, rest time.Duration) (opened time.Duration, err error) {
	clients := make([]*client, sockets)
	defer func() {
		for _, p := range clients {
			if p != nil {
				p.close()
			}
		}
	}()
	began := time.Now()
	opening, dialing := errgroup.WithContext(ctx)
	opening.SetLimit(32) // as they come, not in one moment
	for n := range clients {
		opening.Go(func() (err error) {
			clients[n], err = dial(ctx, c, fmt.Sprint("listener-", n))
			return errors.Join(err, context.Cause(dialing))
		})
	}
	if err := opening.Wait(); err != nil {
		return 0, err
	}
	opened = time.Since(began)
	select {
	case <-time.After(rest):
	case <-ctx.Done():
		return opened, ctx.Err()
	}
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(32)
	for n, p := range clients {
		asking.Go(func() error {
			if err := p.alive(ctx); err != nil {
				return fmt.Errorf("socket %d: %w", n, err)
			}
			return nil
		})
	}
	return opened, asking.Wait()
}

func TestManyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs functions")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := start(t)
	took, err := talk(ctx, c, 10, 6)
	if err != nil || len(took) != 60 {
		t.Errorf("%d of 60 messages came to their end: %v", len(took), err)
	}
	if _, err := listen(ctx, c, 50, 0); err != nil {
		t.Error(err)
	}
}

// BenchmarkLoad is 200 sessions with 20 messages each at the same time, then 2,000 sockets that rest for half a minute: messages in a
// second, how long one took to its end, sockets opened in a second.
func BenchmarkLoad(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	c := start(b)
	b.Run("sessions=200/sends=20", func(b *testing.B) {
		for range b.N {
			began := time.Now()
			took, err := talk(ctx, c, 200, 20)
			if err != nil || len(took) != 4000 {
				b.Fatalf("%d of 4000 messages came to their end: %v", len(took), err)
			}
			slices.Sort(took)
			b.ReportMetric(4000/time.Since(began).Seconds(), "sends/s")
			b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms/median")
			b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "ms/p99")
		}
	})
	b.Run("sockets=2000", func(b *testing.B) {
		for range b.N {
			opened, err := listen(ctx, c, 2000, 30*time.Second)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(2000/opened.Seconds(), "sockets/s")
		}
	})
}

// tail keeps the last of what was written.
type tail struct {
	mu   sync.Mutex
	text string
}

// Write keeps p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text += string(p)
	t.text = t.text[max(0, len(t.text)-16*1024):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text)
}
