package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Path is a document path: an attribute name, then fields of maps and indexes of lists.
type Path []step

// step is a field, or an index if field is empty.
type step struct {
	field string
	index int
}

// Attribute is the name of the attribute the path begins at.
func (p Path) Attribute() string { return p[0].field }

// String writes the path as the service does in its messages: [a, b, [0]].
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.field
		if s.field == "" {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// value is what stands at the path, nil if nothing does.
func (p Path) value(item attr.Item) attr.Value {
	v := item[p[0].field]
	for _, s := range p[1:] {
		v = child(v, s)
	}
	return v
}

func child(v attr.Value, s step) attr.Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		if s.field != "" {
			return v.Value[s.field]
		}
	case *types.AttributeValueMemberL:
		if s.field == "" && s.index < len(v.Value) {
			return v.Value[s.index]
		}
	}
	return nil
}

// container gives a map or list at the path's parent in item for changing. The item itself counts as a map.
func (p Path) container(item attr.Item) (attr.Value, error) {
	var v attr.Value = &types.AttributeValueMemberM{Value: item}
	for _, s := range p[:len(p)-1] {
		v = child(v, s)
	}
	_, isMap := v.(*types.AttributeValueMemberM)
	_, isList := v.(*types.AttributeValueMemberL)
	if field := p[len(p)-1].field != ""; field && isMap || !field && isList {
		return v, nil
	}
	return nil, attr.Refuse("The document path provided in the update expression is invalid for update")
}

// put sets the value at the path. An index past the end of its list appends.
func (p Path) put(item attr.Item, v attr.Value) error {
	at, err := p.container(item)
	if err != nil {
		return err
	}
	last := p[len(p)-1]
	switch c := at.(type) {
	case *types.AttributeValueMemberM:
		c.Value[last.field] = v
	case *types.AttributeValueMemberL:
		if last.index >= len(c.Value) {
			c.Value = append(c.Value, v)
		} else {
			c.Value[last.index] = v
		}
	}
	return nil
}

// remove takes away what stands at the path, if anything does.
func (p Path) remove(item attr.Item) error {
	at, err := p.container(item)
	if err != nil {
		return err
	}
	last := p[len(p)-1]
	switch c := at.(type) {
	case *types.AttributeValueMemberM:
		delete(c.Value, last.field)
	case *types.AttributeValueMemberL:
		if last.index < len(c.Value) {
			c.Value = slices.Delete(c.Value, last.index, last.index+1)
		}
	}
	return nil
}

// disjoint refuses paths of which one lies within another, or that treat one value both as a list and as a map.
func disjoint(what string, paths []Path) error {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if err := clash(what, q, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func clash(what string, p, q Path) error {
	for i := range min(len(p), len(q)) {
		if p[i] == q[i] {
			continue
		}
		if (p[i].field == "") != (q[i].field == "") {
			return attr.Refuse("Invalid %s: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", what, p, q)
		}
		return nil
	}
	return attr.Refuse("Invalid %s: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", what, p, q)
}
