package model_test

import (
	"fmt"

	"github.com/steadfast-agents/steadfast/core/model"
)

// A history whose last call was interrupted makes a valid request all the same.
func ExampleBuild() {
	history := []model.Message{
		model.Text(model.User, "What is the weather in Paris?"),
		{Role: model.Assistant, Content: []model.Block{{Text: " "}, {ToolUse: &model.ToolUse{ID: "c1", Name: "weather"}}}},
		model.Text(model.User, "Are you still there?"),
	}
	request := model.Request{Messages: history, Tools: []model.ToolSpec{{Name: "weather"}}}
	fmt.Println(model.Check(request))

	built := model.Build(request)
	fmt.Println(model.Check(built))
	fmt.Println(string(built.Messages[1].Calls()[0].Input), built.Messages[2].Results()[0].Status, built.Messages[2].PlainText())
	// Output:
	// tools[0].schema: is not a JSON object
	// <nil>
	// {} error Are you still there?
}

func ExampleCollect() {
	reply, err := model.Collect(func(yield func(model.Event, error) bool) {
		for _, e := range []model.Event{
			model.TextDelta{Text: "Let me "}, model.TextDelta{Text: "look."},
			model.ToolStart{Block: 1, ID: "c1", Name: "weather"}, model.ToolInput{Block: 1, JSON: `{"city":`},
			model.Stop{Reason: model.StopMaxTokens},
		} {
			if !yield(e, nil) {
				return
			}
		}
	})
	fmt.Printf("%s, %d calls, stop %s, %v\n", reply.Message.PlainText(), len(reply.Message.Calls()), reply.Stop, err)
	// Output: Let me look., 0 calls, stop max_tokens, <nil>
}
