package expr

import (
	"maps"
	"slices"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// Update is a parsed UpdateExpression. The zero value changes nothing.
type Update struct {
	sets    []assignment
	removes []Path
	adds    []change
	deletes []change
}

type assignment struct {
	path  Path
	value source
}

type change struct {
	path Path
	by   value.Value
}

// Paths are all the places the update writes to.
func (u Update) Paths() []Path {
	var out []Path
	for _, a := range u.sets {
		out = append(out, a.path)
	}
	out = append(out, u.removes...)
	for _, c := range slices.Concat(u.adds, u.deletes) {
		out = append(out, c.path)
	}
	return out
}

// Apply is the item after the update. Every operand is read from the item as it was. The item given stays as it is.
func (u Update) Apply(old value.Item) (value.Item, error) {
	out := maps.Clone(old)
	if out == nil {
		out = value.Item{}
	}
	for _, a := range u.sets {
		v, err := a.value.eval(old)
		if err != nil {
			return nil, err
		}
		if err := put(out, a.path, v); err != nil {
			return nil, err
		}
	}
	for _, c := range u.adds {
		if err := c.add(old, out); err != nil {
			return nil, err
		}
	}
	for _, c := range u.deletes {
		if err := c.subtract(old, out); err != nil {
			return nil, err
		}
	}
	return out, u.remove(out)
}

// remove takes list elements from the back, so that the indexes of one expression all mean the list as it was.
func (u Update) remove(out value.Item) error {
	paths := slices.Clone(u.removes)
	slices.SortStableFunc(paths, func(a, b Path) int { return b[len(b)-1].Index - a[len(a)-1].Index })
	for _, p := range paths {
		if err := put(out, p, value.Value{}); err != nil {
			return err
		}
	}
	return nil
}

// put writes v at the path; a v without a kind removes what stands there.
func put(it value.Item, p Path, v value.Value) error {
	name := p[0].Name
	if len(p) > 1 {
		parent, ok := it[name]
		if !ok {
			return errPath()
		}
		inner, err := putInside(parent, p[1:], v)
		if err != nil {
			return err
		}
		v = inner
	}
	if v.Kind == "" {
		delete(it, name)
		return nil
	}
	it[name] = v
	return nil
}

func putInside(in value.Value, p Path, v value.Value) (value.Value, error) {
	step := p[0]
	if (step.IsIndex && in.Kind != value.List) || (!step.IsIndex && in.Kind != value.Map) {
		return value.Value{}, errPath()
	}
	if len(p) > 1 {
		c, ok := child(in, step)
		if !ok {
			return value.Value{}, errPath()
		}
		inner, err := putInside(c, p[1:], v)
		if err != nil {
			return value.Value{}, err
		}
		v = inner
	}
	if step.IsIndex {
		in.List = putIndex(in.List, step.Index, v)
		return in, nil
	}
	in.Map = maps.Clone(in.Map)
	if v.Kind == "" {
		delete(in.Map, step.Name)
		return in, nil
	}
	if in.Map == nil {
		in.Map = map[string]value.Value{}
	}
	in.Map[step.Name] = v
	return in, nil
}

func putIndex(list []value.Value, i int, v value.Value) []value.Value {
	list = slices.Clone(list)
	switch {
	case v.Kind == "" && i < len(list):
		return slices.Delete(list, i, i+1)
	case v.Kind == "":
		return list
	case i < len(list):
		list[i] = v
		return list
	}
	return append(list, v)
}

func errPath() error {
	return faultf("The document path provided in the update expression is invalid for update")
}

func errType() error {
	return faultf("An operand in the update expression has an incorrect data type")
}

// add is ADD: a sum for numbers, a union for sets.
func (c change) add(old, out value.Item) error {
	was, ok := c.path.Get(old)
	if !ok {
		return put(out, c.path, c.by)
	}
	if was.Kind != c.by.Kind {
		return errType()
	}
	switch was.Kind {
	case value.Number:
		sum, err := was.Num.Add(c.by.Num)
		if err != nil {
			return err
		}
		was.Num = sum
	case value.NumberSet:
		was.Nums = slices.CompactFunc(sorted(slices.Concat(was.Nums, c.by.Nums)), func(a, b value.Decimal) bool { return a.Cmp(b) == 0 })
	default:
		all := slices.Concat(was.Set, c.by.Set)
		slices.Sort(all)
		was.Set = slices.Compact(all)
	}
	return put(out, c.path, was)
}

func sorted(nums []value.Decimal) []value.Decimal {
	slices.SortFunc(nums, value.Decimal.Cmp)
	return nums
}

// subtract is DELETE: elements leave a set; an emptied set leaves the item.
func (c change) subtract(old, out value.Item) error {
	was, ok := c.path.Get(old)
	if !ok {
		return nil
	}
	if was.Kind != c.by.Kind {
		return errType()
	}
	was.Set = slices.DeleteFunc(slices.Clone(was.Set), func(s string) bool { return slices.Contains(c.by.Set, s) })
	was.Nums = slices.DeleteFunc(slices.Clone(was.Nums), func(d value.Decimal) bool {
		return slices.ContainsFunc(c.by.Nums, func(e value.Decimal) bool { return d.Cmp(e) == 0 })
	})
	if len(was.Set) == 0 && len(was.Nums) == 0 {
		was = value.Value{}
	}
	return put(out, c.path, was)
}
