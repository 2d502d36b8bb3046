package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set is the skills of a session: one for each name. It is a value and does not change; the zero value has none.
type Set struct {
	skills   []Skill        // by name
	index    map[string]int // of sameName
	shadowed []Skill
}

// NewSet puts skills together. Of those with one name the first counts, and those of other scopes stay selectable as name@scope; each
// is told with both paths. A literal without a name or a description is left out and told.
func NewSet(skills ...Skill) (Set, []Diagnostic) {
	var r report
	set := Set{}
	winner, refs := map[string]Skill{}, map[string]bool{}
	for _, s := range skills {
		key := sameName(s.Name)
		r.path = s.origin()
		switch first, taken := winner[key]; {
		case strings.TrimSpace(s.Name) == "":
			r.skip(NameMissing, 0, "the name is missing")
		case strings.TrimSpace(s.Description) == "":
			r.skip(DescMissing, 0, "the description of %q is missing", s.Name)
		case taken:
			ref := sameName(s.Ref())
			r.add(collision(s, first, s.Scope != "" && !refs[ref]))
			refs[ref] = true
			set.shadowed = append(set.shadowed, s)
		default:
			winner[key], refs[sameName(s.Ref())] = s, true
			set.skills = append(set.skills, s)
		}
	}
	set.order()
	return set, r.found
}

// collision is the finding about a skill whose name another one has. Of several in one scope only the first is reached.
func collision(s, first Skill, reached bool) Diagnostic {
	load, _ := NameCollision.severity()
	how := "this one is not reached until it has another name"
	if reached {
		how = "this one is only reached as " + s.Ref()
	}
	return Diagnostic{Severity: load, Code: NameCollision, Other: first.origin(), Skipped: true,
		Text: fmt.Sprintf("the name %q is taken by %s; %s", s.Name, first.origin(), how)}
}

func (s *Set) order() {
	slices.SortFunc(s.skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	s.index = make(map[string]int, len(s.skills))
	for i, one := range s.skills {
		s.index[sameName(one.Name)] = i
	}
}

// All gives the skills by name.
func (s Set) All() []Skill { return slices.Clone(s.skills) }

// Shadowed gives the skills whose name another one has.
func (s Set) Shadowed() []Skill { return slices.Clone(s.shadowed) }

// Get gives the skill of a name, or of name@scope, also a shadowed one. A name is only ever compared, never made a path.
func (s Set) Get(name string) (Skill, bool) {
	if i, ok := s.index[sameName(name)]; ok {
		return s.skills[i], true
	}
	for _, list := range [][]Skill{s.skills, s.shadowed} {
		for _, one := range list {
			if one.Scope != "" && sameName(one.Ref()) == sameName(name) {
				return one, true
			}
		}
	}
	return Skill{}, false
}

// Pick gives the set of the named skills only, and the names that are not there.
func (s Set) Pick(names ...string) (picked Set, unknown []string) {
	var found []Skill
	for _, name := range names {
		if one, ok := s.Get(name); ok {
			found = append(found, one)
		} else {
			unknown = append(unknown, name)
		}
	}
	picked, _ = NewSet(found...)
	picked.shadowed = nil
	return picked, unknown
}

// Without gives the set without the named skills; disabled ones are in no catalogue and cannot be activated.
func (s Set) Without(names ...string) Set {
	hidden := func(one Skill) bool {
		return slices.ContainsFunc(names, func(n string) bool { return sameName(n) == sameName(one.Name) || n == one.Ref() })
	}
	out := Set{skills: slices.DeleteFunc(s.All(), hidden), shadowed: slices.DeleteFunc(s.Shadowed(), hidden)}
	out.order()
	return out
}

// ForModel gives the names that a model sees, in order.
func (s Set) ForModel() []string {
	return s.names(func(one Skill) bool { return !one.HiddenFromModel })
}

// ForUser gives the names that a user can call, in order.
func (s Set) ForUser() []string {
	return s.names(func(one Skill) bool { return !one.HiddenFromUser })
}

func (s Set) names(visible func(Skill) bool) []string {
	var names []string
	for _, one := range s.skills {
		if visible(one) {
			names = append(names, one.Name)
		}
	}
	return names
}

// shown gives a skill that the model may use.
func (s Set) shown(name string) (Skill, bool) {
	one, ok := s.Get(name)
	return one, ok && !one.HiddenFromModel
}
