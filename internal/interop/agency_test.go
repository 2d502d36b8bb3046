package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// services are the table and the bus that both sides share, for what our side does in this process.
func (b bench) services() (store.Table, bus.Bus) {
	at := aws.Config{Region: b.info.Region, BaseEndpoint: &b.info.AWS, Credentials: credentials.NewStaticCredentialsProvider("outside", "secret", "")}
	return store.Table{Name: b.info.Table, DynamoDB: dynamodb.NewFromConfig(at)}, bus.Bus{EventBridge: eventbridge.NewFromConfig(at), Name: b.info.Bus}
}

// colleague adds a reviewer that our functions host.
func (b bench) colleague() (id string) {
	b.t.Helper()
	table, _ := b.services()
	id = "ann-" + uuid.NewString()
	if err := (agent.Rows{Store: agency.TableStore{Table: table}}).PutColleague(b.t.Context(), id, agent.Colleague{Persona: agent.Persona{Name: "Ann"}}); err != nil {
		b.t.Fatal(err)
	}
	return id
}

// runs counts the runs of a reviewer's tasks that came to their end here: each observes once.
func (b bench) runs(who string) int64 {
	b.t.Helper()
	table, _ := b.services()
	agenda, err := table.AgentState(b.t.Context(), who, "reviewer.agenda", "")
	if err != nil {
		b.t.Fatal(err)
	}
	return agenda.Revision
}

// checkInTask is a task for a reviewer in the package's form.
func checkInTask(taskID, agentID string) args {
	return args{
		"taskId": taskID, "principal": args{"type": "system", "id": "reviewer/" + agentID}, "request": `say "done"`,
		"trigger": args{"kind": agency.CheckInKind, "agentId": agentID, "eventId": "e-" + taskID, "detailType": "Test"},
	}
}

// TestTaskForOurAgent: an app of the package's kind puts a task for our agent on the bus, we run it, and the package reads its row and
// its completion.
func TestTaskForOurAgent(t *testing.T) {
	t.Parallel()
	b, id := on(t, segments), uuid.NewString()
	who := b.colleague()
	detail := checkInTask(id, who)
	for range 3 {
		call[string](b, "put", args{"source": "agency.reviewer", "detailType": contract.RunAgentTask, "detail": detail})
	}
	got := b.over(id)
	if got["status"] != "COMPLETED" || got["output"] != "promises open: 0" {
		t.Errorf("the package reads %v", got)
	}
	want := event{"agency.reviewer", map[string]any{
		"taskId": id, "status": "COMPLETED", "output": "promises open: 0", "principal": map[string]any{"type": "system", "id": "reviewer/" + who},
	}}
	for _, told := range b.told(id) { // a duplicate that finds it owed tells it too
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("Agent Task Completed (-want +got):\n%s", diff)
		}
	}
	if n := b.runs(who); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// TestDuplicatesOfAnAgentsTask: hosts of both kinds get one agent's task at once. One of them runs it.
func TestDuplicatesOfAnAgentsTask(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	who, ours := b.colleague(), int64(0)
	for round := range 4 {
		id := fmt.Sprint("both-", round, "-", uuid.NewString())
		detail, builds := checkInTask(id, who), make(chan int)
		for range 3 {
			go func() { builds <- b.builds(detail) }()
			call[string](b, "put", args{"source": "agency.reviewer", "detailType": contract.RunAgentTask, "detail": detail})
		}
		theirs := 0
		for range 3 {
			theirs += <-builds
		}
		got, want := b.over(id), map[int]string{0: "promises open: 0", 1: "done"}
		b.told(id)
		if ours += int64(1 - theirs); got["output"] != want[theirs] || b.runs(who) != ours {
			t.Errorf("%s was run %d times by the package, and is %v; we ran %d of %d tasks, want %d", id, theirs, got, b.runs(who), round+1, ours)
		}
	}
}

// TestTaskOfOurAgentRunByThePackage: our router decides and sends; a host of the package takes the event off the bus and runs it; our
// side reads how it ended, and runs and sends nothing again.
func TestTaskOfOurAgentRunByThePackage(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	table, events := b.services()
	runs := 0
	blogger, err := agency.Define(agency.Definition[string, string, string]{
		Name: "blogger", Table: table, Bus: events, NoResponseDelays: true,
		Profile: func(context.Context, string) (agency.Profile[string], error) { return agency.Profile[string]{}, nil },
		Rules: []agency.Rule{agency.On("Post Published", "share", func(_ context.Context, e agency.Event[struct{ Author string }]) (agency.Wake, error) {
			return agency.Wake{Agents: []string{e.Detail.Author}, Request: `say "shared"`, Payload: e.Detail}, nil
		})},
		Tasks: map[string]func(*agency.Context[string, string, string]) (string, error){
			"share": func(*agency.Context[string, string, string]) (string, error) { runs++; return "ours", nil },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	event := contract.RawEvent{ID: uuid.NewString(), Source: "blog", DetailType: "Post Published", Detail: json.RawMessage(`{"Author":"eve"}`)}
	made, err := blogger.Route(t.Context(), event)
	if err != nil || len(made) != 1 || made[0].Decision != agency.Requested {
		t.Fatalf("Route = %+v, %v", made, err)
	}
	id := made[0].TaskID
	detail := b.asked("agency.blogger", id)
	run := maps.Clone(detail)
	run["sessionId"] = "blogger-eve" // the package takes no dot in a session's id
	if got := call[delivered](b, "run", run); got.Builds != 1 || got.Result["status"] != "COMPLETED" {
		t.Fatalf("the package's run = %+v", got)
	}
	got, err := table.Task(t.Context(), id)
	if err != nil || got.Status != task.Completed || got.Output != "shared" || got.Principal != task.System("blogger/eve") {
		t.Errorf("we read %+v, %v", got, err)
	}
	if told := b.told(id); len(told) != 1 || told[0].Detail["output"] != "shared" {
		t.Errorf("the package told %v", told)
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		t.Fatal(err)
	}
	again, err := blogger.HandleTask(t.Context(), contract.RawEvent{ID: "d-2", Source: "agency.blogger", DetailType: contract.RunAgentTask, Detail: raw})
	if err != nil || again.Status != task.Completed || again.Output != "shared" || runs != 0 {
		t.Errorf("our delivery of it = %+v, %v, after %d runs", again, err, runs)
	}
	if made, err := blogger.Route(t.Context(), event); err != nil || made[0].Decision != agency.AlreadyDispatched {
		t.Errorf("the event again: %+v, %v", made, err)
	}
	b.sweep()
	b.quiet()
	if told := b.completions(id); len(told) != 1 {
		t.Errorf("told %d times after the sweep", len(told))
	}
}

// asked waits for a task on the bus and gives its detail.
func (b bench) asked(source, taskID string) (detail args) {
	b.t.Helper()
	eventually(b.t, "the task "+taskID+" on the bus", func() bool {
		path := "/_dev/events?detailType=" + url.QueryEscape(contract.RunAgentTask)
		for _, e := range decode[[]event](b.t, b.http("GET", path, "", "", 200)) {
			if e.Source == source && e.Detail["taskId"] == taskID {
				detail = e.Detail
			}
		}
		return detail != nil
	})
	return detail
}
