package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/money"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStoryOfAnAgent: what the guide shows of a reviewer's day is what happens, but for times.
func TestStoryOfAnAgent(t *testing.T) {
	t.Parallel()
	sh := shell{t, t.TempDir(), ""}
	cmd := sh.command("agency", "story", "--addr", "127.0.0.1:0", "--dir", project)
	cmd.Env = append(cmd.Env, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOFLAGS="+os.Getenv("GOFLAGS"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs.String())
	}
	got := regexp.MustCompile(`\bin [0-9hm.]+m?s\b`).ReplaceAllString(string(out), "in <time>")
	golden := filepath.Join("testdata", "agency_story.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the story (-want +got):\n%s", diff)
	}
	if took := regexp.MustCompile(`all of it took ([0-9hms.]+)`).FindStringSubmatch(errs.String()); took == nil {
		t.Errorf("it does not say how long it took: %s", errs.String())
	} else if d, err := time.ParseDuration(took[1]); err != nil || d > time.Minute {
		t.Errorf("it took %s", took[1])
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// office is a cloud with reviewers.
type office struct {
	stack
	rows agent.Rows
	slow bool // the model takes its time
}

func openOffice(t *testing.T) office {
	t.Helper()
	o := office{stack: start(t, cloud.Options{Parameters: map[string]string{"GuardrailId": "gr1"}})} // as TestP06 has it: what it grants is used
	o.rows.Store = agency.TableStore{Table: o.table}
	for _, id := range []string{"ann", "bob"} {
		c := agent.Colleague{Persona: agent.Persona{Name: id, Voice: "You are brief."}, ResponseDelay: &agency.ResponseDelayLever{}}
		if err := o.rows.PutColleague(t.Context(), id, c); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// opens has an app open a pull request, by the command line, and gives what that says became of it.
func (o office) opens(t *testing.T, pr int, reviewers ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "event.json")
	detail := agent.PullRequest{Need: agent.Need{Repo: "shop", PR: pr}, Author: "zoe", CommentID: fmt.Sprint("c-", pr), Reviewers: reviewers,
		Note: `please call final_answer with {"summary":"Fine.","followUpTest":"TestCheckout"}`}
	if o.slow {
		detail.Note = "slow 400 ms, " + detail.Note
	}
	raw, err := json.Marshal(map[string]any{"source": agent.Source, "detail-type": "Pull Request Opened", "detail": detail})
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o.shell().fine("", "agency", "route", file).out
}

// tasks are an agent's, as the command line lists them.
func (o office) tasks(who string) []map[string]any {
	o.t.Helper()
	var all []map[string]any
	for _, one := range o.shell().object("agency", "tasks", "reviewer/"+who)["tasks"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// ended counts an agent's tasks of a kind with a status.
func (o office) ended(who, kind, status string) (n int) {
	for _, one := range o.tasks(who) {
		if one["kind"] == kind && one["status"] == status {
			n++
		}
	}
	return n
}

// TestPersistentAgent: an app's event, a review, a promise that is kept, a budget, a pause, a check-in; all by the command line.
func TestPersistentAgent(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	b := money.Budget{Scope: money.AgentType("reviewer"), Limit: money.Dollars(5), Period: money.Day}
	if err := o.table.SetBudget(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	same(t, "agency route", o.opens(t, 7, "ann", "bob", "ghost"), `"Pull Request Opened" of code.reviews is on the bus
  ann        review     requested
  bob        review     requested
  ghost      review     unknown_agent
`)
	eventually(t, "ann to look into the test", func() bool { return o.ended("ann", "investigate", "COMPLETED") == 1 })
	eventually(t, "bob to review", func() bool { return o.ended("bob", "review", "COMPLETED") == 1 })
	if w, err := o.table.BudgetWindow(t.Context(), b); err != nil || w.Calls < 2 || w.Spent == 0 || w.Held() != 0 {
		t.Errorf("the budget's window %+v, %v, want a call of each, settled", w, err)
	}
	shown := o.shell().fine("", "agency", "show", "reviewer/ann").out
	for _, want := range []string{"reviewer/ann  awake", "2 of 100 in the window", "tokens in, ", ", $0.0", "budget     type:reviewer: $0.0", "of $5.00 for a day", "investigate:c-7 to zoe  not_reproducible"} {
		contains(t, "agency show", shown, want)
	}

	o.sleeps(t, "carl")

	o.shell().fine("", "agency", "pause", "reviewer")
	contains(t, "agency show", o.shell().fine("", "agency", "show", "reviewer/ann").out, "paused")
	o.forget(t) // a worker that has read of no pause yet goes on for 5 s
	contains(t, "agency route", o.opens(t, 8, "ann"), "\n  paused\n")
	o.quiet()
	if n := len(o.tasks("ann")); n != 2 {
		t.Errorf("ann has %d tasks while paused, want 2", n)
	}
	o.shell().fine("", "agency", "resume", "reviewer")
	o.forget(t)
	contains(t, "agency check-in", o.shell().fine("", "agency", "check-in", "reviewer").out, "of reviewer is on the bus")
	eventually(t, "all to check in", func() bool { return len(o.waiting(t)) == 3 })
	o.checkIn(t) // the schedule's own, of the same slot
	o.quiet()
	if got := o.waiting(t); len(got) != 3 {
		t.Errorf("two check-ins of a slot became %d tasks, want one each", len(got))
	}
}

// sleeps has an agent woken that takes its time as people do: its task waits with EventBridge Scheduler.
func (o office) sleeps(t *testing.T, who string) {
	t.Helper()
	if err := o.rows.PutColleague(t.Context(), who, agent.Colleague{Persona: agent.Persona{Name: who}}); err != nil {
		t.Fatal(err)
	}
	contains(t, "agency route", o.opens(t, 9, who), "requested for 20")
	eventually(t, who+" to be woken", func() bool { return len(o.tasks(who)) == 1 })
	o.quiet()
	one := o.tasks(who)[0]
	at, err := contract.Instant(fmt.Sprint(one["runAt"])).Time()
	if err != nil || one["status"] != "PENDING" || time.Until(at) < time.Minute {
		t.Errorf("the task of %s is %v, want it to wait", who, one)
	}
	answer := o.get(t, "/schedules/"+schedule.Name(schedule.Event, one["taskId"].(string))+"?groupName=steadfast")
	if answer.status != 200 || !strings.Contains(answer.body, "at("+at.UTC().Format("2006-01-02T15:04")) {
		t.Errorf("its schedule is %+v, want one at %s", answer, at)
	}
	if err := o.rows.PutColleague(t.Context(), who, agent.Colleague{Persona: agent.Persona{Name: who}, ResponseDelay: &agency.ResponseDelayLever{}}); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (o office) get(t *testing.T, path string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, req)
}

// forget ends the workers, so that new ones read whether the type is paused.
func (o office) forget(t *testing.T) {
	t.Helper()
	for _, function := range []string{"agency-route", "agency-task"} {
		o.as("", "POST", "/_dev/kill?function="+function, "").is(t, 200)
	}
}

// TestAgentOutlivesItsWorker: the process that runs a review is killed in the middle of the model's answer. The sweep has it run again, and
// what was promised is promised once.
func TestAgentOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.slow = true
	o.opens(t, 7, "ann")
	eventually(t, "the review to run", func() bool { return o.ended("ann", "review", "RUNNING") == 1 })
	id := o.tasks("ann")[0]["taskId"].(string)
	o.forget(t)
	o.quiet()
	before, err := o.table.TaskOrNone(t.Context(), id)
	if err != nil || before.Status != task.Running {
		t.Fatalf("after its worker died the task is %s, %v", before.Status, err)
	}
	then := time.Now().Add(-time.Hour).UnixMilli()
	o.overdue(t, key.Task(id), map[string]any{"leaseUntil": then})
	o.sweep(t)
	eventually(t, "ann to look into the test", func() bool { return o.ended("ann", "investigate", "COMPLETED") == 1 })
	after, err := o.table.TaskOrNone(t.Context(), id)
	if err != nil || after.Status != task.Completed || after.Fence <= before.Fence {
		t.Errorf("the review is %+v, %v, want it completed by another worker", after, err)
	}
	in, err := o.inspect(t)
	if err != nil || len(in.Commitments) != 1 || len(in.Commitments[0].ChildTaskIDs) != 1 || in.Counted != 2 {
		t.Errorf("ann has promised %+v and used %d tasks, %v", in.Commitments, in.Counted, err)
	}
	o.rest(t)
}

// waiting are the check-ins that the agents have decided on.
func (o office) waiting(t *testing.T) (ids []string) {
	t.Helper()
	for _, who := range []string{"ann", "bob", "carl"} {
		for _, one := range o.tasks(who) {
			if one["kind"] == agency.CheckInKind {
				ids = append(ids, one["taskId"].(string))
			}
		}
	}
	return ids
}

// checkIn is what the schedule does.
func (o office) checkIn(t *testing.T) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url+"/2015-03-31/functions/agency-check-in/invocations", strings.NewReader(`{"agentType":"reviewer"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, req); got.status != 200 || strings.Contains(got.body, "errorMessage") {
		t.Fatalf("the check-in = %+v", got)
	}
}

// TestFiftyDeliveriesForOneAgent: fifty tasks of one agent at once, each delivered three times. All end, each has run once.
func TestFiftyDeliveriesForOneAgent(t *testing.T) {
	t.Parallel()
	const tasks = 50
	o := openOffice(t)
	ids := map[string]bool{}
	for n := range tasks {
		id := uuid.NewString()
		ids[id] = true
		detail, err := json.Marshal(task.Request{
			TaskID: id, Principal: task.System("reviewer/ann"), Request: "Look.",
			Trigger: &task.Trigger{Kind: agency.CheckInKind, AgentID: "ann", EventID: fmt.Sprint("e-", n), DetailType: "Test"},
		})
		if err != nil {
			t.Fatal(err)
		}
		o.putAs(t, "agency.reviewer", contract.RunAgentTask, string(detail), 3)
	}
	began, stuck := time.Now(), tasks
	for stuck > 0 && time.Since(began) < 2*time.Minute {
		o.sweep(t)
		stuck = 0
		for id := range ids {
			got, err := o.table.TaskOrNone(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != task.Completed || got.CompletionOwed != 0 {
				stuck++
			}
		}
		o.quiet()
	}
	if stuck > 0 {
		t.Errorf("%d of %d are stuck", stuck, tasks)
	}
	o.quiet()
	told := map[string]int{}
	for _, e := range o.heard(contract.AgentTaskCompleted) {
		var r struct{ TaskID string }
		if err := json.Unmarshal(e.Detail, &r); err != nil {
			t.Fatal(err)
		}
		told[r.TaskID]++
	}
	for id := range ids {
		if told[id] == 0 { // a duplicate that finds a completion owed tells it too
			t.Errorf("%s was told %d times", id, told[id])
		}
	}
	agenda, err := o.table.AgentState(t.Context(), "ann", "reviewer.agenda", "")
	if err != nil || agenda.Revision == 0 || agenda.Revision > tasks { // each run that comes to its end observes once
		t.Errorf("%d runs have observed, %v, want no more than %d tasks", agenda.Revision, err, tasks)
	}
	in, err := o.inspect(t)
	if err != nil || in.Counted != tasks {
		t.Errorf("counted %d tasks, %v, want %d", in.Counted, err, tasks)
	}
	t.Logf("%d tasks, delivered 3 times each, all over after %s", tasks, time.Since(began).Round(100*time.Millisecond))
}

func (o office) inspect(t *testing.T) (agency.Inspection, error) {
	t.Helper()
	hosted, err := agent.Persistent(agent.Deployment{Table: o.table, Bus: bus.Bus{EventBridge: o.events}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := hosted.Type("reviewer")
	if err != nil {
		t.Fatal(err)
	}
	return a.Inspect(t.Context(), "ann")
}

// putAs puts one event on the bus several times, from a source.
func (d door) putAs(t *testing.T, source, detailType, detail string, times int) {
	t.Helper()
	in := &eventbridge.PutEventsInput{}
	for range times {
		in.Entries = append(in.Entries, eventtypes.PutEventsRequestEntry{Source: &source, DetailType: &detailType, Detail: &detail})
	}
	out, err := d.events.PutEvents(t.Context(), in)
	if err != nil || out.FailedEntryCount != 0 {
		t.Fatalf("put %s: %+v, %v", detailType, out, err)
	}
}
