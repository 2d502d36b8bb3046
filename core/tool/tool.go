// Package tool holds what an agent can do: typed tools whose schema comes from a Go struct, the context a call runs in,
// the registry a session picks from by name, wrappers that limit, time, repeat and mark tools, and the built-in tools.
//
// A tool never fails a turn: whatever it returns or however it breaks becomes a result that the model reads. Who is
// calling, for which session and with which trusted state stands in the Context and never in the input, which the model
// writes. The package runs nothing by itself; the loop does.
package tool

import (
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Tool is one thing an agent can do. Both methods must be safe for concurrent use: the calls of one reply run in parallel.
//
// Call gets the input as the model wrote it, a JSON object. It must return soon after ctx is done; a tool that does not is
// left behind and its result is discarded. What it returns is turned into a tool result by Content; an error becomes an
// error result with its text, except a fault.Internal, whose text stays in the log.
type Tool interface {
	Spec() Spec
	Call(ctx Context, input json.RawMessage) (output any, err error)
}

// Spec describes a tool. Name matches [a-zA-Z0-9_-]{1,64}; Schema is a JSON schema of type object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage

	RequireApproval bool // a person decides before it runs
	Once            bool // must not run a second time, also when its worker died; the outcome may stay unknown
	ReadOnly        bool // changes nothing: may be repeated
	ByName          bool // offered only where it is named, never by default
	MaxResult       int  // bytes of its result that are kept; 0: not limited by a wrapper yet

	MaxTime time.Duration // of a call; 0: not limited by a wrapper yet
	Tries   int           // of a call that failed in a way that may pass; 0: not repeated by a wrapper yet
	Audited bool          // a wrapper logs its calls

	OnceFor func(input json.RawMessage) bool // calls that must not run twice, where others may; nil: none but for Once

	Err error // why the tool cannot work, for example an input type without a schema; each call returns it
}

// RunsOnce reports whether a call with the input must not run a second time.
func (s Spec) RunsOnce(input json.RawMessage) bool {
	return s.Once || s.OnceFor != nil && s.OnceFor(input)
}

// Model gives the part of the spec the model sees.
func (s Spec) Model() model.ToolSpec {
	return model.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema}
}
