package agency_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestGuide: the code that docs/persistent-agents.md shows is what is tested here.
func TestGuide(t *testing.T) {
	guide := string(readFile(t, "../docs/persistent-agents.md"))
	shown := strings.Split(guide, "```go\n")[1:]
	if len(shown) != 2 {
		t.Fatalf("the guide has %d pieces of Go, want a definition and a test", len(shown))
	}
	for i, file := range []string{"guide_support_test.go", "guide_test.go"} {
		code, _, _ := strings.Cut(shown[i], "```")
		if n := strings.Count(code, "\n"); n > 70 {
			t.Errorf("piece %d has %d lines", i+1, n)
		}
		if !strings.Contains(string(readFile(t, file)), code) {
			t.Errorf("%s does not hold what the guide shows:\n%s", file, code)
		}
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestSupport(t *testing.T) {
	now := time.Date(2026, 1, 5, 15, 0, 0, 0, time.UTC)
	var sent []agency.AgentTask
	desk := &Desk{Open: map[string]Ticket{"t-1": {"t-1", "zoe", "refunds"}}}
	a, err := desk.Define(agency.Definition[Person, Ticket, Look]{
		Store: &agency.MemoryStore{}, Now: func() time.Time { return now },
		Dispatch: agency.DispatchFunc(func(_ context.Context, t agency.AgentTask) error { sent = append(sent, t); return nil }),
		Complete: func(context.Context, agency.Completion) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	event := contract.RawEvent{ID: "e-1", Source: "app.desk", DetailType: "Ticket Opened", Detail: []byte(`{"ID":"t-1","From":"zoe","Question":"refunds"}`)}
	if made, err := a.Route(t.Context(), event); err != nil || made[0].Delay != 73837*time.Millisecond {
		t.Fatalf("Route = %+v, %v: the same event is always answered after the same time", made, err)
	}
	var said []string
	for ; len(sent) > 0; sent = sent[1:] {
		now = sent[0].RunAt
		got, err := a.Deliver(t.Context(), sent[0].TaskRequest(), "")
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, got.Output)
	}
	if got := strings.Join(said, " "); got != `Sam: I'll look into "refunds". answered zoe` || len(desk.Open) != 0 {
		t.Errorf("it said %q, and %d tickets are open", got, len(desk.Open))
	}
}
