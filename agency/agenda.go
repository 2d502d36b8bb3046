package agency

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// A goal's life. Only observations move it:
//
//	          reported                     not reported
//	(new) ───────────────▶ active ───────────────────────▶ completed
//	   ▲                     │  another epoch ───────────▶ expired
//	   └── reported again ── │  closing, or no room ─────▶ cancelled

// GoalStatus is where a goal stands.
type GoalStatus string

// The statuses of a goal.
const (
	GoalActive    GoalStatus = "active"
	GoalCompleted GoalStatus = "completed"
	GoalExpired   GoalStatus = "expired"
	GoalCancelled GoalStatus = "cancelled"
)

// Goal is one thing an agent pursues, with the host's own data. One that was read and did not change is written with the bytes it
// was read with. Where N has changed so that what is stored is none any more, Data is zero until the need is observed again.
type Goal[N any] struct {
	ID           string           `json:"id"`
	Kind         string           `json:"kind"`
	Status       GoalStatus       `json:"status"`
	Data         N                `json:"data"`
	CreatedAt    contract.Instant `json:"createdAt"`
	UpdatedAt    contract.Instant `json:"updatedAt"`
	SourceTaskID string           `json:"sourceTaskId"`
	Epoch        *string          `json:"epoch"`

	read       json.RawMessage
	unreadable error // why there is no Data
}

// Agenda is what an agent pursues: active goals first, best first, then settled ones, newest first. The zero value is empty.
type Agenda[N any] struct {
	Closed     bool
	ObservedAt contract.Instant // "": never
	Epoch      *string          // of the host's world; nil: none
	Goals      []Goal[N]

	read json.RawMessage
}

// AgendaLimits bounds an agenda. The zero value means DefaultAgendaLimits; fields of any other count as they are, so change a copy of it.
type AgendaLimits struct{ Active, History int }

// DefaultAgendaLimits are the limits unless others are given.
var DefaultAgendaLimits = AgendaLimits{Active: 3, History: 12}

func (l AgendaLimits) orDefault() AgendaLimits {
	if l == (AgendaLimits{}) {
		return DefaultAgendaLimits
	}
	return l
}

// Need is something the host sees that an agent has to do. Its id stays the same for as long as the need lasts.
type Need[N any] struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Data N      `json:"data"`
}

// Observation is an authoritative read of what an agent needs to do. A hook that observes need not set At and TaskID.
type Observation[N any] struct {
	At     contract.Instant // when it was read
	TaskID string           // the task that made it
	Needs  []Need[N]        // most important first
	Epoch  *string          // of the host's world, for example a season; nil: the same as before
	Closed bool             // the agent is done for good
	None   bool             // nothing could be observed: the agenda stays
}

// Add appends a need.
func (o *Observation[N]) Add(id, kind string, data N) {
	o.Needs = append(o.Needs, Need[N]{id, kind, data})
}

// ReconcileAgenda brings an agenda in line with an observation: needs that are reported become or stay goals, goals that are not
// reported any more are settled. A stale observation, one of an earlier epoch, and any after the agenda was closed change nothing.
// Pure; the agenda given stays as it is. It answers exactly as the TypeScript package does. What Define keeps is more careful: there
// an observation without an epoch is one of the agenda's own, and a goal whose need is still reported is never completed.
func ReconcileAgenda[N any](a Agenda[N], o Observation[N], l AgendaLimits) Agenda[N] {
	next, _ := reconcile(a, o, l.orDefault(), false)
	return next
}

func reconcile[N any](a Agenda[N], o Observation[N], l AgendaLimits, careful bool) (next Agenda[N], changed bool) {
	if o.None || ignored(a, o) {
		return a, false
	}
	if o.Epoch == nil && careful {
		o.Epoch = a.Epoch
	}
	if o.Closed {
		o.Needs = nil
	}
	needs := byID(o.Needs)
	goals, used := pursue(a.Goals, needs, o, l.Active)
	if !careful {
		needs = nil
	}
	history := settle(a.Goals, used, needs, o)
	next = Agenda[N]{Closed: o.Closed, ObservedAt: o.At, Epoch: o.Epoch, read: a.read}
	next.Goals = append(goals, history[:min(len(history), max(0, l.History))]...)
	return next, true
}

func ignored[N any](a Agenda[N], o Observation[N]) bool {
	if a.Closed {
		return true
	}
	last, known := readTime(a.ObservedAt)
	if at, ok := readTime(o.At); ok && known && at.Before(last) {
		return true
	}
	return a.Epoch != nil && o.Epoch != nil && EpochBefore(*o.Epoch, *a.Epoch)
}

// byID indexes needs; the first of an id wins.
func byID[N any](needs []Need[N]) map[string]Need[N] {
	all := make(map[string]Need[N], len(needs))
	for _, n := range needs {
		if _, dup := all[n.ID]; !dup {
			all[n.ID] = n
		}
	}
	return all
}

// pursue gives the active goals: those that go on, in their order, then new ones. used are the places of the goals they came from.
func pursue[N any](there []Goal[N], needs map[string]Need[N], o Observation[N], limit int) (goals []Goal[N], used map[int]bool) {
	var order []string
	for _, g := range there {
		if _, reported := needs[g.ID]; reported && g.Status == GoalActive && sameEpoch(g.Epoch, o.Epoch) {
			order = append(order, g.ID)
		}
	}
	for _, n := range o.Needs {
		order = append(order, n.ID)
	}
	goals, used = []Goal[N]{}, map[int]bool{}
	taken := map[string]bool{}
	for _, id := range order {
		if taken[id] || len(goals) >= limit {
			continue
		}
		taken[id] = true
		place := slices.IndexFunc(there, func(g Goal[N]) bool { return g.ID == id && sameEpoch(g.Epoch, o.Epoch) })
		goal := Goal[N]{ID: id, CreatedAt: o.At, Epoch: o.Epoch}
		if place >= 0 {
			goal, used[place] = there[place], true
		}
		goals = append(goals, goal.pursued(needs[id], o))
	}
	return goals, used
}

// pursued is the goal as its need is reported.
func (g Goal[N]) pursued(n Need[N], o Observation[N]) Goal[N] {
	if g.unreadable != nil {
		g.read, g.unreadable = nil, nil
	} else if g.Status == GoalActive && sameJSON(g.Data, n.Data) {
		return g
	}
	g.Kind, g.Data, g.Status, g.UpdatedAt, g.SourceTaskID = n.Kind, n.Data, GoalActive, o.At, o.TaskID
	return g
}

// settle gives the goals that are not pursued, newest first. needs are those that must not count as done.
func settle[N any](there []Goal[N], used map[int]bool, needs map[string]Need[N], o Observation[N]) []Goal[N] {
	var history []Goal[N]
	for i, g := range there {
		if used[i] {
			continue
		}
		if g.Status == GoalActive {
			_, reported := needs[g.ID]
			g.Status, g.UpdatedAt, g.SourceTaskID = settled(g, reported, o), o.At, o.TaskID
		}
		history = append(history, g)
	}
	slices.SortStableFunc(history, func(a, b Goal[N]) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	return history
}

func settled[N any](g Goal[N], reported bool, o Observation[N]) GoalStatus {
	switch {
	case o.Closed:
		return GoalCancelled
	case !sameEpoch(g.Epoch, o.Epoch):
		return GoalExpired
	case reported: // there is no room for it
		return GoalCancelled
	}
	return GoalCompleted
}

func sameEpoch(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// EpochBefore orders epochs: as numbers if both are, else as text by UTF-16 code units.
func EpochBefore(a, b string) bool {
	x, ok1 := textNumber(a)
	y, ok2 := textNumber(b)
	if ok1 && ok2 {
		return x < y
	}
	return lessUTF16(a, b)
}

// AgendaLines describes the active goals for a prompt, best first; not those whose Data cannot be read.
func AgendaLines[N any](a Agenda[N], describe func(Goal[N]) string) []string {
	lines := []string{}
	for _, g := range a.Goals {
		if g.Status == GoalActive && g.unreadable == nil {
			lines = append(lines, fmt.Sprintf("[%s] %s (pursuing since %s)", g.ID, describe(g), g.CreatedAt))
		}
	}
	return lines
}

// AgendaPriority orders options by the goals they serve: the first active goal has the highest number, each at least 1; what is no
// active goal has 0. A preference, never a permission.
func AgendaPriority[N any](a Agenda[N], goalID string, l AgendaLimits) int {
	place := 0
	for _, g := range a.Goals {
		if g.Status != GoalActive {
			continue
		}
		if g.ID == goalID {
			return max(1, l.orDefault().Active-place)
		}
		place++
	}
	return 0
}
