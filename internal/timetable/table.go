// Package timetable holds the rules of EventBridge Scheduler for the local cloud and the fake, which share it: which schedules the
// service takes (names, groups, expressions, zones, targets, sizes, past times), what is a conflict, when a schedule fires and when it
// is deleted. It reads no clock, keeps no lock, writes nothing down and sends nothing.
package timetable

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Codes of an Error.
const (
	CodeInvalid  = "ValidationException"
	CodeMissing  = "ResourceNotFoundException"
	CodeConflict = "ConflictException"
)

// Error is a refusal in the words of the service.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Invalid is a ValidationException.
func Invalid(format string, args ...any) error {
	return &Error{CodeInvalid, fmt.Sprintf(format, args...)}
}

// Constraint is the ValidationException of one field.
func Constraint(field, value, what string) error {
	return Invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, field, what)
}

// Missing is a ResourceNotFoundException.
func Missing(kind, name string) error {
	return &Error{CodeMissing, kind + " " + name + " does not exist."}
}

// Conflict is a ConflictException.
func Conflict(kind, name string) error {
	return &Error{CodeConflict, kind + " " + name + " already exists."}
}

// Table is the schedules of an account and region. Not safe for concurrent use. The zero value has none.
type Table struct {
	HasGroup func(name string) bool // nil: every group exists
	all      map[string]*Schedule
}

// Create adds a schedule. again: the same call, by its ClientToken, was made before, and nothing changes.
func (t *Table) Create(d Definition, now time.Time) (s *Schedule, again bool, err error) {
	if s, err = t.check(d, now); err != nil {
		return nil, false, err
	}
	if old := t.all[s.ID()]; old != nil {
		if s.ClientToken != "" && s.sameAs(old.Definition) {
			return old, true, nil
		}
		return nil, false, Conflict("Schedule", s.Name)
	}
	t.Put(s)
	return s, false, nil
}

// Update replaces a schedule as a whole: what the call leaves out goes back to its default.
func (t *Table) Update(d Definition, now time.Time) (*Schedule, error) {
	s, err := t.check(d, now)
	if err != nil {
		return nil, err
	}
	old, err := t.Find(s.GroupName, s.Name)
	if err != nil {
		return nil, err
	}
	s.Created = old.Created
	s.Advance(now)
	t.Put(s)
	return s, nil
}

func (t *Table) check(d Definition, now time.Time) (*Schedule, error) {
	d.Modified = now.UTC()
	s, err := d.check(now.UTC())
	if err == nil && t.HasGroup != nil && !t.HasGroup(s.GroupName) {
		err = Missing("Schedule group", s.GroupName)
	}
	if err != nil {
		return nil, err
	}
	s.Advance(now)
	return s, nil
}

// sameAs compares what callers give.
func (d Definition) sameAs(o Definition) bool {
	d.Created, d.Modified, o.Created, o.Modified = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return reflect.DeepEqual(d, o)
}

// Find gives the schedule of a group ("": the default one).
func (t *Table) Find(group, name string) (*Schedule, error) {
	if group == "" {
		group = DefaultGroup
	}
	if s := t.all[group+"/"+name]; s != nil {
		return s, nil
	}
	return nil, Missing("Schedule", name)
}

// Put takes a schedule in as it is.
func (t *Table) Put(s *Schedule) {
	if t.all == nil {
		t.all = map[string]*Schedule{}
	}
	t.all[s.ID()] = s
}

// Get gives the schedule of an id, nil if there is none.
func (t *Table) Get(id string) *Schedule { return t.all[id] }

// Remove takes a schedule out, if it is there.
func (t *Table) Remove(id string) { delete(t.all, id) }

// All lists the schedules in the order of their ids.
func (t *Table) All() []*Schedule {
	all := slices.Collect(maps.Values(t.all))
	slices.SortFunc(all, func(a, b *Schedule) int { return strings.Compare(a.ID(), b.ID()) })
	return all
}

// In lists the schedules of a group whose names have a prefix; "": of all groups.
func (t *Table) In(group, prefix string) []*Schedule {
	return slices.DeleteFunc(t.All(), func(s *Schedule) bool {
		return group != "" && s.GroupName != group || !strings.HasPrefix(s.Name, prefix)
	})
}
