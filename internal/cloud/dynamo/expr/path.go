package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// Step is one element of a path: an attribute or map entry by name, or a list element by index.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

// Path leads to an attribute or to a part inside it; the first step is always a name.
type Path []Step

// Get is the value at the path; ok is false where there is none.
func (p Path) Get(it value.Item) (v value.Value, ok bool) {
	v, ok = it[p[0].Name]
	for _, s := range p[1:] {
		if !ok {
			return value.Value{}, false
		}
		v, ok = child(v, s)
	}
	return v, ok
}

func child(v value.Value, s Step) (value.Value, bool) {
	switch {
	case s.IsIndex && v.Kind == value.List && s.Index < len(v.List):
		return v.List[s.Index], true
	case !s.IsIndex && v.Kind == value.Map:
		c, ok := v.Map[s.Name]
		return c, ok
	}
	return value.Value{}, false
}

func (p Path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.Name
		if s.IsIndex {
			parts[i] = fmt.Sprintf("[%d]", s.Index)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// checkOverlap refuses two paths of which one lies inside the other, or that read one place as both list and map.
func checkOverlap(paths []Path) error {
	for i, a := range paths {
		for _, b := range paths[i+1:] {
			if err := overlap(a, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func overlap(a, b Path) error {
	for k := range min(len(a), len(b)) {
		if a[k].IsIndex != b[k].IsIndex {
			return faultf("Two document paths conflict with each other; must remove or rewrite one of these paths; path one: %v, path two: %v", a, b)
		}
		if a[k] != b[k] {
			return nil
		}
	}
	return faultf("Two document paths overlap with each other; must remove or rewrite one of these paths; path one: %v, path two: %v", a, b)
}

// Project is the part of the item that the paths name, in its place: maps keep their nesting, lists keep the order of
// the elements named and close the gaps. Absent paths are left out.
func Project(it value.Item, paths []Path) value.Item {
	whole := value.Value{Kind: value.Map, Map: it}
	out, ok := project(whole, paths)
	if !ok {
		return value.Item{}
	}
	return out.Map
}

func project(v value.Value, paths []Path) (value.Value, bool) {
	groups := map[Step][]Path{}
	for _, p := range paths {
		if len(p) == 0 {
			return v, true
		}
		groups[p[0]] = append(groups[p[0]], p[1:])
	}
	out := value.Value{Kind: v.Kind}
	steps := slices.SortedFunc(maps.Keys(groups), func(a, b Step) int { return a.Index - b.Index })
	for _, s := range steps {
		c, ok := child(v, s)
		if !ok {
			continue
		}
		if c, ok = project(c, groups[s]); !ok {
			continue
		}
		if s.IsIndex {
			out.List = append(out.List, c)
			continue
		}
		if out.Map == nil {
			out.Map = map[string]value.Value{}
		}
		out.Map[s.Name] = c
	}
	return out, out.Map != nil || out.List != nil
}

// ParseProjection reads a ProjectionExpression.
func ParseProjection(text string, scope *Scope) ([]Path, error) {
	p, err := newParser("ProjectionExpression", text, scope)
	if err != nil {
		return nil, err
	}
	paths, err := p.paths()
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if err := checkOverlap(paths); err != nil {
		return nil, p.fault("%v", err)
	}
	return paths, nil
}

func (p *parser) paths() ([]Path, error) {
	var out []Path
	for {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		out = append(out, path)
		if !p.accept(",") {
			return out, nil
		}
	}
}
