package loop

import (
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Event is something a live view may want to show. Events of one run come in order, one at a time, and none after the run
// has returned.
type Event interface{ event() }

type (
	// StepStarted opens a step: one model call that counts, and the tools it calls for. Steps are numbered from 1.
	StepStarted struct{ Step int }
	// Attempt opens a try of the step's model call, numbered from 1.
	Attempt struct{ Step, N int }
	// Reset voids all that the attempt has shown: text, reasoning and announced calls. It comes after every attempt that
	// failed, was blocked by a filter, or was cut by the end of the run.
	Reset struct{ Attempt int }
	// Text is a piece of the reply's text.
	Text struct{ Delta string }
	// Reasoning is a piece of the model's reasoning.
	Reasoning struct{ Delta string }
	// ToolUse says that the model has begun to write a call. Its input is not there yet and it may still come to nothing.
	ToolUse struct{ ID, Name string }
	// Replied gives the message as it goes into the history, after its last attempt. Usage is what all its attempts used.
	Replied struct {
		Step    int
		Message model.Message
		Usage   model.Usage
		Stop    model.StopReason
	}
	// ToolStarted says that a call begins to run.
	ToolStarted struct{ Call model.ToolUse }
	// ToolRetry says that a tool failed and is run again after Wait. Try is the one that failed, from 1.
	ToolRetry struct {
		Call model.ToolUse
		Try  int
		Wait time.Duration
		Err  error
	}
	// SubagentStarted says that a call begins to run another agent. ID is the call's, behind those that led to it; Depth counts from 1.
	SubagentStarted struct {
		ID, Name string
		Depth    int
		Request  string
	}
	// SubagentEnded is the outcome of a subagent's run. Usage includes that of the subagents below it.
	SubagentEnded struct {
		ID, Name string
		Depth    int
		Steps    int
		Usage    model.Usage
		Took     time.Duration
		Err      error
	}
	// ToolFinished gives the result of a call.
	ToolFinished struct {
		Call   model.ToolUse
		Result model.ToolResult
		Took   time.Duration
	}
)

func (StepStarted) event()     {}
func (Attempt) event()         {}
func (Reset) event()           {}
func (Text) event()            {}
func (Reasoning) event()       {}
func (ToolUse) event()         {}
func (Replied) event()         {}
func (ToolStarted) event()     {}
func (ToolRetry) event()       {}
func (ToolFinished) event()    {}
func (SubagentStarted) event() {}
func (SubagentEnded) event()   {}

// watcher passes events on, one at a time, until it is closed: a tool left behind must not speak afterwards.
type watcher struct {
	mu     sync.Mutex
	watch  func(Event)
	closed bool
}

func (w *watcher) emit(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch != nil && !w.closed {
		w.watch(e)
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}
