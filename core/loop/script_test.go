package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// attempt is what one model call does: events, and an error to end with.
type attempt []any

// script is a model that plays its attempts in order. A request that the service would refuse, or one too many, fails the
// test.
type script struct {
	*fake.Model
	t testing.TB
}

func newScript(t testing.TB, attempts ...attempt) script {
	m := &fake.Model{Script: []fake.Turn{}}
	for _, a := range attempts {
		var turn fake.Turn
		for _, step := range a {
			event, _ := step.(model.Event)
			err, _ := step.(error)
			turn = append(turn, fake.Piece{Event: event, Err: err})
		}
		m.Script = append(m.Script, turn)
	}
	t.Cleanup(func() {
		for _, err := range m.Refused() {
			t.Errorf("a request is refused: %v", err)
		}
		if n := len(m.Requests()); n > len(attempts) {
			t.Errorf("the model was asked %d times, the script has %d attempts", n, len(attempts))
		}
	})
	return script{m, t}
}

// says streams text and ends with reason.
func says(reason model.StopReason, pieces ...string) attempt {
	var a attempt
	for _, p := range pieces {
		a = append(a, model.TextDelta{Text: p})
	}
	return append(a, model.BlockStop{}, model.Stop{Reason: reason})
}

// calls streams calls written "name input", with ids c1, c2 and so on, and ends with tool_use.
func calls(written ...string) attempt {
	var a attempt
	for i, w := range written {
		name, input, _ := strings.Cut(w, " ")
		a = append(a, model.ToolStart{Block: i, ID: fmt.Sprintf("c%d", i+1), Name: name}, model.ToolInput{Block: i, JSON: input}, model.BlockStop{Block: i})
	}
	return append(a, model.Stop{Reason: model.StopToolUse})
}

func used(in, out int) model.UsageReport {
	return model.UsageReport{Usage: model.Usage{InputTokens: in, OutputTokens: out}}
}

// history makes messages of alternating roles: text, or a model.Message as it is.
func history(parts ...any) []model.Message {
	var messages []model.Message
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			role := model.User
			if i%2 == 1 {
				role = model.Assistant
			}
			messages = append(messages, model.Text(role, p))
		case model.Message:
			messages = append(messages, p)
		}
	}
	return messages
}

// called is a reply with calls of the tool "work", one for each id.
func called(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Content = append(m.Content, model.Block{ToolUse: &model.ToolUse{ID: id, Name: "work", Input: json.RawMessage(`{}`)}})
	}
	return m
}

// answered is a message of results "old <id>".
func answered(ids ...string) model.Message {
	m := model.Message{Role: model.User}
	for _, id := range ids {
		m.Content = append(m.Content, model.Block{ToolResult: &model.ToolResult{ID: id, Status: model.Success, Content: []model.ResultPart{{Text: "old " + id}}}})
	}
	return m
}

// fn is a tool that takes {"x": text} and calls f.
func fn(name string, f func(ctx tool.Context, x string) (any, error)) tool.Tool {
	type in struct {
		X string `json:"x,omitempty"`
	}
	return tool.New(name, "does "+name, func(ctx tool.Context, in in) (any, error) { return f(ctx, in.X) })
}

// work is a tool that says what it was asked.
func work() tool.Tool {
	return fn("work", func(_ tool.Context, x string) (any, error) { return "worked on " + x, nil })
}

// trace writes down what a run's owner sees and is asked, one line each. It is its Journal and its Watch.
type trace struct {
	mu      sync.Mutex
	lines   []string
	nudge   string           // what Boundary gives, once
	failing map[string]error // by the first word of a line
	mayRun  func(model.ToolUse) error
}

func (tr *trace) add(format string, args ...any) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	tr.lines = append(tr.lines, line)
	word, _, _ := strings.Cut(line, " ")
	return tr.failing[word]
}

func (tr *trace) SaveCalls(_ context.Context, step int, reply model.Reply) error {
	return tr.add("save-calls %d %s", step, brief(reply.Message))
}

func (tr *trace) MayRun(_ context.Context, call model.ToolUse) error {
	if tr.mayRun != nil {
		if err := tr.mayRun(call); err != nil {
			return err
		}
	}
	return tr.add("may-run %s", call.ID)
}

func (tr *trace) SaveResults(_ context.Context, step int, results []model.ToolResult, took []time.Duration) error {
	var text []string
	for i, r := range results {
		text = append(text, fmt.Sprintf("%s in %s", briefResult(r), took[i]))
	}
	return tr.add("save-results %d %s", step, strings.Join(text, ", "))
}

func (tr *trace) Boundary(context.Context) ([]model.Block, error) {
	err := tr.add("boundary")
	if tr.nudge == "" || err != nil {
		return nil, err
	}
	text := tr.nudge
	tr.nudge = ""
	return []model.Block{{Text: text}}, nil
}

func (tr *trace) watch(e loop.Event) {
	switch e := e.(type) {
	case loop.StepStarted:
		tr.add("step %d", e.Step)
	case loop.Attempt:
		tr.add("attempt %d.%d", e.Step, e.N)
	case loop.Reset:
		tr.add("reset %d", e.Attempt)
	case loop.Text:
		tr.add("text %s", e.Delta)
	case loop.Reasoning:
		tr.add("reasoning %s", e.Delta)
	case loop.ToolUse:
		tr.add("tool-use %s %s", e.ID, e.Name)
	case loop.Replied:
		tr.add("replied %d %s %s", e.Step, e.Stop, brief(e.Message))
	case loop.ToolStarted:
		tr.add("started %s", e.Call.ID)
	case loop.ToolRetry:
		tr.add("retry %s %d %s: %v", e.Call.ID, e.Try, e.Wait, e.Err)
	case loop.ToolFinished:
		tr.add("finished %s in %s", briefResult(e.Result), e.Took)
	}
}

// brief writes a message in one line.
func brief(m model.Message) string {
	var parts []string
	for _, b := range m.Content {
		switch {
		case b.ToolUse != nil:
			parts = append(parts, fmt.Sprintf("%s=%s(%s)", b.ToolUse.ID, b.ToolUse.Name, b.ToolUse.Input))
		case b.ToolResult != nil:
			parts = append(parts, briefResult(*b.ToolResult))
		case b.Reasoning != nil:
			parts = append(parts, fmt.Sprintf("reasoning(%s|%s|%s)", b.Reasoning.Text, b.Reasoning.Signature, b.Reasoning.Redacted))
		default:
			parts = append(parts, fmt.Sprintf("%q", b.Text))
		}
	}
	return string(m.Role) + ": " + strings.Join(parts, " ")
}

func briefResult(r model.ToolResult) string {
	var text string
	for _, p := range r.Content {
		text += p.Text + string(p.JSON)
	}
	if r.Status == model.Failure {
		return fmt.Sprintf("%s!%q", r.ID, text)
	}
	return fmt.Sprintf("%s:%q", r.ID, text)
}

// asked is the i-th request's messages in lines.
func (s script) asked(i int) []string {
	if i >= len(s.Requests()) {
		s.t.Fatalf("there was no request %d, only %d", i, len(s.Requests()))
	}
	var lines []string
	for _, m := range s.Requests()[i].Messages {
		lines = append(lines, brief(m))
	}
	return lines
}
