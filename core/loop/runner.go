package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Runner runs one turn. Only Model is required. It is a value without state: the same Runner may run many turns at once.
type Runner struct {
	Model   Model
	Request model.Request // everything but Messages and Tools; ToolChoice does not count once there are results
	Tools   []tool.Tool
	Limits  Limits
	Spent   Spent       // what earlier owners of the turn used: it counts against Limits and in the Outcome
	Journal Journal     // nil: nothing is kept
	Watch   func(Event) // nil: nobody watches. It must return soon: the run waits for it

	// CallPrefix begins the id of every call. Empty: ids are the model's own where no call of the history has them. Where history is not
	// all there was, as after a compaction, give one that no other turn has: some models count their calls from one again.
	CallPrefix string

	lineage lineage // of a subagent's run

	Sleep func(ctx context.Context, d time.Duration) error // between attempts; nil: a timer
	Log   *slog.Logger                                     // nil: discard
}

// Journal makes each step of a run durable before the next begins. An error from it ends the run at once with that error
// and, except MayRun's, with the state of the world unknown to the run: its owner must read it again. All methods are
// called one at a time, in the order of the run.
type Journal interface {
	// SaveCalls keeps a reply with calls, before any of them runs.
	SaveCalls(ctx context.Context, step int, reply model.Reply) error
	// MayRun is asked right before each tool runs: whether the owner's lease is good by its own clock, say, or to mark a
	// call that must not run twice. An error ends the run; tools that run already are cancelled. An *Answered does not: it
	// is the call's result, and the tool does not run. Nor does a Parker's ErrWait: the others run, then its Park is asked.
	MayRun(ctx context.Context, call model.ToolUse) error
	// SaveResults keeps the results of a step that are not in the history yet, in the order of the calls, with the time
	// each took, before the model sees them.
	SaveResults(ctx context.Context, step int, results []model.ToolResult, took []time.Duration) error
	// Boundary is asked between results and the next model call. Its blocks (messages taken in the middle of the turn) join
	// the results' message; they are the journal's to keep.
	Boundary(ctx context.Context) ([]model.Block, error)
}

// Parker is a Journal that lets calls wait for people. Where there is none, a tool that requires an approval is never run: the model
// reads that nobody can be asked.
type Parker interface {
	// Park keeps the results of a step of which some calls wait, in the order of the calls, with the time each took. The run
	// ends with its error, which is never nil; it goes on from the history when what is waited for has come.
	Park(ctx context.Context, step int, results []model.ToolResult, took []time.Duration, waiting []model.ToolUse) error
}

// Answered is what MayRun returns for a call whose result is known before, or can never be.
type Answered struct{ Result model.ToolResult }

// ErrWait is what MayRun returns for a call that must wait, for a person say.
var ErrWait = errors.New("the call waits")

// Error says that the call does not run.
func (a *Answered) Error() string { return "the call " + a.Result.ID + " is answered already" }

// Outcome is how far a run came. With an error, Final is empty.
type Outcome struct {
	Final    model.Message    // the message that ends the turn, not saved by the run
	Stop     model.StopReason // the model's; empty if a limit of the run ended it
	Limit    string           // LimitSteps, LimitTokens, LimitMaxTokens, or "": the turn was not cut short
	Usage    model.Usage      // of every attempt, also failed ones, as far as reported
	Steps    int
	Finished []model.ToolResult // results of the step that was interrupted, finished but not saved, in the order of the calls
}

// Run takes the turn from the end of history to its answer. History ends with a message of the user, or with calls that an
// earlier owner left without some or all results: those run first, those answered do not run again. history is not
// changed.
//
// When ctx ends, Run cancels the tools, waits for them at most Limits.Grace and returns what is finished with
// context.Cause(ctx). A tool that ignores its context is left behind; whatever it returns later is discarded.
//
// Faults: the model's own after Limits.Attempts tries, Limit (reason "context_full"), Invalid (an empty history or a request
// that cannot be made valid), the journal's.
func (r Runner) Run(ctx context.Context, tc tool.Context, history []model.Message) (Outcome, error) {
	if r.Model == nil {
		return Outcome{}, fault.New(fault.Invalid, "the runner has no model")
	}
	run := r.begin(tc, history)
	defer run.watcher.close()
	out, err := run.loop(ctx)
	run.state.Spent.Usage = run.state.Spent.Usage.Add(run.delegated.take())
	out.Usage, out.Steps = run.state.Spent.Usage, run.state.Spent.Steps
	return out, err
}

// run is one turn under way.
type run struct {
	Runner
	state     State
	tc        tool.Context
	tools     map[string]tool.Tool
	specs     []model.ToolSpec
	watcher   *watcher
	parker    Parker      // nil: no call can wait
	delegated delegated   // what subagents used and the run has not counted yet
	answer    *answerTool // of a run whose answer is a call; nil: it is text
}

func (r Runner) begin(tc tool.Context, history []model.Message) *run {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if tc.Log == nil {
		tc.Log = r.Log
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	r.Limits = r.Limits.filled()
	run := &run{Runner: r, tc: tc, tools: make(map[string]tool.Tool, len(r.Tools)), watcher: &watcher{watch: r.Watch}}
	run.state = State{History: slices.Clone(history), Spent: r.Spent}
	run.parker, _ = r.Journal.(Parker)
	if run.lineage.calls == nil {
		run.lineage.calls = new(atomic.Int64)
	}
	for _, t := range r.Tools {
		spec := t.Spec() // once: one that is inferred takes a while
		t = described{t, spec}
		spec.Name = model.ToolName(spec.Name) // as the model will call it
		if _, taken := run.tools[spec.Name]; taken {
			r.Log.Warn("tool left out: its name is taken", "tool", spec.Name)
			continue
		}
		run.tools[spec.Name] = r.guarded(t)
		run.specs = append(run.specs, spec.Model())
	}
	return run
}

// described is a tool whose spec is known.
type described struct {
	tool.Tool
	spec tool.Spec
}

func (d described) Spec() tool.Spec { return d.spec }

// guarded puts around a tool what every tool of a run has, unless it brings its own: reads are repeated, no call takes for ever, its
// result has a limit, and the log tells of it.
func (r Runner) guarded(t tool.Tool) tool.Tool {
	if spec := t.Spec(); spec.ReadOnly && !spec.Once && spec.Tries == 0 {
		t = tool.RetryReads(t, 0, 0)
	}
	if t.Spec().MaxTime == 0 {
		t = tool.Timeout(t, r.Limits.Tool)
	}
	return tool.Audit(tool.Limit(t, 0), nil)
}

func (r *run) loop(ctx context.Context) (Outcome, error) {
	for {
		d := Next(r.state, r.Limits)
		switch d.Action {
		case Finish:
			return Outcome{Final: d.Final, Stop: d.Stop, Limit: d.Limit}, nil
		case Fail:
			return Outcome{}, d.Err
		}
		if ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
		var err error
		var finished []model.ToolResult
		if d.Action == RunTools {
			finished, err = r.act(ctx, d.Calls)
			if err == nil && r.answer.called() {
				return Outcome{Stop: model.StopToolUse}, nil
			}
		} else {
			err = r.ask(ctx)
		}
		if err != nil {
			return Outcome{Finished: finished}, err
		}
	}
}

// ask makes the next step's model call and puts the reply into the history.
func (r *run) ask(ctx context.Context) error {
	if err := r.boundary(ctx); err != nil {
		return err
	}
	step := r.state.Spent.Steps + 1
	r.watcher.emit(StepStarted{Step: step})
	reply, err := r.attempts(ctx, step)
	if err != nil {
		return err
	}
	r.state.Spent.Steps = step
	r.state.History = append(r.state.History, reply.Message)
	r.state.Stop = reply.Stop
	d := Next(r.state, r.Limits)
	if d.Action != RunTools {
		r.watcher.emit(Replied{Step: step, Message: d.Final, Usage: reply.Usage, Stop: reply.Stop})
		return nil
	}
	r.watcher.emit(Replied{Step: step, Message: reply.Message, Usage: reply.Usage, Stop: reply.Stop})
	if r.Journal == nil {
		return nil
	}
	if err := r.Journal.SaveCalls(ctx, step, reply); err != nil {
		return fmt.Errorf("save the calls of step %d: %w", step, err)
	}
	return nil
}

// boundary lets the journal add to the results that the model is about to see.
func (r *run) boundary(ctx context.Context) error {
	if r.Journal == nil || !endsWithResults(r.state.History) {
		return nil
	}
	blocks, err := r.Journal.Boundary(ctx)
	if err != nil {
		return fmt.Errorf("take messages before step %d: %w", r.state.Spent.Steps+1, err)
	}
	last := &r.state.History[len(r.state.History)-1]
	last.Content = slices.Concat(last.Content, blocks)
	return nil
}
