package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// desk is a reviewer in memory, with a clock that stands still and tasks that run as soon as they are sent.
type desk struct {
	t      *testing.T
	now    time.Time
	store  *agency.MemoryStore
	rows   agent.Rows
	model  *fake.Model
	agent  *agency.Agent
	sent   []agency.AgentTask
	ended  []string
	events int
}

func newDesk(t *testing.T, answer agent.Review) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 1, 5, 15, 0, 0, 0, time.UTC), store: &agency.MemoryStore{}}
	d.store.Now = func() time.Time { return d.now }
	d.rows = agent.Rows{Store: d.store}
	d.model = &fake.Model{Answer: func(model.Request) fake.Turn { return fake.Calls("", call(t, answer)) }}
	hosted, err := agent.Persistent(agent.Deployment{
		Store: d.store, Now: d.store.Now, Model: d.model,
		Dispatch: agency.DispatchFunc(func(_ context.Context, a agency.AgentTask) error { d.sent = append(d.sent, a); return nil }),
		Complete: func(_ context.Context, c agency.Completion) error {
			d.ended = append(d.ended, fmt.Sprintf("%s %s %s: %s", c.AgentID, c.Kind, c.Task.Status, c.Task.Output+c.Task.Error))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.agent, err = hosted.Type("reviewer"); err != nil {
		t.Fatal(err)
	}
	d.fine(d.rows.PutColleague(t.Context(), "ann", agent.Colleague{Persona: agent.Persona{Name: "Ann", Voice: "You are kind."}, CooldownMinutes: 15}))
	return d
}

func call(t *testing.T, answer agent.Review) model.ToolUse {
	t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return model.ToolUse{ID: "tu-1", Name: loop.AnswerTool, Input: raw}
}

func (d *desk) fine(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func pull(pr int) agent.PullRequest {
	return agent.PullRequest{Need: agent.Need{Repo: "shop", PR: pr}, Author: "zoe", CommentID: fmt.Sprint("c-", pr), Reviewers: []string{"ann", "stranger"}}
}

// opens has zoe open a pull request.
func (d *desk) opens(pr agent.PullRequest) []agency.Decision {
	d.t.Helper()
	d.fine(d.rows.PutPull(d.t.Context(), agent.PullRow{PullRequest: pr}))
	return d.routes("Pull Request Opened", agent.Source, pr)
}

func (d *desk) routes(detailType, source string, detail any) []agency.Decision {
	d.t.Helper()
	raw, err := json.Marshal(detail)
	d.fine(err)
	d.events++
	made, err := d.agent.Route(d.t.Context(), contract.RawEvent{ID: fmt.Sprint("evt-", d.events), Source: source, DetailType: detailType, Detail: raw})
	d.fine(err)
	return made
}

// work runs what was sent, in time, until nothing is left.
func (d *desk) work() {
	d.t.Helper()
	for len(d.sent) > 0 {
		a := d.sent[0]
		d.sent = d.sent[1:]
		if a.RunAt.After(d.now) {
			d.now = a.RunAt
		}
		_, err := d.agent.Deliver(d.t.Context(), a.TaskRequest(), "")
		d.fine(err)
	}
}

func (d *desk) checkIn() {
	d.t.Helper()
	e, err := d.agent.CheckInEvent(d.now)
	d.fine(err)
	d.routes(e.DetailType, d.agent.Source(), e.Detail)
	d.work()
}

func (d *desk) promise() agency.Commitment[json.RawMessage] {
	d.t.Helper()
	in, err := d.agent.Inspect(d.t.Context(), "ann")
	d.fine(err)
	if len(in.Commitments) != 1 {
		d.t.Fatalf("Ann has %d promises, want one", len(in.Commitments))
	}
	return in.Commitments[0]
}

func (d *desk) goals() (all []string) {
	d.t.Helper()
	in, err := d.agent.Inspect(d.t.Context(), "ann")
	d.fine(err)
	for _, g := range in.Agenda.Goals {
		all = append(all, g.ID+" "+string(g.Status))
	}
	return all
}

// A review in its own time, a promise kept with a fix, a check-in that finds the fix merged.
func TestReviewerKeepsItsPromise(t *testing.T) {
	d := newDesk(t, agent.Review{Summary: "Fine.", FollowUpTest: "TestCheckout"})
	const fix = "https://example.com/9"
	d.fine(d.rows.PutFlake(t.Context(), "TestCheckout", agent.FlakeRow{Finding: agent.Finding{Fixed: true, PRURL: fix, Summary: "Fixed."}}))
	d.fine(d.rows.PutPull(t.Context(), agent.PullRow{PullRequest: pull(8)}))
	made := d.opens(pull(7))
	if len(made) != 2 || made[0].Decision != agency.Requested || made[0].Delay < time.Minute || made[1].Decision != agency.UnknownAgent {
		t.Errorf("decisions %+v, want Ann later and nobody else", made)
	}
	d.work()
	if c := d.promise(); c.Status != agency.CommitmentWaiting || c.Counterpart != "zoe" || c.ExternalRef == nil || *c.ExternalRef != fix {
		t.Errorf("the promise %+v, want it to wait for the fix", c)
	}
	if diff := cmp.Diff([]string{"review:shop#8 active"}, d.goals()); diff != "" {
		t.Errorf("goals (-want +got):\n%s", diff)
	}
	d.checkIn()
	if c := d.promise(); c.Status != agency.CommitmentWaiting {
		t.Errorf("before it is merged the promise is %s", c.Status)
	}
	d.fine(d.rows.PutPull(t.Context(), agent.PullRow{PullRequest: pull(9), URL: fix, Merged: true, Closed: true}))
	d.fine(d.rows.PutPull(t.Context(), agent.PullRow{PullRequest: pull(8), Closed: true}))
	d.now = d.now.Add(24 * time.Hour)
	d.checkIn()
	if c := d.promise(); c.Status != agency.CommitmentFulfilled {
		t.Errorf("the promise is %s, want it kept", c.Status)
	}
	if goals := d.goals(); !slices.Contains(goals, "review:shop#8 completed") {
		t.Errorf("goals %q, want #8 completed", goals)
	}
	want := []string{"ann review COMPLETED: Fine.", "ann investigate COMPLETED: Fixed.", "ann check_in COMPLETED: promises open: 1", "ann check_in COMPLETED: promises open: 0"}
	if diff := cmp.Diff(want, d.ended); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// What could not be reproduced is looked into again when it fails again.
func TestReviewerLooksAgain(t *testing.T) {
	d := newDesk(t, agent.Review{Summary: "Fine.", FollowUpTest: "TestCheckout"})
	d.opens(pull(7))
	d.work()
	if c := d.promise(); c.Status != agency.CommitmentDeclined || c.NextReviewAt == nil {
		t.Fatalf("the promise %+v, want it declined for now", c)
	}
	d.now = d.now.Add(13 * time.Hour)
	d.checkIn()
	if c := d.promise(); c.Reconsiderations != 0 {
		t.Error("reconsidered although nothing failed again")
	}
	d.fine(d.rows.PutFlake(t.Context(), "TestCheckout", agent.FlakeRow{Again: true, Finding: agent.Finding{Fixed: true, PRURL: "https://example.com/9", Summary: "Fixed."}}))
	d.now = d.now.Add(12 * time.Hour)
	d.checkIn()
	if c := d.promise(); c.Reconsiderations != 1 || c.Status != agency.CommitmentWaiting || len(c.ChildTaskIDs) != 2 {
		t.Errorf("the promise %+v, want it looked into once more", c)
	}
}

// Who has promised enough says so, and does not say what nobody will keep.
func TestReviewerPromisesNoMoreThanItKeeps(t *testing.T) {
	d := newDesk(t, agent.Review{Summary: "Fine.", FollowUpTest: "TestCheckout"})
	d.fine(d.rows.PutFlake(t.Context(), "TestCheckout", agent.FlakeRow{Finding: agent.Finding{Fixed: true, PRURL: "https://example.com/9", Summary: "Fixed."}}))
	d.opens(pull(7))
	d.work() // waits for the fix to be merged: still open
	d.model.Answer = func(model.Request) fake.Turn {
		return fake.Calls("", call(t, agent.Review{Summary: "Good.", FollowUpTest: "TestCart"}))
	}
	d.now = d.now.Add(time.Hour)
	d.opens(pull(8))
	d.work()
	want := []string{
		"ann review COMPLETED: Fine.", "ann investigate COMPLETED: Fixed.",
		"ann review COMPLETED: Good.\n\nI cannot look into TestCart: I have promised enough for now.",
	}
	if diff := cmp.Diff(want, d.ended); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	d.promise() // one it is
}

// The first review of a task stands, however often it is posted, and the model sees who it is and what waits.
func TestReviewOnce(t *testing.T) {
	d := newDesk(t, agent.Review{Summary: "Fine."})
	d.opens(pull(7))
	d.work()
	d.fine(d.rows.PostReview(t.Context(), "again", "ann", pull(7), "Other."))
	if open, err := d.rows.OpenReviews(t.Context(), "ann"); err != nil || len(open) != 0 {
		t.Errorf("open reviews %v, %v, want none", open, err)
	}
	asked := d.model.Requests()
	if len(asked) != 1 || asked[0].AnswerTool != loop.AnswerTool {
		t.Fatalf("%d requests, want one for a review", len(asked))
	}
	for _, tool := range agent.Rows.ReviewTools(d.rows, pull(7)) {
		if tool.Spec().Name != "read_reviews" || !tool.Spec().ReadOnly {
			t.Errorf("tool %+v", tool.Spec())
		}
	}
}

// A model that does not answer in form, and an App that is down, fail the task or have it tried again.
func TestReviewerFails(t *testing.T) {
	d := newDesk(t, agent.Review{})
	d.model.Answer = func(model.Request) fake.Turn { return fake.Say("no") }
	d.opens(pull(7))
	d.work()
	if len(d.ended) != 1 || d.ended[0][:18] != "ann review FAILED:" {
		t.Errorf("tasks %q, want the review failed", d.ended)
	}
	if _, err := d.rows.Profile(t.Context(), "nobody"); !errors.Is(err, agency.ErrUnknownAgent) {
		t.Errorf("a stranger's profile: %v", err)
	}
}
