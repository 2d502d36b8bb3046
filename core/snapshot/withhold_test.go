package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// What turns consist of. Each says "secret" in its own way.
var (
	question = model.Text(model.User, "a secret question")
	asks     = model.Message{Role: model.Assistant, Content: []model.Block{{Reasoning: &model.Reasoning{Text: "secret", Signature: "s"}}, {Text: "my secret"}, {ToolUse: &model.ToolUse{ID: "c1", Name: "look", Input: json.RawMessage(`{"for":"secret"}`)}}}}
	result   = model.Message{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "c1", Status: model.Success, Content: []model.ResultPart{{Text: "secret"}}}}}}
	before   = model.Text(model.User, "before")
	answer   = model.Text(model.Assistant, "answer")
)

func whole(messages ...model.Message) snapshot.Segment {
	return snapshot.Segment{ID: "f", Full: true, Messages: messages}
}

func part(messages ...model.Message) snapshot.Segment {
	return snapshot.Segment{ID: "p", Messages: messages}
}

func sum(rest string) model.Message {
	return model.Text(model.User, "<summary_of_earlier_messages>\n"+rest+"\n</summary_of_earlier_messages>")
}

// shape is a segment in a line: each message's words, calls and results.
func shape(s snapshot.Segment) string {
	var all []string
	for _, m := range s.Messages {
		for _, b := range m.Content {
			switch {
			case b.ToolUse != nil:
				all = append(all, "call "+b.ToolUse.ID+" "+string(b.ToolUse.Input))
			case b.ToolResult != nil:
				all = append(all, "result "+b.ToolResult.ID+" "+b.ToolResult.Content[0].Text)
			case b.Reasoning != nil:
				all = append(all, "reasoning")
			default:
				all = append(all, b.Text)
			}
		}
	}
	return strings.ReplaceAll(strings.Join(all, ", "), snapshot.Withheld, "-")
}

func TestWithhold(t *testing.T) {
	const summary = "<summary_of_earlier_messages>\n"
	tests := []struct {
		name     string
		segments []snapshot.Segment
		want     []string
	}{
		{"a question", []snapshot.Segment{part(question)}, []string{"-"}},
		{"a call and its result", []snapshot.Segment{part(question), part(asks), part(result)}, []string{"-", "-, call c1 {}", "result c1 -"}},
		{"after what is whole", []snapshot.Segment{whole(before, answer, question), part(asks)}, []string{"before, answer, -", "-, call c1 {}"}},
		{"made shorter before it began", []snapshot.Segment{part(question), whole(sum("of old times"), answer, question), part(asks)},
			[]string{"-", summary + "of old times\n</summary_of_earlier_messages>, answer, -", "-, call c1 {}"}},
		{"made shorter in its middle", []snapshot.Segment{part(question), part(asks), part(result), whole(sum("of the secret"), question, answer)},
			[]string{"-", "-, call c1 {}", "result c1 -", summary + "-\n</summary_of_earlier_messages>, -, -"}},
		{"nothing left as it was", []snapshot.Segment{part(question), whole(sum("of the secret"), answer)}, []string{"-", "-, -"}},
		{"two messages, the second in the middle", []snapshot.Segment{part(question), part(asks), part(result), part(model.Text(model.User, "and this secret"))},
			[]string{"-", "-, call c1 {}", "result c1 -", "-"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shapes := func() (all []string) {
				for _, s := range tt.segments {
					all = append(all, shape(s))
				}
				return all
			}
			snapshot.Withhold(tt.segments)
			if diff := cmp.Diff(tt.want, shapes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			snapshot.Withhold(tt.segments) // an owner that died has done it before
			for i, s := range shapes() {
				if strings.Contains(s, "secret") || i == 0 && s != tt.want[0] {
					t.Errorf("done again: %s", s)
				}
			}
			for _, s := range tt.segments {
				if fixed, changed := snapshot.Repair(s.Messages); changed && len(tt.segments) == 1 {
					t.Errorf("the history is not sound: %v", fixed)
				}
			}
		})
	}
}
