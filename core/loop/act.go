package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// maxErrorText bounds the text of an error result, in bytes.
const maxErrorText = 4 * 1024

// done is how one call of a batch ended.
type done struct {
	call     int // index in the batch
	result   model.ToolResult
	took     time.Duration
	finished bool // false: the tool gave up because its context ended
}

// act runs the calls of a step and puts their results into the history. With an error it gives the results that are
// finished and not saved.
func (r *run) act(ctx context.Context, calls []model.ToolUse) ([]model.ToolResult, error) {
	batch, err := r.runBatch(ctx, calls)
	results := make([]model.ToolResult, 0, len(calls))
	took := make([]time.Duration, 0, len(calls))
	for _, d := range batch {
		results, took = append(results, d.result), append(took, d.took)
	}
	if err != nil {
		return results, err
	}
	if r.Journal != nil {
		step := r.state.Spent.Steps
		if err := r.Journal.SaveResults(ctx, step, results, took); err != nil {
			return results, fmt.Errorf("save the results of step %d: %w", step, err)
		}
	}
	r.state.History, r.state.Stop = answer(r.state.History, results), ""
	return nil, nil
}

// runBatch runs the calls in parallel and gives those that finished, in the order of the calls. Without an error that is
// all of them.
func (r *run) runBatch(ctx context.Context, calls []model.ToolUse) ([]done, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	ends := make(chan done, len(calls)) // has room for all: a tool left behind does not block
	var batch []done
	var err error
	started, running := 0, 0
	for err == nil && (started < len(calls) || running > 0) {
		if started < len(calls) && running < r.Limits.Parallel {
			if err = r.start(inner, calls[started], started, ends); err == nil {
				started, running = started+1, running+1
			}
			continue
		}
		select {
		case d := <-ends:
			running--
			batch = r.keep(batch, calls, d)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		cancel(err)
		batch = r.drain(batch, calls, ends, running)
	} else if len(batch) < len(calls) {
		err = context.Cause(ctx)
	}
	slices.SortFunc(batch, func(a, b done) int { return a.call - b.call })
	return batch, err
}

// start begins one call, if the run goes on and the journal lets it.
func (r *run) start(ctx context.Context, call model.ToolUse, i int, ends chan<- done) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Journal != nil {
		if err := r.Journal.MayRun(ctx, call); err != nil {
			return fmt.Errorf("run tool %s (%s): %w", call.Name, call.ID, err)
		}
	}
	r.watcher.emit(ToolStarted{Call: call})
	tc := r.tc.With(ctx)
	tc.ToolUseID = call.ID
	tc.Retried = func(try int, wait time.Duration, err error) {
		r.watcher.emit(ToolRetry{Call: call, Try: try, Wait: wait, Err: err})
	}
	t := r.tools[call.Name]
	go func() {
		begin := time.Now()
		result, finished := r.call(tc, t, call)
		ends <- done{call: i, result: result, took: time.Since(begin), finished: finished}
	}()
	return nil
}

// keep adds a finished call to the batch.
func (r *run) keep(batch []done, calls []model.ToolUse, d done) []done {
	if !d.finished {
		return batch
	}
	r.watcher.emit(ToolFinished{Call: calls[d.call], Result: d.result, Took: d.took})
	return append(batch, d)
}

// drain waits for tools that were cancelled, at most Limits.Grace.
func (r *run) drain(batch []done, calls []model.ToolUse, ends <-chan done, running int) []done {
	grace := time.NewTimer(r.Limits.Grace)
	defer grace.Stop()
	for ; running > 0; running-- {
		select {
		case d := <-ends:
			batch = r.keep(batch, calls, d)
		case <-grace.C:
			r.Log.Warn("tools left behind: they did not return after their context ended", "count", running)
			return batch
		}
	}
	return batch
}

// call runs one tool. Whatever happens becomes a result; finished is false if all that happened is that ctx ended.
func (r *run) call(tc tool.Context, t tool.Tool, call model.ToolUse) (result model.ToolResult, finished bool) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("tool panicked", "tool", call.Name, "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			result, finished = failed(call, fmt.Sprintf("The tool %s broke unexpectedly.", call.Name)), true
		}
	}()
	if t == nil {
		return failed(call, r.unknown(call.Name)), true
	}
	output, err := t.Call(tc, call.Input)
	if err == nil {
		var content []model.ResultPart
		if content, err = tool.Content(output); err == nil {
			return model.ToolResult{ID: call.ID, Status: model.Success, Content: content}, true
		}
	}
	if tc.Err() != nil && (errors.Is(err, tc.Err()) || errors.Is(err, context.Cause(tc))) {
		return model.ToolResult{}, false
	}
	r.Log.Info("tool failed", "tool", call.Name, "call", call.ID, "error", err)
	return failed(call, errorText(err)), true
}

func (r *run) unknown(name string) string {
	if len(r.specs) == 0 {
		return fmt.Sprintf("There is no tool %q, and no other tool either.", tool.Cut(name, 80))
	}
	names := make([]string, len(r.specs))
	for i, s := range r.specs {
		names[i] = s.Name
	}
	return fmt.Sprintf("There is no tool %q. The tools are: %s.", tool.Cut(name, 80), strings.Join(names, ", "))
}

func failed(call model.ToolUse, text string) model.ToolResult {
	return model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: tool.Cut(text, maxErrorText)}}}
}

// errorText is what the model may read of err: all of it, unless it was marked as not for others.
func errorText(err error) string {
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.Internal {
		text = "The tool failed: " + fault.Public(err) + "."
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return "The tool failed."
	}
	return text
}

// answer adds results to the history: to the message that already answers the same calls, or as a new one, in the order of
// the calls. It writes into history's array.
func answer(history []model.Message, results []model.ToolResult) []model.Message {
	at := len(history)
	for at > 0 && history[at-1].Role == model.User {
		at--
	}
	byID := make(map[string]model.ToolResult, len(results))
	for _, m := range history[at:] {
		for _, res := range m.Results() {
			byID[res.ID] = res
		}
	}
	for _, res := range results {
		byID[res.ID] = res
	}
	message := model.Message{Role: model.User}
	for _, c := range history[at-1].Calls() {
		if res, ok := byID[c.ID]; ok {
			message.Content = append(message.Content, model.Block{ToolResult: &res})
			delete(byID, c.ID)
		}
	}
	return append(history[:at], message)
}
