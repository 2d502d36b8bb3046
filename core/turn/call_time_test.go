package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestACallHasTheInvocationButItsReserve: a tool has 26 of 29 seconds; one that takes longer is a result that says so.
func TestACallHasTheInvocationButItsReserve(t *testing.T) {
	for _, tt := range []struct {
		name   string
		takes  time.Duration
		status string
		says   string
	}{
		{"as long as it may", 25 * time.Second, "success", "write_down did a"},
		{"longer", 28 * time.Second, "error", "did not finish within"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ctx context.Context) {
				p := resting(t, ctx)
				p.Acting = func(tc tool.Context) {
					select {
					case <-tc.Done():
					case <-time.After(tt.takes):
					}
				}
				short, cancel := context.WithTimeout(ctx, 29*time.Second)
				defer cancel()
				done, err := p.Engine.Call(short, turn.CallIn{SessionID: id, Caller: stage.User, Name: "write_down", Input: json.RawMessage(`{"text":"a"}`)})
				if noError(t, err, p.Check(id)); done.Status != tt.status || !strings.Contains(string(done.Output), tt.says) {
					t.Errorf("Call = %+v", done)
				}
			})
		})
	}
}
