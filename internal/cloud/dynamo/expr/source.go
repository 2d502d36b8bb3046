package expr

import (
	"slices"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// source is the right side of a SET.
type source interface {
	eval(value.Item) (value.Value, error)
}

type (
	pathSource  struct{ path Path }
	literal     struct{ v value.Value }
	ifNotExists struct {
		path Path
		or   source
	}
	listAppend struct{ left, right source }
	arithmetic struct {
		minus       bool
		left, right source
	}
)

func (s pathSource) eval(it value.Item) (value.Value, error) {
	v, ok := s.path.Get(it)
	if !ok {
		return value.Value{}, faultf("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}

func (s literal) eval(value.Item) (value.Value, error) { return s.v, nil }

func (s ifNotExists) eval(it value.Item) (value.Value, error) {
	if v, ok := s.path.Get(it); ok {
		return v, nil
	}
	return s.or.eval(it)
}

func (s listAppend) eval(it value.Item) (value.Value, error) {
	left, right, err := both(s.left, s.right, value.List, it)
	if err != nil {
		return value.Value{}, err
	}
	return value.Value{Kind: value.List, List: slices.Concat(left.List, right.List)}, nil
}

func (s arithmetic) eval(it value.Item) (value.Value, error) {
	left, right, err := both(s.left, s.right, value.Number, it)
	if err != nil {
		return value.Value{}, err
	}
	if s.minus {
		right.Num = right.Num.Neg()
	}
	sum, err := left.Num.Add(right.Num)
	if err != nil {
		return value.Value{}, err
	}
	return value.Num(sum), nil
}

func both(a, b source, kind value.Kind, it value.Item) (left, right value.Value, err error) {
	if left, err = a.eval(it); err != nil {
		return
	}
	if right, err = b.eval(it); err != nil {
		return
	}
	if left.Kind != kind || right.Kind != kind {
		err = errType()
	}
	return
}
