package tool

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// New makes a tool of a function. In is a struct (or a map): its fields are the input, named and read as encoding/json does it. A
// field is optional with omitempty, omitzero or a default. Other tags: jsonschema describes the field, default gives its value when
// the model leaves it out, enum lists the allowed values, separated by commas. A type with a text form is a string, one that reads
// JSON itself is anything; an In that does is told by its fields.
//
// Input that does not fit is not passed to fn: the call fails with fault.Invalid and a text from which the model can
// correct itself. Numbers keep their digits on the way into In. An In without a schema is reported in Spec().Err.
func New[In, Out any](name, description string, fn func(ctx Context, in In) (Out, error)) Tool {
	in, err := inputOf[In]()
	spec := Spec{Name: name, Description: description, Schema: emptySchema}
	if err != nil {
		spec.Err = fault.Wrap(fault.Internal, err, "input of tool %s", name)
	} else {
		spec.Schema = in.json
	}
	return typed[In, Out]{spec: spec, input: in, fn: fn}
}

type typed[In, Out any] struct {
	spec  Spec
	input input
	fn    func(Context, In) (Out, error)
}

func (t typed[In, Out]) Spec() Spec { return t.spec }

func (t typed[In, Out]) Call(ctx Context, raw json.RawMessage) (any, error) {
	if t.spec.Err != nil {
		return nil, t.spec.Err
	}
	var in In
	clean, err := t.input.check(raw)
	if err == nil {
		err = json.Unmarshal(clean, &in)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "the input does not fit the tool %s: %s", t.spec.Name, inputProblem(err)).Because("tool_input")
	}
	return t.fn(ctx.ready(), in)
}

// emptySchema stands in for a schema that could not be made, so that the rest of the request stays valid.
var emptySchema = json.RawMessage(`{"type":"object"}`)

// input checks what a model wrote for one input type.
type input struct {
	json     json.RawMessage
	schema   *jsonschema.Schema
	resolved func() (*jsonschema.Resolved, error) // made once
}
