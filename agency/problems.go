package agency

import (
	"errors"
	"fmt"
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
	if d.CheckIn != nil {
		wrong(d.Tasks[CheckInKind] == nil, "check-ins have no handler %q", CheckInKind)
		wrong(d.CheckIn.Agents == nil, "check-ins need Agents")
		_, err := CheckInMoment(time.Unix(0, 0), d.CheckIn.Schedule)
		wrong(err != nil, "check-ins: %v", err)
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
