package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestTheLogCountsTurns: what the template's metrics are made of, a line for each turn with its outcome and usage, and no word of it.
func TestTheLogCountsTurns(t *testing.T) {
	bubble(t, guarded, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		var log bytes.Buffer
		s.Engine.Log = slog.New(slog.NewJSONHandler(&log, nil))
		say(t, ctx, s, "hello")
		_, err := s.Send(ctx, id, "tell me of "+secret, as(contract.Preempt, "dlv_2"))
		must(t, err, s.Rest(ctx, id), s.Check(id))
		var got []map[string]any
		for d := json.NewDecoder(&log); d.More(); {
			var line map[string]any
			must(t, d.Decode(&line))
			if line["msg"] == "turn ended" {
				for _, name := range []string{"time", "level", "msg", "session", "fence"} {
					delete(line, name)
				}
				got = append(got, line)
			}
		}
		ended := func(turn, outcome string, output float64) map[string]any {
			return map[string]any{
				"turn": turn, "outcome": outcome, "inputTokens": 10.0, "outputTokens": output, "cacheReadTokens": 0.0, "cacheWriteTokens": 0.0,
			}
		}
		if diff := cmp.Diff([]map[string]any{ended("turn_1", "completed", 3), ended("turn_2", "blocked", 4)}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
