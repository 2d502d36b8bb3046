package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestASweepThatHasNoTimeForAll ends before its invocation does, and others are first in the next: nobody waits for ever.
func TestASweepThatHasNoTimeForAll(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		const sessions = 32
		name := func(n int) string { return fmt.Sprint("session-", n) }
		for n := range sessions {
			_, err := s.Send(ctx, name(n), "hello") // whose trigger nobody delivers
			must(t, err)
		}
		s.Watch.Before = func(call string) {
			if call == "UpdateItem" { // each of them is armed again
				time.Sleep(2 * time.Second)
			}
		}
		for range 16 {
			s.Clock.Advance(time.Minute)
			short, cancel := context.WithTimeout(ctx, 20*time.Second)
			_, err := s.Sweep(short)
			must(t, err, short.Err())
			cancel()
		}
		triggers := map[string]int{}
		for _, e := range s.Bus.Of(contract.RunAgentTurn) {
			var d contract.RunTurn
			must(t, json.Unmarshal(e.Detail, &d))
			triggers[d.SessionID]++
		}
		for n := range sessions {
			if triggers[name(n)] < 2 {
				t.Errorf("%s was not triggered again", name(n))
			}
		}
	})
}
