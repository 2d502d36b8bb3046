package agency_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// observed is an observation as the files give it: an epoch may be a number.
type observed struct {
	At     contract.Instant
	TaskID string
	Needs  []agency.Need[agency.Raw]
	Epoch  any
	Closed bool
}

func (o observed) observation() agency.Observation[agency.Raw] {
	to := agency.Observation[agency.Raw]{At: o.At, TaskID: o.TaskID, Needs: o.Needs, Closed: o.Closed}
	switch e := o.Epoch.(type) {
	case string:
		to.Epoch = &e
	case float64:
		to.Epoch = new(agency.NumberText(e))
	}
	return to
}

// limitsOf reads agenda limits over the defaults.
func limitsOf(t *testing.T, data json.RawMessage) agency.AgendaLimits {
	t.Helper()
	l := agency.DefaultAgendaLimits
	if data != nil {
		if err := json.Unmarshal(data, &l); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestConformanceAgenda(t *testing.T) {
	conform(t, "agenda.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Fn, A, B string
			Steps    []struct {
				Observation observed
				Limits      json.RawMessage
			}
		}](t, input)
		if in.Fn == "epochBefore" {
			return agency.EpochBefore(in.A, in.B)
		}
		var a agency.Agenda[agency.Raw]
		steps := []object{}
		for _, s := range in.Steps {
			next, changed := agency.Reconcile(stored(t, a), s.Observation.observation(), limitsOf(t, s.Limits))
			a = next
			steps = append(steps, object{"unchanged": !changed, "agenda": a, "lines": agency.AgendaLines(a, kindOf), "priorities": priorities(a, limitsOf(t, s.Limits))})
		}
		return object{"steps": steps}
	})
}

func kindOf(g agency.Goal[agency.Raw]) string { return g.Kind }

func priorities(a agency.Agenda[agency.Raw], l agency.AgendaLimits) []int {
	all := []int{}
	for _, g := range a.Goals {
		if g.Status == agency.GoalActive {
			all = append(all, agency.AgendaPriority(a, g.ID, l))
		}
	}
	return all
}

// stored writes a document and reads it back.
func stored[T any](t *testing.T, v T) (back T) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return read[T](t, data)
}

// What does not change is written with the bytes it was read with, and members this package does not know stay.
func TestAgendaKeepsWhatItDoesNotKnow(t *testing.T) {
	type need struct {
		N int `json:"n"`
	}
	const doc = `{"schemaVersion":1,"extra":[1.0],"closed":false,"observedAt":"2026-10-07T12:00:00.000Z","epoch":null,"goals":[` +
		`{"kind":"fix","id":"a","status":"active","data":{"more":true,"n":1},"createdAt":"2026-10-07T12:00:00.000Z","updatedAt":"2026-10-07T12:00:00.000Z","sourceTaskId":"t1","epoch":null},` +
		`{"id":"b","status":"active","kind":"fix","data":{"n":2,"x":0},"createdAt":"2026-10-07T12:00:00.000Z","updatedAt":"2026-10-07T12:00:00.000Z","sourceTaskId":"t1","epoch":null,"note":"n"}]}`
	a := read[agency.Agenda[need]](t, []byte(doc))
	var same agency.Observation[need]
	same.At = "2026-10-07T13:00:00.000Z"
	same.Add("a", "fix", need{1})
	tests := []struct {
		name string
		a    agency.Agenda[need]
		want string
	}{
		{"untouched", a, doc},
		{"one goes on, one is settled", agency.ReconcileAgenda(a, same, agency.AgendaLimits{}),
			`{"schemaVersion":1,"extra":[1.0],"closed":false,"observedAt":"2026-10-07T13:00:00.000Z","epoch":null,"goals":[` +
				`{"kind":"fix","id":"a","status":"active","data":{"more":true,"n":1},"createdAt":"2026-10-07T12:00:00.000Z","updatedAt":"2026-10-07T12:00:00.000Z","sourceTaskId":"t1","epoch":null},` +
				`{"id":"b","status":"completed","kind":"fix","data":{"n":2,"x":0},"createdAt":"2026-10-07T12:00:00.000Z","updatedAt":"2026-10-07T13:00:00.000Z","sourceTaskId":"","epoch":null,"note":"n"}]}`},
	}
	for _, tt := range tests {
		got, err := json.Marshal(tt.a)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func ExampleReconcileAgenda() {
	var seen agency.Observation[string]
	seen.At = "2026-10-07T12:00:00.000Z"
	seen.Add("review:7", "review", "#7")
	a := agency.ReconcileAgenda(agency.Agenda[string]{}, seen, agency.AgendaLimits{})
	for _, line := range agency.AgendaLines(a, func(g agency.Goal[string]) string { return "review " + g.Data }) {
		fmt.Println(line)
	}
	a = agency.ReconcileAgenda(a, agency.Observation[string]{At: "2026-10-07T13:00:00.000Z"}, agency.AgendaLimits{})
	fmt.Println(a.Goals[0].Status)
	// Output:
	// [review:7] review #7 (pursuing since 2026-10-07T12:00:00.000Z)
	// completed
}
