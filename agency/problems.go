package agency

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// problems lists everything that is wrong with a definition.
func (d Definition[P, N, I]) problems() []string {
	var all []string
	wrong := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	wrong(d.Name == "" || strings.ContainsAny(d.Name, "#/"), "a name is needed, without # and /")
	wrong(d.Profile == nil, "Profile is needed")
	wrong(len(d.Tasks) == 0, "Tasks are needed")
	wrong(d.Source == contract.Source, "the source %s is the shared service's", contract.Source)
	wrong(d.TaskCap < 0, "a task cap of %d", d.TaskCap)
	wrong(d.TaskCap > MaxTaskCap && d.TaskCap != NoTaskCap, "a task cap of %d, at most %d can be counted: make TaskCapWindow shorter, or say NoTaskCap", d.TaskCap, MaxTaskCap)
	wrong(d.TaskCapWindow < 0, "a task cap window of %s", d.TaskCapWindow)
	wrong(d.Store == nil && d.Table.DynamoDB == nil, "a Table or a Store is needed")
	wrong(d.Dispatch == nil && d.Bus.EventBridge == nil, "a Bus or a Dispatch is needed")
	wrong(d.Complete == nil && d.Bus.EventBridge == nil, "a Bus or a Complete is needed")
	seen := map[string]bool{}
	for _, r := range d.Rules {
		id := r.DetailType + " to " + r.Kind
		wrong(d.Tasks[r.Kind] == nil, "the rule of %s has no handler", id)
		wrong(r.Wake == nil, "the rule of %s decides nothing", id)
		wrong(seen[id] && d.TaskIDs == ReferenceIDs, "two rules of %s would share task ids: use NamespacedIDs", id)
		seen[id] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(d.Tasks)) {
		wrong(d.Tasks[kind] == nil, "the handler of %q is nil", kind)
	}
	all = append(all, d.AgendaLimits.orDefault().problems()...)
	all = append(all, d.CommitmentLimits.orDefault().problems()...)
	if d.CheckIn != nil {
		wrong(d.Tasks[CheckInKind] == nil, "check-ins have no handler %q", CheckInKind)
		wrong(d.CheckIn.Agents == nil, "check-ins need Agents")
		all = append(all, d.CheckIn.Schedule.problems()...)
	}
	return all
}

// problems are limits under which no goal is ever pursued: one field was set, and the others were meant to keep their defaults.
func (l AgendaLimits) problems() (all []string) {
	if l.Active <= 0 || l.History < 0 {
		all = append(all, fmt.Sprintf("AgendaLimits %+v pursue nothing: begin with DefaultAgendaLimits", l))
	}
	return all
}

// problems are limits under which no promise is kept: some fields were set, and the others were meant to keep their defaults. One zero
// may be meant.
func (l CommitmentLimits) problems() (all []string) {
	zeros, least := 0, 0
	for _, n := range []int{l.Active, l.PerCounterpart, l.ChildTasks, int(l.StaleQueue), l.History, int(l.ReconsiderCooldown), l.MaxReconsiderations} {
		least = min(least, n)
		if n == 0 {
			zeros++
		}
	}
	closed := l.Active == 0 || l.PerCounterpart == 0 || l.ChildTasks == 0 || l.StaleQueue == 0
	if least < 0 || closed && zeros > 1 {
		all = append(all, fmt.Sprintf("CommitmentLimits %+v keep no promise: begin with DefaultCommitmentLimits", l))
	}
	return all
}

// problems are slots that would be missed: agents answer once for each name a day.
func (s CheckInSchedule) problems() (all []string) {
	if _, err := CheckInMoment(time.Unix(0, 0), s); err != nil {
		return []string{fmt.Sprintf("check-ins: %v", err)}
	}
	seen := map[string]bool{}
	for _, slot := range s.orDefault().Slots {
		switch {
		case slot.Slot == "" || seen[slot.Slot]:
			all = append(all, fmt.Sprintf("check-ins: every slot needs a name of its own, not %q", slot.Slot))
		case slot.Hour < 0 || slot.Hour > 23 || slot.Minute < 0 || slot.Minute > 59:
			all = append(all, fmt.Sprintf("check-ins: %s is at %d:%02d, which is no time of day", slot.Slot, slot.Hour, slot.Minute))
		}
		seen[slot.Slot] = true
	}
	return all
}

// HostTogether reports whether agent types may share a table and a bus. Under ReferenceIDs two types whose rules have a detail type and a
// kind in common would give their tasks one id. Faults: Invalid, naming both.
func HostTogether(agents ...*Agent) error {
	owner := map[string]string{}
	var all []error
	for _, a := range agents {
		if a.ids == NamespacedIDs {
			continue
		}
		for _, r := range a.rules {
			id := r.DetailType + " to " + r.Kind
			if r.DetailType == CheckInDetailType {
				continue
			}
			if other, taken := owner[id]; taken && other != a.name {
				all = append(all, fault.New(fault.Invalid, "agent types %s and %s both have a rule of %s: their task ids would collide; use NamespacedIDs", other, a.name, id))
			}
			owner[id] = a.name
		}
	}
	return errors.Join(all...)
}
