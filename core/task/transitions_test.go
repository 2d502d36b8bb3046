package task_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/transitions.txt: a change of it is a change of the rules")

// TestEveryStateAndEvent shows what every event does in every state: what it changes, "-" when the rules make no change of it, or
// "refused" when the table refuses the change.
func TestEveryStateAndEvent(t *testing.T) {
	var b strings.Builder
	for _, s := range states() {
		fmt.Fprintf(&b, "%s\n", s.name)
		for _, e := range events() {
			fmt.Fprintf(&b, "    %-27s %s\n", e.name, outcome(t, s, e))
		}
	}
	const golden = "testdata/transitions.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
}

// begins reports whether an event may be the first that is heard of a task.
func begins(e event) bool {
	for _, b := range beginnings() {
		if b.name == e.name {
			return true
		}
	}
	return false
}

func outcome(t *testing.T, s state, e event) string {
	c, ok := e.do(s.Task)
	if !ok || s.Status == "" && !begins(e) {
		return "-"
	}
	after, accepted := written(s.Task, c)
	if want := e.allowed(s.Task, s.Task); accepted != want {
		t.Errorf("%s, %s: accepted %v, the protocol says %v", s.name, e.name, accepted, want)
	}
	if !accepted {
		return "refused"
	}
	if diff := cmp.Diff(c.To, after, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s, %s is not what was written (-want +got):\n%s", s.name, e.name, diff)
	}
	return changes(s.Task, after)
}

// drawTask draws any record the protocol allows, with small numbers so that they often meet.
func drawTask(t *rapid.T) task.Task {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	number := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
	status := task.Status(pick("status", "PENDING", "RUNNING", "RUNNING", "RUNNING", "COMPLETED", "FAILED", "FAILED"))
	r := task.Task{TaskID: "t", Status: status, Principal: request.Principal, Request: "do it", CreatedAt: ms(-time.Hour), ExpiresAt: now.Add(time.Hour).Unix()}
	r.Fence, r.Attempt, r.Rejects = number("fence", 0, 2), number("attempt", 0, 2), number("rejects", 0, 9)
	r.LastDelivery = pick("lastDelivery", "", "d1", "d2")
	r.FailedBy = [][]string{nil, {"d1"}, {"d1", "d2"}, {"d2"}}[number("failedBy", 0, 3)]
	switch status {
	case task.Running:
		r.Fence = max(r.Fence, 1)
		if rapid.Bool().Draw(t, "bound") {
			r.Session, r.Turn = pick("session", "s1", "s2"), number("turn", 0, 1)
			break
		}
		r.Owner = pick("owner", "me", "other")
		r.LeaseUntil = ms(rapid.SampledFrom([]time.Duration{-time.Hour, -5001 * time.Millisecond, -5 * time.Second, 0, time.Minute}).Draw(t, "lease"))
	case task.Failed:
		r.Error = "boom"
		switch pick("end", "owed", "told", "retryable", "cancelled") {
		case "owed":
			r.CompletionOwed = max(r.Fence, 1)
		case "retryable":
			r.Retryable = true
		case "cancelled":
			r.Cancelled = true
		}
	case task.Completed:
		r.Output, r.CompletionOwed = "out", number("owed", 0, 1)
	}
	if rapid.Bool().Draw(t, "due") {
		r = due(r, time.Minute)
	}
	return r
}

func drawRow(t *rapid.T, read task.Task) task.Task {
	switch rapid.IntRange(0, 3).Draw(t, "row") {
	case 0:
		return read
	case 1:
		return task.Task{}
	case 2:
		return drawTask(t)
	}
	row := read
	other := drawTask(t)
	to, from := reflect.ValueOf(&row).Elem(), reflect.ValueOf(other)
	for _, field := range rapid.SliceOfN(rapid.IntRange(0, to.NumField()-1), 1, 8).Draw(t, "moved") {
		to.Field(field).Set(from.Field(field))
	}
	if row.Status == "" {
		return task.Task{}
	}
	row.TaskID = "t"
	if row.Owner == "" {
		row.LeaseUntil = 0
	}
	if row.Turn != 0 && row.Session == "" {
		row.Turn = 0
	}
	return row
}

// merged is the row after a change: what the change differs in, over what the row was.
func merged(row task.Task, c task.Change) task.Task {
	from, to, out := reflect.ValueOf(c.From), reflect.ValueOf(c.To), reflect.ValueOf(&row).Elem()
	for i := range out.NumField() {
		if !reflect.DeepEqual(from.Field(i).Interface(), to.Field(i).Interface()) {
			out.Field(i).Set(to.Field(i))
		}
	}
	if c.To.DueSK != c.From.DueSK { // the two keys of the index go together
		row.DuePK = c.To.DuePK
	}
	return row
}

// TestGuardsAgreeWithTheProtocol writes every change over rows that are as they were read or have moved: the table takes it if and
// only if the protocol allows it, and then only what the change differs in is written.
func TestGuardsAgreeWithTheProtocol(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 3 { // enough that each change is met both ways, whatever the dice say
			read := drawTask(t)
			if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
				read = task.Task{}
			}
			for range 3 {
				row := drawRow(t, read)
				for _, e := range events() {
					if accepted, ok := guarded(t, e, read, row); ok {
						seen[fmt.Sprintf("%s %v", e.name, accepted)]++
					}
				}
			}
		}
	})
	for _, e := range events() {
		if seen[e.name+" true"] == 0 || seen[e.name+" false"] == 0 {
			t.Errorf("%s: accepted %d times, refused %d: the test says nothing", e.name, seen[e.name+" true"], seen[e.name+" false"])
		}
	}
}

// guarded writes the change that e makes of what was read over the row. ok is false when e makes none.
func guarded(t *rapid.T, e event, read, row task.Task) (accepted, ok bool) {
	if read.Status == "" && !begins(e) {
		return false, false
	}
	c, ok := e.do(read)
	if !ok {
		return false, false
	}
	after, accepted := written(row, c)
	if want := e.allowed(row, read); accepted != want {
		t.Fatalf("%s: accepted %v, the protocol says %v\nread %+v\nrow  %+v", e.name, accepted, want, read, row)
	}
	expected := row
	if accepted {
		expected = merged(row, c)
	}
	if diff := cmp.Diff(expected, after, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s, accepted %v, the row (-want +got):\n%s", e.name, accepted, diff)
	}
	return accepted, true
}

func TestPredicatesAgreeWithTheProtocol(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawTask(t)
		for _, d := range []string{"d1", "d2", "d3"} {
			if got, want := r.Claimable(d, now), claimable(r, d); got != want {
				t.Errorf("Claimable(%s) = %v, want %v: %+v", d, got, want, r)
			}
		}
		if _, ok := r.Cancel(now); ok != cancellable(r) {
			t.Errorf("Cancel = %v, want %v: %+v", ok, cancellable(r), r)
		}
		if r.Final() != (r.Status == task.Completed || r.Status == task.Failed && !r.Retryable) {
			t.Errorf("Final = %v: %+v", r.Final(), r)
		}
	})
}

// What the sweep writes is taken by the row as it was read and by no row whose due time has moved; a debt stays due.
func TestSweepIsConditionalOnTheDueTime(t *testing.T) {
	remedies := map[task.Remedy]int{}
	rapid.Check(t, func(t *rapid.T) {
		r := drawTask(t)
		// Each remedy is drawn on purpose: by chance alone a run may miss one.
		switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); kind {
		case 0, 1, 2:
			r.DuePK, r.DueSK = key.DuePK(key.TaskPK(r.TaskID)), key.DueSK(ms(-time.Minute))
			r.Status, r.CompletionOwed, r.Rejects = task.Pending, 0, []int64{0, task.MaxAttempts, 0}[kind]
			if kind == 2 {
				r.Status, r.Retryable, r.CompletionOwed = task.Failed, false, 1
			}
		case 3:
			r.DuePK, r.DueSK = "", ""
		}
		remedy, c := r.Sweep(now, 2*time.Minute)
		remedies[remedy]++
		if c.To.TaskID == "" {
			if r.DueSK != "" || remedy != task.LeaveAlone {
				t.Fatalf("%s without a change: %+v", remedy, r)
			}
			return
		}
		after, accepted := written(r, c)
		if diff := cmp.Diff(c.To, after, cmpopts.EquateEmpty()); diff != "" || !accepted {
			t.Fatalf("%s is refused by the row as read, or something else is written (-want +got):\n%s", remedy, diff)
		}
		moved := r
		moved.DueSK = key.DueSK(ms(3 * time.Minute))
		if _, accepted := written(moved, c); accepted {
			t.Fatalf("%s is taken by a row whose due time has moved", remedy)
		}
		owes := r.CompletionOwed != 0 || exhaustible(r) || r.Owner != ""
		if (after.DueSK != "") != owes {
			t.Fatalf("%s leaves the due time %q of a task that owes %v: %+v", remedy, after.DueSK, owes, r)
		}
	})
	for _, r := range []task.Remedy{task.LeaveAlone, task.Announce, task.Resend, task.GiveUp} {
		if remedies[r] == 0 {
			t.Errorf("no task was to %s: the test says nothing", r)
		}
	}
}
