package e2e_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// verbose answers everything with one long text.
type verbose struct{ text string }

func (v verbose) Respond(context.Context, bedrock.Request) iter.Seq2[bedrock.Part, error] {
	return func(yield func(bedrock.Part, error) bool) {
		for rest := v.text; rest != ""; {
			n := min(len(rest), 20_000)
			if !yield(bedrock.Text(rest[:n]), nil) {
				return
			}
			rest = rest[n:]
		}
	}
}

// TestP22LargeOutput: an answer over the size of a row and of an event comes whole to who waits, who asks and who follows, and
// by reference over the bus.
func TestP22LargeOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer, ", 30_000) // 450 KB
	s := start(t, cloud.Options{Model: verbose{long}})
	done := s.as("ada", "POST", "/agent/tasks", `{"request":"talk","wait":true}`).is(t, 200)
	if done["status"] != "COMPLETED" || done["output"] != long {
		t.Fatalf("answer to who waited: %v with %d bytes", done["status"], len(done["output"].(string)))
	}
	id := done["taskId"].(string)
	if got := s.finished("ada", id)["output"]; got != long {
		t.Errorf("answer to who asked: %d bytes", len(got.(string)))
	}
	eventually(t, "its completion", func() bool { return len(s.completions(id)) == 1 })
	row, err := s.table.Task(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s.overdue(t, key.Task(id), map[string]any{"completionOwed": row.Fence}) // as if its worker had died before it told
	s.sweep(t)
	told := s.completions(id)
	if len(told) != 2 {
		t.Fatalf("%d completions after the sweep, want another", len(told))
	}
	for _, one := range told {
		ref, _ := one["outputRef"].(string)
		if text, err := s.table.Detail(t.Context(), ref); err != nil || !strings.Contains(text, long) || one["output"] != nil || one["status"] != "COMPLETED" {
			t.Errorf("completion with the reference %q: %d bytes, %v", ref, len(text), err)
		}
	}
	p, session := s.connect("ada", ""), uuid.NewString()
	for range 2 {
		h := p.ask(session, "talk")
		if h.text != long {
			t.Errorf("who follows heard %d bytes", len(h.text))
		}
		for _, m := range h.messages {
			if len(m) > 32*1024 {
				t.Errorf("a message of %d bytes", len(m))
			}
		}
	}
	s.rest(t)
}
