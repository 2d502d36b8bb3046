package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

const id = "11111111-1111-4111-8111-111111111111"

func call(n int, name, text string) model.ToolUse {
	input, _ := json.Marshal(stage.Note{Text: text})
	return model.ToolUse{ID: fmt.Sprintf("call_%d", n), Name: name, Input: input}
}

// helpful answers by what stands in the request: a question with "tools" gets two tool calls first.
func helpful(req model.Request) fake.Turn {
	last := req.Messages[len(req.Messages)-1]
	text := last.PlainText()
	n := len(req.Messages)
	switch {
	case strings.Contains(text, "tools"):
		return fake.Calls("let me see", call(n*10, "look_up", "a"), call(n*10+1, "write_down", "b"))
	case len(last.Results()) > 0:
		return fake.Say("done ", "with ", "tools")
	}
	return fake.Say("you said ", text)
}

func TestATurnWithTwoTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(&fake.Model{Answer: helpful})
		ctx := context.Background()
		if _, err := s.Send(ctx, id, "use the tools"); err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		t.Log(s.Story(id))
		if err := s.Check(id); err != nil {
			t.Error(err)
		}
		if got := s.Ran.Runs(); got != "look_up a: 1\nwrite_down b: 1" {
			t.Errorf("tools ran: %s", got)
		}
		if _, err := s.Send(ctx, id, "hello"); err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		t.Log(s.Story(id))
		events, _ := s.Events(ctx, id)
		for _, e := range events {
			t.Log(e.Index, e.Type, e.TurnID, string(e.Data))
		}
		t.Log(s.Dynamo.Units())
	})
}
