package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
)

// done is how one call of a batch ended.
type done struct {
	call     int // index in the batch
	result   model.ToolResult
	took     time.Duration
	finished bool // false: the tool gave up because its context ended
	waits    bool // it has not run, and there is no result yet
}

// act runs the calls of a step and puts their results into the history. With an error it gives the results that are
// finished and not saved.
func (r *run) act(ctx context.Context, calls []model.ToolUse) ([]model.ToolResult, error) {
	batch, err := r.runBatch(ctx, calls)
	r.state.Spent.Usage = r.state.Spent.Usage.Add(r.delegated.take())
	results := make([]model.ToolResult, 0, len(calls))
	took := make([]time.Duration, 0, len(calls))
	var waiting []model.ToolUse
	for _, d := range batch {
		if d.waits {
			waiting = append(waiting, calls[d.call])
			continue
		}
		results, took = append(results, d.result), append(took, d.took)
	}
	if err != nil {
		return results, err
	}
	if len(waiting) > 0 {
		step := r.state.Spent.Steps
		return results, fmt.Errorf("park step %d: %w", step, r.parker.Park(ctx, step, results, took, waiting))
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
	if r.parker == nil && r.tools[call.Name] != nil && r.tools[call.Name].Spec().RequireApproval {
		ends <- done{call: i, result: nobodyToAsk(call), finished: true}
		return nil
	}
	if r.Journal != nil {
		err := r.Journal.MayRun(ctx, call)
		if answered := new(Answered); errors.As(err, &answered) {
			ends <- done{call: i, result: answered.Result, finished: true}
			return nil
		}
		if errors.Is(err, ErrWait) && r.parker != nil {
			ends <- done{call: i, waits: true}
			return nil
		}
		if err != nil {
			return fmt.Errorf("run tool %s (%s): %w", call.Name, call.ID, err)
		}
	}
	r.watcher.emit(ToolStarted{Call: call})
	d := &delegation{run: r, call: call}
	tc := r.tc.With(d.with(ctx))
	tc.ToolUseID = call.ID
	tc.Retried = func(try int, wait time.Duration, err error) {
		d.emit(ToolRetry{Call: call, Try: try, Wait: wait, Err: err})
	}
	history := r.state.History[:len(r.state.History):len(r.state.History)]
	tc = tc.WithEarlier(func() []json.RawMessage { return earlier(history, call) })
	t := r.tools[call.Name]
	go func() {
		begin := time.Now()
		result, finished := r.call(tc, t, call)
		d.end()
		ends <- done{call: i, result: result, took: time.Since(begin), finished: finished}
	}()
	return nil
}

// nobodyToAsk is the result of a call that a person would have to approve, where no person can.
func nobodyToAsk(call model.ToolUse) model.ToolResult {
	text := "The tool " + call.Name + " needs a person's approval, and nobody can be asked in this run. It was not run."
	return model.ToolResult{ID: call.ID, Status: model.Failure, Content: []model.ResultPart{{Text: text}}}
}

// earlier gives the inputs of the calls of the same tool that stand in history before call.
func earlier(history []model.Message, call model.ToolUse) []json.RawMessage {
	var inputs []json.RawMessage
	for _, m := range history {
		for _, c := range m.Calls() {
			if c.ID == call.ID {
				return inputs
			}
			if c.Name == call.Name {
				inputs = append(inputs, c.Input)
			}
		}
	}
	return inputs
}

// keep adds a finished call to the batch.
func (r *run) keep(batch []done, calls []model.ToolUse, d done) []done {
	switch {
	case d.waits:
		return append(batch, d)
	case !d.finished:
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

// answer adds results to the history: to the message that already answers the same calls, or as a new one, in the order of
// the calls. The messages of history itself stay as they are: tools may still read them.
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
	if at < len(history) {
		history = slices.Clone(history[:at])
	}
	return append(history, message)
}
