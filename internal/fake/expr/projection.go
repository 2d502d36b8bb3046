package expr

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Projection picks parts of an item. The zero value picks all of it.
type Projection struct{ paths []Path }

// Projection parses a ProjectionExpression.
func (s *Scope) Projection(text string) (Projection, error) {
	p, err := s.parser("ProjectionExpression", text)
	if err != nil {
		return Projection{}, err
	}
	paths, err := list(p, p.path)
	if err == nil {
		err = p.done()
	}
	if err == nil {
		err = disjoint(p.what, paths)
	}
	return Projection{paths}, err
}

// Attributes names the attributes the projection reads; none means all.
func (p Projection) Attributes() []string {
	var names []string
	for _, path := range p.paths {
		names = append(names, path.Attribute())
	}
	return names
}

// Of gives a copy of what the projection picks from item.
func (p Projection) Of(item attr.Item) attr.Item {
	if p.paths == nil {
		return attr.CloneItem(item)
	}
	root := tree{}
	for _, path := range p.paths {
		root.add(path)
	}
	out := attr.Item{}
	if m, ok := root.pick(&types.AttributeValueMemberM{Value: item}).(*types.AttributeValueMemberM); ok {
		out = m.Value
	}
	return out
}

// tree holds the steps that several paths share; a leaf takes the whole value.
type tree map[step]tree

func (t tree) add(path Path) {
	for _, s := range path {
		if t[s] == nil {
			t[s] = tree{}
		}
		t = t[s]
	}
}

func (t tree) pick(v attr.Value) attr.Value {
	if len(t) == 0 {
		return attr.Clone(v)
	}
	fields, list := map[string]attr.Value{}, []attr.Value{}
	for _, s := range t.inOrder() {
		found := child(v, s)
		if found != nil {
			found = t[s].pick(found)
		}
		switch {
		case found == nil:
		case s.field != "":
			fields[s.field] = found
		default:
			list = append(list, found)
		}
	}
	switch {
	case len(fields) > 0:
		return &types.AttributeValueMemberM{Value: fields}
	case len(list) > 0:
		return &types.AttributeValueMemberL{Value: list}
	}
	return nil
}

func (t tree) inOrder() []step {
	return slices.SortedFunc(maps.Keys(t), func(a, b step) int { return a.index - b.index })
}
