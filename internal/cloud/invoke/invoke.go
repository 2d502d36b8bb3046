// Package invoke is the small contract between the services of the local cloud and the one that runs functions.
// It holds types only.
package invoke

import "context"

// Result is what a function answered.
type Result struct {
	Payload       []byte
	FunctionError string // empty: it succeeded; else "Unhandled", "Runtime.ExitError", "Sandbox.Timedout"
}

// Invoker runs functions by their name.
type Invoker interface {
	// Invoke runs function and waits for its answer (bounded by the function's own timeout). trigger is for the log
	// line, for example "POST /agent/tasks", "rule RunAgentTurn", "ws $default". The error is for what kept the function from
	// running at all (unknown name, build failure, ctx over).
	Invoke(ctx context.Context, function, trigger string, payload []byte) (Result, error)
	// Enqueue hands payload over for an asynchronous run, with the function's retries and failure destination. It returns
	// as soon as the payload is safe.
	Enqueue(ctx context.Context, function, trigger string, payload []byte) error
}
