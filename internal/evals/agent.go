package evals

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Agent is who does the cases. Each run is a conversation of its own. Model is required.
type Agent struct {
	Model        loop.Model
	Instructions string        // the system prompt
	Tools        tool.Registry // beside those for files and skills
	MaxTokens    int           // of each reply; 0: loop.DefaultMaxTokens
	Steps        int           // model calls of a run at most; 0: 25
	Sleep        func(ctx context.Context, d time.Duration) error
}

// Said is one thing of a transcript: a message, or the result of a call.
type Said struct {
	Role    string          `json:"role"` // user, assistant, tool
	Text    string          `json:"text,omitempty"`
	Calls   []model.ToolUse `json:"calls,omitempty"`
	Call    string          `json:"call,omitempty"`
	Status  string          `json:"status,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
}

// session is one conversation and what became of it.
type session struct {
	transcript []Said
	answer     string
	tokens     int
}

// do has the prompt answered. seen is told of every call as it begins; nil: nobody asks.
func (a Agent) do(ctx context.Context, prompt, system string, tools []tool.Tool, seen func(model.ToolUse)) (session, error) {
	var s session
	s.transcript = []Said{{Role: string(model.User), Text: prompt}}
	runner := loop.Runner{
		Model: a.Model, Tools: tools, Limits: loop.Limits{Steps: a.Steps}, Sleep: a.Sleep,
		Request: model.Request{System: strings.TrimSpace(system), MaxTokens: a.MaxTokens},
		Watch: func(e loop.Event) {
			switch e := e.(type) {
			case loop.Replied:
				s.transcript = append(s.transcript, Said{Role: string(model.Assistant), Text: e.Message.PlainText(), Calls: e.Message.Calls()})
			case loop.ToolStarted:
				if seen != nil {
					seen(e.Call)
				}
			case loop.ToolFinished:
				content, err := json.Marshal(e.Result.Content)
				if err == nil {
					s.transcript = append(s.transcript, Said{Role: "tool", Call: e.Call.Name, Status: string(e.Result.Status), Content: content})
				}
			}
		},
	}
	if runner.Request.MaxTokens == 0 {
		runner.Request.MaxTokens = loop.DefaultMaxTokens
	}
	out, err := runner.Run(ctx, tool.Context{Context: ctx}, []model.Message{model.Text(model.User, prompt)})
	u := out.Usage
	s.answer, s.tokens = out.Final.PlainText(), u.InputTokens+u.OutputTokens+u.CacheReadTokens+u.CacheWriteTokens
	return s, err
}

// system is the system prompt with a catalogue.
func (a Agent) system(set skill.Set) string {
	text := a.Instructions
	if text == "" {
		text = loop.DefaultSystemPrompt
	}
	return strings.TrimSpace(text + "\n\n" + set.Catalog(0))
}

// files are the tools with which a run reads its input and puts out its results.
type files struct {
	mu      sync.Mutex
	inputs  map[string]string
	outputs *os.Root
	written []string
}

// What a run may put out.
const (
	maxOutputs = 100
	maxOutput  = 1 << 20
)

func (f *files) tools() tool.Registry {
	read := tool.New("read_file", "Reads a file that you were given or have written.", f.read)
	write := tool.New("write_file", "Writes a file of your result.", f.write)
	return tool.Registry{tool.ReadOnly(read), write}
}

type readFileIn struct {
	Path string `json:"path" jsonschema:"the file's path, relative"`
}

func (f *files) read(_ tool.Context, in readFileIn) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := path.Clean(in.Path)
	if text, ok := f.inputs[name]; ok {
		if !utf8.ValidString(text) {
			return fmt.Sprintf("%s is no text, %d bytes", name, len(text)), nil
		}
		return text, nil
	}
	if slices.Contains(f.written, name) {
		data, err := f.outputs.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return "", fault.New(fault.Unavailable, "%s cannot be read", name)
		}
		return string(data), nil
	}
	return "", fault.New(fault.NotFound, "there is no file %q; there are: %s", in.Path, strings.Join(f.names(), ", "))
}

func (f *files) names() []string {
	names := slices.Clone(f.written)
	for name := range f.inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type writeFileIn struct {
	Path string `json:"path" jsonschema:"the file's path, relative"`
	Text string `json:"text" jsonschema:"all of its text"`
}

func (f *files) write(_ tool.Context, in writeFileIn) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := path.Clean(in.Path)
	known := slices.Contains(f.written, name)
	switch {
	case !filepath.IsLocal(in.Path) || name == "." || name == answerFile:
		return "", fault.New(fault.Invalid, "%q is no path of a result: give a relative one, such as report.md", in.Path)
	case len(in.Text) > maxOutput:
		return "", fault.New(fault.Limit, "%s has %d bytes, the limit is %d", name, len(in.Text), maxOutput)
	case !known && len(f.written) >= maxOutputs:
		return "", fault.New(fault.Limit, "there are %d files already", len(f.written))
	}
	if err := f.outputs.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return "", fault.New(fault.Invalid, "the folder of %s cannot be made", name)
	}
	if err := f.outputs.WriteFile(filepath.FromSlash(name), []byte(in.Text), 0o644); err != nil {
		return "", fault.New(fault.Invalid, "%s cannot be written", name)
	}
	if !known {
		f.written = append(f.written, name)
	}
	return fmt.Sprintf("%s is written, %d bytes", name, len(in.Text)), nil
}
