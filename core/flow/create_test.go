package flow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func TestCreateSession(t *testing.T) {
	config := session.Config{SessionID: id, UserID: stage.User.ID, Title: "Demo", SystemPrompt: "Be brief."}
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		first, err := create(ctx, s, config, "call-1")
		must(t, err)
		again, err := create(ctx, s, config, "call-1")
		must(t, err)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the same call again (-first +again):\n%s", diff)
		}
		if _, err := create(ctx, s, config, "call-2"); !fault.Is(err, fault.Conflict) {
			t.Errorf("another call: %v", err)
		}
		theirs := config
		theirs.UserID = other.ID
		if _, err := create(ctx, s, theirs, "call-3"); !fault.Is(err, fault.Conflict) {
			t.Errorf("another user's call: %v", err)
		}
		for _, bad := range []session.Config{
			{SessionID: "task-t1", UserID: stage.User.ID},
			{SessionID: "x", UserID: stage.User.ID, MCPServers: map[string]contract.MCPServer{"a": {Command: "sh"}}},
			{SessionID: "x", UserID: stage.User.ID, MCPServers: map[string]contract.MCPServer{"a": {URL: "https://10.0.0.1/mcp"}}},
			{SessionID: "x"},
		} {
			if _, err := create(ctx, s, bad, "call-4"); !fault.Is(err, fault.Invalid) {
				t.Errorf("create %+v: %v", bad, err)
			}
		}
	})
}

func TestCreateAfterAMessageConfiguresTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		_, err := s.Send(ctx, id, "hello")
		must(t, err, s.Drain(ctx))
		config := session.Config{SessionID: id, UserID: stage.User.ID, SystemPrompt: "Be brief."}
		if _, err := create(ctx, s, session.Config{SessionID: id, UserID: other.ID}, "theirs"); !fault.Is(err, fault.Conflict) {
			t.Errorf("another user's create: %v", err)
		}
		first, err := create(ctx, s, config, "call-1")
		must(t, err)
		again, err := create(ctx, s, config, "call-1")
		must(t, err)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("again (-first +again):\n%s", diff)
		}
		if _, err := create(ctx, s, config, "call-2"); !fault.Is(err, fault.Conflict) {
			t.Errorf("another call: %v", err)
		}
		_, err = s.Send(ctx, id, "hello again")
		must(t, err, s.Drain(ctx), s.Check(id))
		if got := s.Model.Requests()[1].System; got != "Be brief." {
			t.Errorf("the next turn runs with %q", got)
		}
	})
}

func TestListSessions(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		var want []string
		for n := range 7 {
			name := fmt.Sprintf("s%d", n)
			_, err := create(ctx, s, session.Config{SessionID: name, UserID: stage.User.ID, Title: "title of " + name}, "call-"+name)
			must(t, err)
			want = append([]string{name}, want...)
			s.Clock.Advance(time.Hour)
			if n == 2 {
				s.Clock.Advance(session.Life - 4*time.Hour) // the first three are about to expire
			}
		}
		want = want[:4]
		for _, page := range []int{0, 1, 2} {
			s.Dynamo.PageItems = page
			for _, limit := range []int{1, 2, 3, 4, 100} {
				var got []string
				cursor, pages := "", 0
				for {
					out, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User, Limit: limit, Cursor: cursor})
					must(t, err)
					for _, l := range out.Sessions {
						got = append(got, l.SessionID)
					}
					if cursor = out.Cursor; cursor == "" {
						break
					}
					if pages++; pages > 20 {
						t.Fatal("no end")
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("pages of %d, limit %d (-want +got):\n%s", page, limit, diff)
				}
			}
		}
		for _, bad := range []flow.ListSessionsIn{{Limit: 101}, {Limit: -1}, {Cursor: "!"}, {Cursor: "QUJD"}} {
			bad.Caller = stage.User
			if _, err := (flow.ListSessions{Edges: s.Edges}).Do(ctx, bad); !fault.Is(err, fault.Invalid) {
				t.Errorf("list %+v: %v", bad, err)
			}
		}
		theirs, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: other})
		if err != nil || len(theirs.Sessions) != 0 {
			t.Errorf("another user sees %+v, %v", theirs, err)
		}
	})
}

func TestParseGrants(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		sub, system string
		want        bool
	}{
		{"empty grants nothing", "", "u", "s", false},
		{"one", "u:s", "u", "s", true},
		{"another system", "u:s", "u", "t", false},
		{"any system", "u:*", "u", "t", true},
		{"another user", "u:*", "v", "t", false},
		{"the last colon splits", "auth0|x:y:s", "auth0|x:y", "s", true},
		{"blanks around", " u:s , v:t ", "v", "t", true},
		{"no colon", "u", "u", "u", false},
		{"no user", ":s", "", "s", false},
		{"no system", "u:", "u", "", false},
		{"a star is no user", "*:s", "u", "s", false},
		{"an empty system is never granted", "u:*", "u", "", false},
		{"one malformed among good ones", "u,v:t", "v", "t", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := flow.ParseGrants(tt.text).Allow(tt.sub, tt.system); got != tt.want {
				t.Errorf("ParseGrants(%q).Allow(%q, %q) = %t, want %t", tt.text, tt.sub, tt.system, got, tt.want)
			}
		})
	}
}

func TestCreateTask(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		f := flow.CreateTask{Edges: s.Edges, Grants: flow.ParseGrants("user-1:reports")}
		if _, err := f.Do(ctx, flow.CreateTaskIn{Caller: "user-2", Request: "x", System: "reports"}); !fault.Is(err, fault.Denied) {
			t.Errorf("without a grant: %v", err)
		}
		if _, err := f.Do(ctx, flow.CreateTaskIn{Caller: "user-1"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("without a request: %v", err)
		}
		r, err := f.Do(ctx, flow.CreateTaskIn{Caller: "user-1", Request: "do it", System: "reports"})
		if err != nil || r.Status != task.Pending {
			t.Fatalf("created: %+v, %v", r, err)
		}
		must(t, s.Drain(ctx), s.Check("task-"+r.TaskID))
		for _, caller := range []string{"user-1", "user-2", "reports", ""} {
			got, err := flow.GetTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: r.TaskID, Caller: caller})
			switch {
			case caller == "user-1" && (err != nil || got.Status != task.Completed || got.Output != "ok"):
				t.Errorf("who launched it reads %+v, %v", got, err)
			case caller != "user-1" && !fault.Is(err, fault.NotFound):
				t.Errorf("%q reads %+v, %v", caller, got, err)
			}
		}
	})
}

func TestCreateTaskWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		took time.Duration
		want task.Status
	}{{"a quick task", 3 * time.Second, task.Completed}, {"a slow one", 5 * time.Minute, task.Running}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
				s.Model.Answer = nil
				s.During = func() { time.Sleep(tt.took) }
				go func() {
					time.Sleep(time.Second)
					if err := s.Drain(ctx); err != nil {
						t.Error(err)
					}
				}()
				began := s.Clock.Now()
				r, err := flow.CreateTask{Edges: s.Edges}.Do(ctx, flow.CreateTaskIn{Caller: "user-1", Request: "do it", Wait: true})
				must(t, err)
				if took := s.Clock.Now().Sub(began); r.Status != tt.want || took > 25*time.Second {
					t.Errorf("after %v: %+v, want %s", took, r, tt.want)
				}
				time.Sleep(10 * time.Minute)
				must(t, s.Check("task-"+r.TaskID))
			})
		})
	}
}

func TestATaskThatIsOwedIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		down := true
		s.Bus.FailEntry = func(fake.Event) string {
			if down {
				return "ServiceUnavailable"
			}
			return ""
		}
		r, err := flow.CreateTask{Edges: s.Edges}.Do(ctx, flow.CreateTaskIn{Caller: "user-1", Request: "do it"})
		must(t, err)
		for range 30 { // an unreachable bus never exhausts anything
			s.Clock.Advance(time.Hour / 2)
			_, _ = s.Sweep(ctx)
		}
		down = false
		for range 3 {
			s.Clock.Advance(time.Hour)
			must(t, s.Recover(ctx))
		}
		must(t, s.Check("task-"+r.TaskID))
		got, err := flow.GetTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: r.TaskID, Caller: "user-1"})
		if err != nil || got.Status != task.Completed {
			t.Errorf("task: %+v, %v", got, err)
		}
	})
}

func TestATaskThatTheBusRejectsIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Bus.FailEntry = func(e fake.Event) string {
			if e.DetailType == contract.RunAgentTask {
				return "MalformedDetail"
			}
			return ""
		}
		r, err := flow.CreateTask{Edges: s.Edges}.Do(ctx, flow.CreateTaskIn{Caller: "user-1", Request: "do it"})
		must(t, err)
		for range 40 {
			s.Clock.Advance(time.Hour / 4)
			_, _ = s.Sweep(ctx)
		}
		s.Bus.FailEntry = nil
		s.Clock.Advance(time.Hour)
		must(t, s.Recover(ctx), s.Check())
		got, err := flow.GetTask{Edges: s.Edges}.Do(ctx, flow.TaskOf{TaskID: r.TaskID, Caller: "user-1"})
		if err != nil || got.Status != task.Failed || got.Error != task.ReasonExhausted {
			t.Errorf("task: %+v, %v", got, err)
		}
		late := request(r.TaskID, "") // the late copy of the same delivery
		late.Request, late.DeliveryID = "do it", func() string { t, _ := s.Edges.Table.TaskOrNone(ctx, r.TaskID); return t.LastDelivery }()
		if got, err := bind(ctx, s, late); err != nil || got.Status != task.Failed || len(s.Model.Requests()) != 0 {
			t.Errorf("a late copy: %+v, %v", got, err)
		}
	})
}
