package bedrock_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// TestMaskedIsNotBlocked: an answer in which a guardrail masked words is an answer; one that it blocked, or of which nobody says what
// it did, is none.
func TestMaskedIsNotBlocked(t *testing.T) {
	const (
		masked  = `{"sensitiveInformationPolicy":{"piiEntities":[{"action":"ANONYMIZED","type":"EMAIL","match":"a@example.com"}],"regexes":[]}}`
		byRegex = `{"sensitiveInformationPolicy":{"piiEntities":[],"regexes":[{"action":"ANONYMIZED","name":"n","match":"7"}]},"contentPolicy":{"filters":[{"action":"NONE","type":"HATE","confidence":"LOW"}]}}`
		blocked = `{"topicPolicy":{"topics":[{"action":"BLOCKED","name":"n","type":"DENY"}]}}`
		word    = `{"wordPolicy":{"customWords":[{"action":"BLOCKED","match":"x"}],"managedWordLists":[]}}`
		cursed  = `{"wordPolicy":{"customWords":[],"managedWordLists":[{"action":"BLOCKED","match":"x","type":"PROFANITY"}]}}`
		hateful = `{"contentPolicy":{"filters":[{"action":"BLOCKED","type":"HATE","confidence":"HIGH"}]}}`
		made    = `{"contextualGroundingPolicy":{"filters":[{"action":"BLOCKED","type":"GROUNDING","threshold":0.5,"score":0.1}]}}`
		secret  = `{"sensitiveInformationPolicy":{"piiEntities":[{"action":"BLOCKED","type":"EMAIL","match":"m"}],"regexes":[]}}`
		new     = `{"sensitiveInformationPolicy":{"piiEntities":[{"action":"BURNT","type":"EMAIL","match":"m"}],"regexes":[]}}`
	)
	in := func(a string) string { return `{"inputAssessment":{"gr":` + a + `}}` }
	out := func(a ...string) string {
		list := ""
		for i, one := range a {
			if i > 0 {
				list += ","
			}
			list += one
		}
		return `{"outputAssessments":{"gr":[` + list + `]}}`
	}
	for _, tt := range []struct {
		name, trace string
		want        model.StopReason
	}{
		{"masked in the answer", out(masked), model.EndTurn},
		{"masked in the question", in(byRegex), model.EndTurn},
		{"masked in both", `{"inputAssessment":{"gr":` + masked + `},"outputAssessments":{"gr":[` + byRegex + `]}}`, model.EndTurn},
		{"blocked", out(blocked), model.StopGuardrail},
		{"a word", out(masked, word), model.StopGuardrail},
		{"a curse", out(masked, cursed), model.StopGuardrail},
		{"hate", in(hateful), model.StopGuardrail},
		{"not grounded", out(masked, made), model.StopGuardrail},
		{"masked in the question, blocked in the answer", `{"inputAssessment":{"gr":` + masked + `},"outputAssessments":{"gr":[` + secret + `]}}`, model.StopGuardrail},
		{"an action of tomorrow", out(masked, new), model.StopGuardrail},
		{"nothing said of what it did", out(`{}`), model.StopGuardrail},
		{"no assessment", `{}`, model.StopGuardrail},
		{"no trace", ``, model.StopGuardrail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := ""
			if tt.trace != "" {
				trace = `,"trace":{"guardrail":` + tt.trace + `}`
			}
			const usage = `"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5},"metrics":{"latencyMs":1}`
			m, _ := scripted(t, wire.Reply{
				wire.Text("write to {EMAIL}"), wire.Raw{Event: "messageStop", JSON: []byte(`{"stopReason":"guardrail_intervened"}`)},
				wire.Raw{Event: "metadata", JSON: []byte(`{` + usage + trace + `}`)},
			})
			streamed, err := model.Collect(m.Stream(context.Background(), hello()))
			if err != nil || streamed.Stop != tt.want || streamed.Message.PlainText() != "write to {EMAIL}" {
				t.Errorf("streamed: %+v, %v, want %s", streamed, err, tt.want)
			}
			body := `{"output":{"message":{"role":"assistant","content":[{"text":"write to {EMAIL}"}]}},"stopReason":"guardrail_intervened",` + usage + trace + `}`
			whole := bedrock.Model{Client: client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, body)
			}))}
			reply, err := whole.Complete(context.Background(), hello())
			if want := (model.Usage{InputTokens: 3, OutputTokens: 2}); err != nil || reply.Stop != tt.want || reply.Usage != want {
				t.Errorf("whole: %+v, %v, want %s", reply, err, tt.want)
			}
		})
	}
}

// TestBlockedWithoutAnEnd: what a guardrail did is not waited for when the stream is over.
func TestBlockedWithoutAnEnd(t *testing.T) {
	m, _ := scripted(t, wire.Reply{wire.Text("x"), wire.Raw{Event: "messageStop", JSON: []byte(`{"stopReason":"guardrail_intervened"}`)}, wire.Hangup{}})
	got, err := drain(m, hello())
	if err != nil || len(got) == 0 || got[len(got)-1] != (model.Stop{Reason: model.StopGuardrail}) {
		t.Errorf("events %v, %v", got, err)
	}
}
