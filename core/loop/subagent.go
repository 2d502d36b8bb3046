package loop

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Limits of subagents in one run.
const (
	MaxSubagentDepth = 3  // agents below the run's own
	MaxSubagents     = 32 // calls of one run, those of its subagents included
)

// Subagent is a tool that is another agent: with its own instructions, tools and model, it works on one request in a conversation of its
// own, and its answer is the result. It runs where a Runner runs it, on the Runner's Model, for the same principal and in the same
// workspace. What it uses is counted as the run's. It ends when the run ends. Its call is repeated when its worker dies, unless one of its
// tools must not run twice. Tools that require an approval do not run in it.
type Subagent struct {
	Name          string
	Description   string // for the agent that calls it
	Instructions  string // default DefaultSystemPrompt
	ModelID       string // default the run's
	Tools         []tool.Tool
	MaxIterations int      // model calls; default 25
	MaxTokens     int      // of each reply; default the run's
	Temperature   *float64 // default the run's
}

type subagentInput struct {
	Request string `json:"request" jsonschema:"what to do, with everything that must be known to do it"`
}

// Spec is the tool's: it must not run twice if one of the subagent's tools must not.
func (s Subagent) Spec() tool.Spec {
	spec := s.tool().Spec()
	spec.Once = slices.ContainsFunc(s.Tools, func(t tool.Tool) bool {
		inner := t.Spec()
		return inner.Once || inner.OnceFor != nil
	})
	return spec
}

// Call runs the subagent. Faults: Invalid (it would start itself, or no Runner runs it), Limit (too deep, too many), the model's own.
func (s Subagent) Call(ctx tool.Context, input json.RawMessage) (any, error) {
	return s.tool().Call(ctx, input)
}

func (s Subagent) tool() tool.Tool {
	return tool.New(s.Name, s.Description, func(ctx tool.Context, in subagentInput) (string, error) {
		d, ok := ctx.Value(delegating{}).(*delegation)
		if !ok {
			return "", fault.New(fault.Invalid, "the subagent %s runs inside of a run only", s.Name)
		}
		return d.run.delegate(ctx, s, d, in.Request)
	})
}

// lineage is what a run has above it.
type lineage struct {
	names []string      // of the subagents, from the top
	path  string        // of the calls that led here
	calls *atomic.Int64 // of subagents, of the whole run
}

// delegated adds up what the subagents of a run used, until the run counts it.
type delegated struct {
	mu   sync.Mutex
	used model.Usage
}

func (d *delegated) add(u model.Usage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used = d.used.Add(u)
}

func (d *delegated) take() model.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	used := d.used
	d.used = model.Usage{}
	return used
}

// delegate runs a subagent for a call.
func (r *run) delegate(ctx tool.Context, s Subagent, d *delegation, request string) (string, error) {
	switch above := r.lineage.names; {
	case r.Model == nil:
		return "", fault.New(fault.Invalid, "%s is an agent and needs a model, and none is asked here: have the agent call it", s.Name)
	case slices.Contains(above, s.Name):
		return "", fault.New(fault.Invalid, "the subagent %s may not start itself", s.Name)
	case len(above) >= MaxSubagentDepth:
		return "", fault.New(fault.Limit, "subagents may be %d deep", MaxSubagentDepth)
	case r.lineage.calls.Add(1) > MaxSubagents:
		return "", fault.New(fault.Limit, "a turn may start %d subagents", MaxSubagents)
	}
	id, depth, begin := r.lineage.path+d.call.ID, len(r.lineage.names)+1, time.Now()
	d.emit(SubagentStarted{ID: id, Name: s.Name, Depth: depth, Request: request})
	out, err := r.subrunner(s, id, d.emit).Run(ctx, ctx, []model.Message{model.Text(model.User, request)})
	r.delegated.add(out.Usage)
	d.emit(SubagentEnded{ID: id, Name: s.Name, Depth: depth, Steps: out.Steps, Usage: out.Usage, Took: time.Since(begin), Err: err})
	if err != nil {
		return "", err
	}
	return out.Final.PlainText(), nil
}

func (r *run) subrunner(s Subagent, id string, emit func(Event)) Runner {
	request := model.Request{
		ModelID: cmp.Or(s.ModelID, r.Request.ModelID), System: cmp.Or(s.Instructions, DefaultSystemPrompt),
		MaxTokens: cmp.Or(s.MaxTokens, r.Request.MaxTokens), Temperature: cmp.Or(s.Temperature, r.Request.Temperature),
	}
	limits := r.Limits
	limits.Steps = s.MaxIterations
	if limits.Tokens > 0 {
		limits.Tokens = max(1, limits.Tokens-r.state.Spent.tokens())
	}
	sum := sha256.Sum256([]byte(id)) // ids of calls are short
	return Runner{
		Model: r.Model, Request: request, Tools: s.Tools, Limits: limits, Sleep: r.Sleep, Log: r.Log, CallPrefix: "sub-" + hex.EncodeToString(sum[:8]),
		lineage: lineage{names: append(slices.Clone(r.lineage.names), s.Name), path: id + "/", calls: r.lineage.calls},
		Watch: func(e Event) {
			switch e.(type) {
			case SubagentStarted, SubagentEnded:
				emit(e)
			}
		},
	}
}
