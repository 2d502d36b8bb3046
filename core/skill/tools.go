package skill

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// The names of the tools.
const (
	ActivateName = "activate_skill"
	ReadName     = "read_skill_file"
)

// maxEnum is how many bytes of names a schema lists. With more of them any name may be tried.
const maxEnum = DefaultCatalog

// Tools gives activate_skill and read_skill_file for the skills that a model sees; without any there are no tools, but the second if
// a user can call one that bundles files. active knows what the conversation holds; nil: each activation gives the whole text.
func (s Set) Tools(active *Active) tool.Registry {
	names, called := s.ForModel(), s.readOnceCalled()
	use := use{set: s, active: active}
	activate := tool.New(ActivateName, "Gives the instructions of a skill. Call it before a task that the skill's description matches.", use.activate)
	read := tool.New(ReadName, "Reads a file that a skill bundles, a part at a time.", use.read)
	reader := named{Tool: tool.ReadOnly(read), names: names, maxResult: 2 * MaxRead}
	if called {
		reader.names = nil // which users call is not known yet, and names that are hidden stay so
	}
	switch {
	case len(names) > 0:
		return tool.Registry{named{Tool: tool.ReadOnly(activate), names: names, maxResult: 2 * maxBody}, reader}
	case called:
		return tool.Registry{reader}
	}
	return nil
}

// readOnceCalled reports whether there is a skill with files that the model does not see until a user calls it.
func (s Set) readOnceCalled() bool {
	return slices.ContainsFunc(append(s.All(), s.shadowed...), func(one Skill) bool {
		if !one.HiddenFromModel || one.HiddenFromUser {
			return false
		}
		files, _ := one.Resources()
		return len(files) > 0
	})
}

// named is a tool whose input "name" is one of names, if there are any, and whose results are as long as they have to be.
type named struct {
	tool.Tool
	names     []string
	maxResult int
}

// Spec describes the tool.
func (n named) Spec() tool.Spec {
	s := n.Tool.Spec()
	s.MaxResult = n.maxResult
	if s.Err != nil || len(n.names) == 0 || len(strings.Join(n.names, " ")) > maxEnum {
		return s
	}
	schema, err := withEnum(s.Schema, n.names)
	if err != nil {
		s.Err = fault.Wrap(fault.Internal, err, "schema of %s", s.Name)
		return s
	}
	s.Schema = schema
	return s
}

// withEnum lists the values of the property "name".
func withEnum(schema json.RawMessage, names []string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	var properties map[string]map[string]any
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object["properties"], &properties); err != nil {
		return nil, err
	}
	properties["name"]["enum"] = names
	changed, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	object["properties"] = changed
	return json.Marshal(object)
}

// use is the use of a set in a conversation.
type use struct {
	set    Set
	active *Active
}

type activateIn struct {
	Name string `json:"name" jsonschema:"the skill's name"`
}

func (u use) activate(_ tool.Context, in activateIn) (string, error) {
	s, err := u.find(in.Name)
	if err != nil {
		if called, ok := u.active.of(u.set, in.Name); ok { // by a user: hidden, but there
			return alreadyActive(called), nil
		}
		return "", err
	}
	if !u.active.Begin(s) {
		return alreadyActive(s), nil
	}
	return s.Content(), nil
}

func (u use) find(name string) (Skill, error) {
	s, ok := u.set.shown(name)
	switch names := u.set.ForModel(); {
	case !ok && len(names) == 0:
		return Skill{}, fault.New(fault.NotFound, "there is no skill %q", name)
	case !ok:
		return Skill{}, fault.New(fault.NotFound, "there is no skill %q; there are: %s", name, tool.Cut(strings.Join(names, ", "), maxEnum))
	}
	return s, nil
}

type readIn struct {
	Name   string `json:"name" jsonschema:"the skill's name"`
	Path   string `json:"path" jsonschema:"the file, relative to the skill's folder"`
	Offset int64  `json:"offset,omitempty" jsonschema:"the byte to begin with, as an earlier call gave it"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many bytes to read at most"`
}

func (u use) read(_ tool.Context, in readIn) (string, error) {
	s, ok := u.active.of(u.set, in.Name)
	if !ok {
		var err error
		if s, err = u.find(in.Name); err != nil {
			return "", err
		}
	}
	e, err := s.ReadFile(in.Path, in.Offset, in.Limit)
	switch {
	case err != nil:
		return "", err
	case e.Type != "":
		return fmt.Sprintf("%s is no text: %s, %d bytes.", in.Path, e.Type, e.Size), nil
	case e.Next > 0:
		return fmt.Sprintf("%s\n\n[bytes %d to %d of %d; read on with offset %d]", e.Text, in.Offset, e.Next, e.Size, e.Next), nil
	}
	return e.Text, nil
}
