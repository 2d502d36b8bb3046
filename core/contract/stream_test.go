package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
)

func TestStreamBodies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event model.Event
		want  string // "": nothing is said
	}{
		{"text", model.TextDelta{Text: "Hi"}, `{"data":"Hi"}`},
		{"empty text", model.TextDelta{}, ""},
		{"reasoning", model.ReasoningDelta{Text: "hm"}, ""},
		{"a call", model.ToolStart{Block: 1, ID: "c1", Name: "find"}, `{"current_tool_use":{"name":"find","tool_use_id":"c1"}}`},
		{"its input", model.ToolInput{JSON: "{}"}, ""},
		{"the end of a block", model.BlockStop{}, ""},
		{"a stop for tools", model.Stop{Reason: model.StopToolUse}, ""},
		{"the end", model.Stop{Reason: model.EndTurn}, `{"complete":true}`},
		{"an end by a limit", model.Stop{Reason: model.StopMaxTokens}, `{"complete":true}`},
		{"usage", model.UsageReport{}, ""},
		{"another attempt", model.Reset{Attempt: 2}, `{"reset":{"attempt":2}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, b := range contract.StreamBodies(tt.event) {
				data, err := json.Marshal(b)
				if err != nil {
					t.Fatal(err)
				}
				got += string(data)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
