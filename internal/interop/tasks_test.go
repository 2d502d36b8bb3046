package interop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// system is the principal of these tests.
var system = map[string]any{"type": "system", "id": "blog"}

// over reads a task through the package until it has ended.
func (b bench) over(taskID string) map[string]any {
	b.t.Helper()
	var got map[string]any
	eventually(b.t, "task "+taskID+" to end", func() bool {
		got = call[map[string]any](b, "getTask", args{"taskId": taskID})
		return got["status"] == "COMPLETED" || got["status"] == "FAILED"
	})
	return got
}

// told waits for the completion of a task and, when nothing is under way any more, gives all of them.
func (b bench) told(taskID string) []event {
	b.t.Helper()
	eventually(b.t, "the completion of "+taskID, func() bool { return len(b.completions(taskID)) > 0 })
	b.quiet()
	return b.completions(taskID)
}

// turns counts the turns that our side has run for a task.
func (b bench) turns(taskID string) int {
	b.t.Helper()
	n := 0
	for _, row := range b.rows("SESSION#task-" + taskID) {
		n += strings.Count(fmt.Sprint(row), "turn.started")
	}
	return n
}

// delivered is what one delivery to a host of the package came to.
type delivered struct {
	Result map[string]any
	Builds int
}

// TestTaskOfThePackage: the package asks for a task, we run it, the package reads its row and hears of its end.
func TestTaskOfThePackage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, request, status, field, want string }{
		{"completes", "call get_current_time", "COMPLETED", "output", "get_current_time answered: "},
		{"fails", "fail ValidationException", "FAILED", "error", "refused the request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := on(t, segments)
			id := call[map[string]string](b, "requestAgentTask", args{"principal": system, "request": tt.request})["taskId"]
			got := b.over(id)
			result, _ := got[tt.field].(string)
			contains(t, tt.field, result, tt.want)
			if created, updated := got["createdAt"].(float64), got["updatedAt"].(float64); created < 1e12 || updated < created {
				t.Errorf("created at %v, updated at %v, want ms", created, updated)
			}
			delete(got, "createdAt")
			delete(got, "updatedAt")
			row := map[string]any{"taskId": id, "status": tt.status, "principal": system, "request": tt.request, tt.field: result}
			if diff := cmp.Diff(row, got); diff != "" {
				t.Errorf("the package reads (-want +got):\n%s", diff)
			}
			want := []event{{"readysetcloud.agent", map[string]any{"taskId": id, "status": tt.status, tt.field: result, "principal": system}}}
			if diff := cmp.Diff(want, b.told(id)); diff != "" {
				t.Errorf("Agent Task Completed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTaskInASessionOfThePackage runs in the conversation that it names.
func TestTaskInASessionOfThePackage(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	user := map[string]any{"type": "user", "id": b.sub("ada")}
	session := call[map[string]any](b, "createSession", args{"userId": user["id"], "systemPrompt": "Be terse."})["sessionId"].(string)
	b.say(session, "my name is Ada")
	ask := args{"principal": user, "request": "what is my name?", "sessionId": session}
	got := b.over(call[map[string]string](b, "requestAgentTask", ask)["taskId"])
	if got["output"] != "Your name is Ada." || got["sessionId"] != session {
		t.Errorf("task = %v", got)
	}
	ask["principal"] = map[string]any{"type": "user", "id": "somebody"}
	if got := b.over(call[map[string]string](b, "requestAgentTask", ask)["taskId"]); got["status"] != "FAILED" || got["error"] != "not your session" {
		t.Errorf("somebody else's task = %v", got)
	}
}

// TestTaskRunByThePackage: our API shows what a host of the package has made of a task, whatever it wrote first.
func TestTaskRunByThePackage(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	user := map[string]any{"type": "user", "id": b.sub("ada")}
	id := call[map[string]any](b, "createTask", args{"principal": user, "request": "say \"done\""})["taskId"].(string)
	if got := b.as("ada", "GET", "/agent/tasks/"+id, "", 200); got["status"] != "PENDING" {
		t.Errorf("our API shows %v", got)
	}
	for _, tt := range []struct{ name, id, fail, status, field, want string }{
		{"created before", id, "", "COMPLETED", "output", "done"},
		{"claimed first", uuid.NewString(), "", "COMPLETED", "output", "done"},
		{"failed", uuid.NewString(), "no luck", "FAILED", "error", "no luck"},
	} {
		run := args{"taskId": tt.id, "principal": user, "request": "say \"done\"", "fail": tt.fail}
		if got := call[delivered](b, "run", run); got.Builds != 1 || got.Result["status"] != tt.status {
			t.Fatalf("%s: the package's run = %+v", tt.name, got)
		}
		want := map[string]any{"taskId": tt.id, "status": tt.status, tt.field: tt.want}
		if diff := cmp.Diff(want, b.as("ada", "GET", "/agent/tasks/"+tt.id, "", 200)); diff != "" {
			t.Errorf("%s: our API shows (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestDuplicatesOverBothSides: deliveries of one task go to hosts of both kinds at once. It runs once, and is told once.
func TestDuplicatesOverBothSides(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	for _, tt := range []struct{ name, request, first string }{
		{"at once", `say "done"`, ""},
		{"the package first", `say 20 words slow 20 ms`, "package"},
		{"we first", `say 20 words slow 20 ms`, "ours"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := bench{b.pair, t}
			for round := range 4 {
				b.duplicates(fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(tt.name, " ", "-"), round, uuid.NewString()), tt.request, tt.first)
			}
		})
	}
}

// duplicates delivers a task eleven times, to both sides, and looks at what came of it.
func (b bench) duplicates(id, request, first string) {
	b.t.Helper()
	detail := args{"taskId": id, "principal": system, "request": request}
	builds := make(chan int)
	deliverTheirs := func() { go func() { builds <- b.builds(detail) }() }
	switch first {
	case "package":
		deliverTheirs()
		eventually(b.t, "the package to claim it", func() bool { return b.rows("TASK#" + id)["STATUS"] != nil })
	case "ours":
		call[any](b, "requestAgentTask", detail)
		eventually(b.t, "us to claim it", func() bool { return b.rows("TASK#" + id)["STATUS"] != nil })
	default:
		deliverTheirs()
	}
	for range 5 {
		deliverTheirs()
		call[any](b, "requestAgentTask", detail)
	}
	theirs, deliveries := 0, 6
	if first == "ours" {
		deliveries = 5
	}
	for range deliveries {
		theirs += <-builds
	}
	b.over(id)
	told := b.told(id)
	b.sweep()
	b.quiet()
	ours := b.turns(id)
	b.t.Logf("11 deliveries: run %d times by the package, %d times by us", theirs, ours)
	if theirs+ours != 1 || first == "package" && theirs != 1 || first == "ours" && ours != 1 {
		b.t.Errorf("%s ran %d times by the package and %d times by us", id, theirs, ours)
	}
	if all := b.completions(id); len(all) != 1 || len(told) != 1 {
		b.t.Errorf("%s was told of %d times: %v", id, len(all), all)
	}
	if row := b.rows("TASK#" + id)["STATUS"]; row["status"] != "COMPLETED" {
		b.t.Errorf("%s ended as %v", id, row)
	}
}

// builds delivers a task to a host of the package and tells how often it ran it. It may be called beside the test.
func (b bench) builds(detail args) int {
	raw, err := b.node.call("run", detail)
	var got delivered
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil {
		b.t.Errorf("the package's run of %s: %v", detail["taskId"], err)
	}
	return got.Builds
}

// TestClaimOfThePackage: what a host of the package has claimed is left to it, however long it takes.
func TestClaimOfThePackage(t *testing.T) {
	t.Parallel()
	b, id := on(t, segments), uuid.NewString()
	detail := args{"taskId": id, "principal": system, "request": `say "done"`}
	if got := call[map[string]any](b, "startTask", detail); got["claimed"] != true {
		t.Fatalf("the package's claim = %v", got)
	}
	for range 3 {
		call[any](b, "requestAgentTask", detail)
	}
	b.quiet()
	b.sweep()
	b.quiet()
	if row, n := b.rows("TASK#" + id)["STATUS"], b.turns(id); row["status"] != "RUNNING" || n != 0 {
		t.Errorf("after our deliveries %v, and %d turns of ours", row, n)
	}
	call[any](b, "finishTask", args{"taskId": id, "status": "COMPLETED", "output": "theirs"})
	if got := b.over(id); got["output"] != "theirs" {
		t.Errorf("task = %v", got)
	}
}

// TestRetryByTheOtherSide: a task that failed on one side is run by the other, once, and what the first left in the row does
// not disturb it.
func TestRetryByTheOtherSide(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	t.Run("ours failed", func(t *testing.T) {
		t.Parallel()
		b := bench{b.pair, t}
		id := call[map[string]string](b, "requestAgentTask", args{"principal": system, "request": "fail ValidationException"})["taskId"]
		b.told(id)
		run := call[delivered](b, "run", args{"taskId": id, "principal": system, "request": `say "done"`})
		if run.Builds != 1 {
			t.Fatalf("the package's run = %+v", run)
		}
		b.left(id, run.Result["status"].(string), 2)
	})
	t.Run("the package's failed", func(t *testing.T) {
		t.Parallel()
		b := bench{b.pair, t}
		id := uuid.NewString()
		call[delivered](b, "run", args{"taskId": id, "principal": system, "request": `say "done"`, "fail": "no luck"})
		call[any](b, "requestAgentTask", args{"taskId": id, "principal": system, "request": `say "done"`})
		eventually(t, "us to run it", func() bool { return b.over(id)["status"] == "COMPLETED" })
		if got := b.over(id); got["output"] != "done" || got["error"] != nil {
			t.Errorf("task = %v", got)
		}
		b.left(id, "COMPLETED", 2)
	})
}

// left checks what a task ended as, how often its ends were told, and that nothing is owed any more.
func (b bench) left(id, status string, told int) {
	b.t.Helper()
	eventually(b.t, "the completions to be told", func() bool { return len(b.completions(id)) >= told })
	b.sweep()
	b.quiet()
	if got := b.completions(id); len(got) != told || got[told-1].Detail["status"] != status {
		b.t.Errorf("%s was told of as %v, want %d times, %s last", id, got, told, status)
	}
	if row := b.rows("TASK#" + id)["STATUS"]; row["status"] != status || row["duePk"] != nil || row["completionOwed"] != nil {
		b.t.Errorf("%s was left as %v, want %s with nothing owed", id, row, status)
	}
}
