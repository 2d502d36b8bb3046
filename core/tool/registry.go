package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Registry is the tools of a host, in the order they are offered. nil is an empty one.
type Registry []Tool

// Names lists the names in order.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, t := range r {
		names[i] = t.Spec().Name
	}
	return names
}

// Pick gives the named tools in the order of names, each once, and the names that are not there. No names: no tools.
func (r Registry) Pick(names ...string) (found []Tool, unknown []string) {
	known := make(map[string]Tool, len(r))
	for _, t := range slices.Backward(r) { // of two with one name the first counts
		known[t.Spec().Name] = t
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if t, ok := known[name]; ok {
			found = append(found, t)
		} else {
			unknown = append(unknown, name)
		}
	}
	return found, unknown
}

// Default gives the tools of sessions and tasks that name none: all but those marked ByName.
func (r Registry) Default() []Tool {
	return slices.DeleteFunc(slices.Clone(r), func(t Tool) bool { return t.Spec().ByName })
}

// Validate reports everything that would make a tool unusable as one fault.Invalid: names a model service refuses, names
// given twice, missing descriptions, schemas of anything but objects, input types without a schema.
func (r Registry) Validate() error {
	var problems []error
	seen := make(map[string]bool, len(r))
	for i, t := range r {
		s := t.Spec()
		if err := s.check(); err != nil {
			problems = append(problems, fmt.Errorf("tools[%d] %q: %w", i, s.Name, err))
		}
		if seen[s.Name] {
			problems = append(problems, fmt.Errorf("tools[%d] %q: the name is taken", i, s.Name))
		}
		seen[s.Name] = true
	}
	if len(problems) == 0 {
		return nil
	}
	return fault.Wrap(fault.Invalid, errors.Join(problems...), "%d problems with tools", len(problems))
}

func (s Spec) check() error {
	var object struct {
		Type string `json:"type"`
	}
	switch err := json.Unmarshal(s.Schema, &object); {
	case s.Err != nil:
		return s.Err
	case !validName(s.Name):
		return errors.New("the name must be 1 to 64 letters, digits, _ or -")
	case strings.TrimSpace(s.Description) == "":
		return errors.New("the description is missing")
	case err != nil || object.Type != "object":
		return errors.New("the schema must be a JSON schema of type object")
	}
	return nil
}

// validName is the rule of the Converse API. It is written out: as a regular expression it would cost every start a tenth of a
// millisecond.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, nameLetters) == ""
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Builtin gives the tools that come with the package. Only get_current_time is offered by default; http_request and notebook are to
// be named. Their schemas are made here, once for all their calls.
func Builtin() Registry {
	return Registry{GetCurrentTime{}.typed(), HTTPRequest{}.typed(), Notebook{}.typed()}
}
