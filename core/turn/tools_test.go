package turn_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// busyOnce is a tool that fails for a moment when it is called first.
func busyOnce(name string) tool.Tool {
	calls := 0
	return tool.New(name, "does "+name, func(_ tool.Context, in stage.Note) (string, error) {
		if calls++; calls == 1 {
			return "", fault.New(fault.Unavailable, "%s is busy", name)
		}
		return name + " did " + in.Text, nil
	})
}

// TestReadsAreRepeatedAndTold: a read that fails for a moment is asked again, which the log tells; another tool is asked once.
func TestReadsAreRepeatedAndTold(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Tools = tool.Registry{tool.ReadOnly(busyOnce("look_up")), busyOnce("write_down")}
		say(t, ctx, s, "use the tools")
		must(t, s.Check(id))
		want := []string{
			`action.tool_retry {"id":"call_10","name":"look_up","attempt":1,"error":"look_up is busy"}`,
			`action.result {"id":"call_10","name":"look_up","status":"success","output":"look_up did a","durationMs":200}`,
			`action.result {"id":"call_11","name":"write_down","status":"error","output":"write_down is busy","durationMs":0}`,
		}
		if diff := cmp.Diff(want, told(t, s, id, "action.tool_retry", "action.result")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestToolsThatAreToBeNamed are offered to a session that names them, and to no other.
func TestToolsThatAreToBeNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		named []string
		want  []string
	}{
		{"none named", nil, []string{"look_up"}},
		{"named", []string{"write_down", "look_up", "no_such_tool"}, []string{"write_down", "look_up"}},
		{"an empty list", []string{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Engine.Tools[1] = tool.ByName(s.Engine.Tools[1])
				_, err := s.Edges.Table.CreateSession(ctx, session.Config{SessionID: id, UserID: stage.User.ID, Tools: tt.named})
				must(t, err)
				say(t, ctx, s, "hello")
				var got []string
				for _, spec := range lastRequest(s).Tools {
					got = append(got, spec.Name)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
			})
		})
	}
}
