package expr

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Update is a parsed UpdateExpression. The zero value changes nothing.
type Update struct {
	sets            []assignment
	removes         []Path
	adds, deletions []assignment
}

type assignment struct {
	path Path
	to   term
}

func (u Update) paths() []Path {
	paths := slices.Clone(u.removes)
	for _, list := range [][]assignment{u.sets, u.adds, u.deletions} {
		for _, a := range list {
			paths = append(paths, a.path)
		}
	}
	return paths
}

// Attributes names the attributes the update changes.
func (u Update) Attributes() []string { return u.Touched().Attributes() }

// Touched picks what the update names from an item before or after it (UPDATED_OLD, UPDATED_NEW).
func (u Update) Touched() Projection { return Projection{u.paths()} }

// Apply gives item after the update; item itself stays as it is. Every value is taken from the item before the update.
// It refuses operands of the wrong type, values read from attributes that are missing, and paths without a parent.
func (u Update) Apply(item attr.Item) (attr.Item, error) {
	out := attr.CloneItem(item)
	if err := u.applySets(item, out); err != nil {
		return nil, err
	}
	for _, a := range u.adds {
		if err := a.add(item, out); err != nil {
			return nil, err
		}
	}
	for _, a := range u.deletions {
		if err := a.subtract(item, out); err != nil {
			return nil, err
		}
	}
	for _, path := range lastFirst(u.removes) {
		if err := path.remove(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (u Update) applySets(item, out attr.Item) error {
	sets := slices.Clone(u.sets)
	slices.SortStableFunc(sets, func(a, b assignment) int { return a.path[len(a.path)-1].index - b.path[len(b.path)-1].index })
	for _, a := range sets {
		v, err := a.to.eval(item)
		if err == nil {
			err = a.path.put(out, attr.Clone(v))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastFirst orders removals so that taking one element of a list does not move another: deep paths before short ones,
// high indexes before low ones.
func lastFirst(paths []Path) []Path {
	return slices.SortedStableFunc(slices.Values(paths), func(a, b Path) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return b[len(b)-1].index - a[len(a)-1].index
	})
}

// add is ADD: a number to a number (missing counts as 0), elements to a set.
func (a assignment) add(item, out attr.Item) error {
	by, err := a.to.eval(item)
	if err != nil {
		return err
	}
	old := a.path.value(item)
	switch {
	case old == nil:
		return a.path.put(out, attr.Clone(by))
	case attr.Type(old) != attr.Type(by):
		return wrongOperand()
	case attr.IsSet(by):
		return a.path.put(out, attr.SetOf(by, append(attr.Elements(old), attr.Elements(by)...)))
	}
	sum, err := sum(old, by, false)
	if err != nil {
		return err
	}
	return a.path.put(out, sum)
}

// subtract is DELETE: elements from a set; a set without elements goes.
func (a assignment) subtract(item, out attr.Item) error {
	these, err := a.to.eval(item)
	old := a.path.value(item)
	switch {
	case err != nil:
		return err
	case old == nil:
		return nil
	case attr.Type(old) != attr.Type(these):
		return wrongOperand()
	}
	gone := attr.Elements(these)
	rest := attr.SetOf(these, slices.DeleteFunc(attr.Elements(old), func(v attr.Value) bool { return attr.Has(gone, v) }))
	if rest == nil {
		return a.path.remove(out)
	}
	return a.path.put(out, rest)
}

func wrongOperand() error {
	return attr.Refuse("An operand in the update expression has an incorrect data type")
}

func sum(a, b attr.Value, minus bool) (attr.Value, error) {
	x, first := a.(*types.AttributeValueMemberN)
	y, second := b.(*types.AttributeValueMemberN)
	if !first || !second {
		return nil, wrongOperand()
	}
	m, err := attr.ParseNumber(x.Value)
	if err != nil {
		return nil, err
	}
	n, err := attr.ParseNumber(y.Value)
	if err != nil {
		return nil, err
	}
	if minus {
		m, err = m.Minus(n)
	} else {
		m, err = m.Plus(n)
	}
	return &types.AttributeValueMemberN{Value: m.String()}, err
}

// term is the right-hand side of an assignment.
type term interface {
	eval(item attr.Item) (attr.Value, error)
}

type (
	stored struct{ path Path } // must exist
	added  struct {
		a, b  term
		minus bool
	}
	orElse struct {
		path Path
		to   term
	}
	appended struct{ a, b term }
)

func (c constant) eval(attr.Item) (attr.Value, error) { return c.v, nil }

func (s stored) eval(item attr.Item) (attr.Value, error) {
	if v := s.path.value(item); v != nil {
		return v, nil
	}
	return nil, attr.Refuse("The provided expression refers to an attribute that does not exist in the item")
}

func (o orElse) eval(item attr.Item) (attr.Value, error) {
	if v := o.path.value(item); v != nil {
		return v, nil
	}
	return o.to.eval(item)
}

func (s added) eval(item attr.Item) (attr.Value, error) {
	a, b, err := evalBoth(s.a, s.b, item)
	if err != nil {
		return nil, err
	}
	return sum(a, b, s.minus)
}

func (l appended) eval(item attr.Item) (attr.Value, error) {
	a, b, err := evalBoth(l.a, l.b, item)
	if err != nil {
		return nil, err
	}
	x, first := a.(*types.AttributeValueMemberL)
	y, second := b.(*types.AttributeValueMemberL)
	if !first || !second {
		return nil, wrongOperand()
	}
	return &types.AttributeValueMemberL{Value: slices.Concat(x.Value, y.Value)}, nil
}

func evalBoth(a, b term, item attr.Item) (x, y attr.Value, err error) {
	if x, err = a.eval(item); err == nil {
		y, err = b.eval(item)
	}
	return x, y, err
}
