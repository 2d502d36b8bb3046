package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/turn"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

func TestP22LongAndLargeConversations(t *testing.T) {
	turns, large := 300, strings.Repeat("€uro ", 600*1024/7)
	n := 0
	answer := func(req model.Request) fake.Turn {
		if len(req.Messages[len(req.Messages)-1].Results()) > 0 {
			return fake.Say("done")
		}
		n++
		return fake.Calls("", call(n, "fetch", fmt.Sprint(n)))
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Watch.Off = true
		fetch := tool.New("fetch", "Fetches.", func(_ tool.Context, in stage.Note) (string, error) {
			if in.Text == "290" {
				return large, nil
			}
			return "result " + in.Text, nil
		})
		s.Engine.Tools = tool.Registry{tool.Limit(fetch, 1<<20)}
		for i := range turns {
			_, err := s.Send(ctx, id, fmt.Sprintf("message %d", i+1))
			must(t, err, s.Drain(ctx))
		}
		must(t, s.Check(id))
		h, err := s.Edges.Table.History(ctx, id, s.State(id).Tip)
		must(t, err)
		warm := lastRequest(s).Messages
		if got, want := len(h.Messages), 4*turns; got != want {
			t.Fatalf("%d messages after a reload, want %d", got, want)
		}
		if diff := cmp.Diff(jsonOf(t, warm), jsonOf(t, h.Messages[:len(warm)])); diff != "" {
			t.Errorf("the reload differs from what the last call of the model had")
		}
		if got := h.Messages[4*289+2].Results()[0].Content[0].Text; got != large {
			t.Errorf("the large result has %d bytes, want %d", len(got), len(large))
		}
		for i := range turns {
			if got := h.Messages[4*i].PlainText(); got != fmt.Sprintf("message %d", i+1) {
				t.Fatalf("message %d is %q", i, got)
			}
		}
	})
}

func TestP23WhatHasExpiredIsNotThere(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Dynamo.PageItems = 1
		_, err := s.Send(ctx, id, "hello", as(contract.Preempt, "dlv_1"))
		must(t, err, s.Drain(ctx), bind(&stage.Play{Stage: s}, request("t1", "", "hello"))(ctx), s.Drain(ctx), s.Check(id, "task-t1"))
		s.Clock.Advance(session.Life + time.Hour)
		if _, err := (flow.GetTask{Edges: s.Edges}).Do(ctx, flow.TaskOf{TaskID: "t1", Caller: stage.User.ID}); err == nil {
			t.Error("an expired task is shown")
		}
		if _, err := (flow.GetSession{Edges: s.Edges}).Do(ctx, flow.SessionOf{SessionID: id, Caller: stage.User}); err == nil {
			t.Error("an expired session is shown")
		}
		list, err := flow.ListSessions{Edges: s.Edges}.Do(ctx, flow.ListSessionsIn{Caller: stage.User})
		if err != nil || len(list.Sessions) != 0 {
			t.Errorf("listed: %+v, %v", list, err)
		}
		_, err = s.Send(ctx, id, "good morning", as(contract.Preempt, "dlv_1"))
		must(t, err, s.Drain(ctx), s.Check(id))
		want := []string{`user [{"text":"good morning"}]`}
		if diff := cmp.Diff(want, sent(lastRequest(s))); diff != "" {
			t.Errorf("a session that begins anew knows of the old one (-want +got):\n%s", diff)
		}
		if got := told(t, s, id, "turn.completed"); len(got) != 1 {
			t.Errorf("its log: %v", got)
		}
	})
}

func TestP24WhatIsStoredComesBackEqual(t *testing.T) {
	input := `{"empty":[],"none":{},"text":"","null":null,"big":9007199254740993,"small":0.1,"state":"x","ttl":1,"deep":[[],{"a":[]}]}`
	answer := func(req model.Request) fake.Turn {
		if len(req.Messages) == 1 {
			return fake.Calls("", model.ToolUse{ID: "call_1", Name: "echo", Input: json.RawMessage(input)})
		}
		return fake.Say("done")
	}
	bubble(t, answer, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Tools = tool.Registry{tool.New("echo", "Echoes.", func(_ tool.Context, in map[string]json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(input), nil
		})}
		say(t, ctx, s, "go")
		s.Engine.Remembered = &turn.Memory{}
		say(t, ctx, s, "again")
		messages := lastRequest(s).Messages
		if got := string(messages[1].Calls()[0].Input); got != input {
			t.Errorf("the input comes back as %s", got)
		}
		if got := messages[2].Results()[0].Content[0]; string(got.JSON) != input {
			t.Errorf("the output comes back as %+v", got)
		}
		want := `{"id":"call_1","name":"echo","status":"success","output":` + input + `,"durationMs":0}`
		if diff := cmp.Diff([]string{"action.result " + want}, told(t, s, id, "action.result")); diff != "" {
			t.Errorf("the event (-want +got):\n%s", diff)
		}
	})
}

// packageRows puts the rows of a session that the TypeScript package wrote into the table.
func packageRows(t *testing.T, s *stage.Stage) {
	t.Helper()
	data, err := os.ReadFile("../store/testdata/package_rows.json")
	var rows []json.RawMessage
	must(t, err, json.Unmarshal(data, &rows))
	name := "table"
	for _, raw := range rows {
		row, err := attributevalue.UnmarshalMapJSON(raw)
		must(t, err)
		if parsed, _ := stage.Parse(row); parsed.Kind == "task" {
			continue
		}
		_, err = s.Dynamo.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: row})
		must(t, err)
	}
}

func TestAConversationOfThePackageGoesOn(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		packageRows(t, s)
		say(t, ctx, s, "and now?")
		req := lastRequest(s)
		texts := sent(req)
		if len(texts) != 9 || texts[0] != `user [{"text":"Hello"}]` || texts[8] != `user [{"text":"and now?"}]` {
			t.Errorf("the model gets %q", texts)
		}
		if req.System != "You are terse." || req.ModelID != "fake.t3.d0" || req.MaxTokens != 512 || req.Temperature == nil || *req.Temperature != 0.25 {
			t.Errorf("the configuration is not the package's: %q %q %d %v", req.System, req.ModelID, req.MaxTokens, req.Temperature)
		}
		say(t, ctx, s, "and then?")
		if n := len(lastRequest(s).Messages); n != 11 {
			t.Errorf("%d messages in the next turn, want 11", n)
		}
		if _, err := s.Send(ctx, id, "mine", func(in *flow.AdmitIn) { in.Caller = task.User("user-2") }); err == nil {
			t.Error("another user may use it")
		}
	})
}

// TestBothMayGoOn: with Strands the TypeScript package reads what we wrote, and we what it wrote since.
func TestBothMayGoOn(t *testing.T) {
	bubble(t, helpful, func(t *testing.T, ctx context.Context, s *stage.Stage) {
		s.Engine.Strands = true
		packageRows(t, s)
		say(t, ctx, s, "and now?")
		h, tip, err := s.Edges.Table.PackageSnapshot(ctx, id)
		must(t, err)
		if len(h.Messages) != 10 || tip != s.State(id).Tip || h.Messages[9].PlainText() != "you said and now?" {
			t.Fatalf("the package would read %d messages at %q: %v", len(h.Messages), tip, h.Messages[len(h.Messages)-1])
		}
		h.Messages = append(h.Messages, model.Text(model.User, "said to the package"), model.Text(model.Assistant, "by the package"))
		must(t, s.Edges.Table.Commit(ctx, store.PutPackageSnapshot(id, "", h, s.Clock.Now())))
		say(t, ctx, s, "who was that?")
		texts := sent(lastRequest(s))
		if len(texts) != 13 || texts[11] != `assistant [{"text":"by the package"}]` {
			t.Errorf("the model gets %q", texts)
		}
		say(t, ctx, s, "really?")
		if n := len(lastRequest(s).Messages); n != 15 {
			t.Errorf("%d messages in the next turn, want 15", n)
		}
		must(t, s.Check(id))
	})
}
