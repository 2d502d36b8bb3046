package loop_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// clerk is a model that looks an order up and then tells what it was told.
type clerk struct{}

func (clerk) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		events := []model.Event{model.ToolStart{ID: "c1", Name: "find_order"}, model.ToolInput{JSON: `{"number":7}`}, model.Stop{Reason: model.StopToolUse}}
		if results := req.Messages[len(req.Messages)-1].Results(); len(results) > 0 {
			events = []model.Event{model.TextDelta{Text: "Your order: "}, model.TextDelta{Text: results[0].Content[0].Text}, model.Stop{Reason: model.EndTurn}}
		}
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func findOrder() tool.Tool {
	type in struct {
		Number int `json:"number"`
	}
	return tool.New("find_order", "Finds an order.", func(ctx tool.Context, in in) (string, error) {
		customer, err := tool.State[string](ctx)
		return fmt.Sprintf("#%d of %s, on its way", in.Number, customer), err
	})
}

// One question, one answer; the customer is the host's word, not the model's.
func ExampleRun() {
	answer, err := loop.Run(context.Background(), loop.Once{
		Model: clerk{}, Input: "Where is my order 7?", Tools: []tool.Tool{findOrder()}, State: "Ada",
	})
	fmt.Println(answer.Output, answer.StopReason, answer.Steps, err)
	// Output: Your order: #7 of Ada, on its way end_turn 2 <nil>
}

// A runner takes a turn to its answer and tells what happens on the way.
func ExampleRunner_Run() {
	runner := loop.Runner{
		Model: clerk{}, Tools: []tool.Tool{findOrder()},
		Watch: func(e loop.Event) { fmt.Println(strings.TrimPrefix(fmt.Sprintf("%T", e), "loop.")) },
	}
	history := []model.Message{model.Text(model.User, "Where is my order 7?")}
	out, err := runner.Run(context.Background(), tool.Context{}.WithState("Ada"), history)
	fmt.Println(out.Final.PlainText(), err)
	// Output:
	// StepStarted
	// Attempt
	// ToolUse
	// Replied
	// ToolStarted
	// ToolFinished
	// StepStarted
	// Attempt
	// Text
	// Text
	// Replied
	// Your order: #7 of Ada, on its way <nil>
}

// What comes next follows from what stands in the history: here one of two calls is still open.
func ExampleNext() {
	history := []model.Message{
		model.Text(model.User, "Compare Rome and Oslo."),
		{Role: model.Assistant, Content: []model.Block{
			{ToolUse: &model.ToolUse{ID: "rome", Name: "weather"}}, {ToolUse: &model.ToolUse{ID: "oslo", Name: "weather"}},
		}},
		{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "rome", Status: model.Success}}}},
	}
	next := loop.Next(loop.State{History: history}, loop.Limits{})
	fmt.Println(next.Action, next.Calls[0].ID)
	// Output: run_tools oslo
}
