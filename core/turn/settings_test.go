package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func TestAWarmWorkerReadsNoHistory(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		for range 20 {
			say(t, ctx, s, "hello")
		}
		reads := func(engine *turn.Engine) (queries int) {
			_, err := s.Send(ctx, id, "hello")
			must(t, err)
			before := len(s.World.Calls())
			must(t, engine.Do(ctx, id))
			for _, c := range s.World.Calls()[before:] {
				if c.Name == "dynamo.Query" {
					queries++
				}
			}
			return queries
		}
		cold := *s.Engine
		cold.Remembered = nil
		if warm, cold := reads(s.Engine), reads(&cold); warm >= cold {
			t.Errorf("a warm turn makes %d queries, a cold one %d", warm, cold)
		}
		must(t, s.Drain(ctx), s.Check(id))
	})
}

// TestWhatATurnCosts prints what a plain turn costs and bounds it loosely.
func TestWhatATurnCosts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		text  string
		bound float64
	}{{"a turn of 1 KB", strings.Repeat("word ", 100), 45}, {"a turn with two tools", "use the tools", 65}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				say(t, ctx, s, "hello")
				units, calls := s.Dynamo.Units(), len(s.World.Calls())
				_, err := s.Send(ctx, id, tt.text)
				must(t, err, s.Drain(ctx))
				used := s.Dynamo.Units().Minus(units)
				t.Logf("%.1f write units, %.1f read units, %d calls", used.Write, used.Read, len(s.World.Calls())-calls)
				if used.Write > tt.bound {
					t.Errorf("%.1f write units, the bound is %.0f", used.Write, tt.bound)
				}
			})
		})
	}
}

func TestATasksOwnSettings(t *testing.T) {
	hot := 0.9
	for _, tt := range []struct {
		name  string
		more  func(r *task.Request)
		want  string
		tools []string
		told  string // of the turn's start
	}{
		{"none", func(*task.Request) {}, "Be brief.|m1|100|0.2", []string{"look_up"}, `,"unknownTools":["gone"]`},
		{"all", func(r *task.Request) {
			r.SystemPrompt, r.ModelID, r.MaxTokens, r.Temperature, r.Tools = "Be long.", "m2", 200, &hot, []string{"write_down", "no_such_tool"}
		}, "Be long.|m2|200|0.9", []string{"write_down"}, `,"unknownTools":["no_such_tool"]`},
		{"no tools", func(r *task.Request) { r.Tools = []string{} }, "Be brief.|m1|100|0.2", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				cool := 0.2
				_, err := flow.CreateSession{Edges: s.Edges}.Do(ctx, flow.CreateSessionIn{Config: session.Config{
					SessionID: id, UserID: stage.User.ID, SystemPrompt: "Be brief.", ModelID: "m1", MaxTokens: 100, Temperature: &cool,
					Tools: []string{"look_up", "gone"},
				}})
				r := request("t1", id, "hello")
				tt.more(&r)
				must(t, err, bind(&stage.Play{Stage: s}, r)(ctx), s.Drain(ctx), s.Check(id))
				req := lastRequest(s)
				if got := fmt.Sprintf("%s|%s|%d|%v", req.System, req.ModelID, req.MaxTokens, *req.Temperature); got != tt.want {
					t.Errorf("runs with %s, want %s", got, tt.want)
				}
				var names []string
				for _, spec := range req.Tools {
					names = append(names, spec.Name)
				}
				if diff := cmp.Diff(tt.tools, names); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{`turn.started {"taskId":"t1"` + tt.told + `}`}, told(t, s, id, "turn.started")); diff != "" {
					t.Errorf("the turn's start (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAConfigurationOfSomebodyElseDoesNotCount(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		say(t, ctx, s, "hello")
		_, err := s.Edges.Table.CreateSession(ctx, session.Config{SessionID: id, UserID: "user-2", SystemPrompt: "Tell user-2 everything."})
		must(t, err)
		say(t, ctx, s, "hello")
		if got := lastRequest(s).System; got != "You are a helpful assistant." {
			t.Errorf("the system prompt is %q", got)
		}
		if n := len(s.Dynamo.Items(key.SessionPK(id))); n == 0 {
			t.Error("nothing is stored")
		}
	})
}

func TestAConfigurationLivesAsLongAsItsSession(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		p := &stage.Play{Stage: s}
		must(t, create(p, id)(ctx))
		for range 40 {
			s.Clock.Advance(25 * time.Hour)
			say(t, ctx, s, "hello")
		}
		if got := lastRequest(s).System; got != "Be brief." {
			t.Errorf("after 40 days it runs with %q", got)
		}
		list, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User})
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionID != id {
			t.Errorf("listed: %+v, %v", list, err)
		}
		_, expires, err := s.Edges.Table.Config(ctx, id)
		if st := s.State(id); err != nil || expires < st.ExpiresAt || expires > st.ExpiresAt+24*60*60 {
			t.Errorf("the configuration ends at %d, the session at %d, %v", expires, st.ExpiresAt, err)
		}
	})
}
