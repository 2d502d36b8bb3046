package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Reviewer is a persistent agent that reviews pull requests: an example to read, to run, and to start your own from. It promises to
// look into what the review left open, keeps its promises, and looks after them at its check-ins.
type Reviewer struct {
	App   App        // its own world: people, pull requests, flaky tests
	Model loop.Model // writes the reviews
	// Meter, if set, puts the model under the budgets of the scopes it is called with.
	Meter func(m loop.Model, scopes ...string) loop.Model
	Log   *slog.Logger // nil: discard
}

// App is what the reviewer needs of the application that it works for. Reads are authoritative; writes are safe to repeat.
type App interface {
	// Profile tells who a reviewer is and how it paces itself; agency.ErrUnknownAgent if it is none.
	Profile(ctx context.Context, agentID string) (agency.Profile[Persona], error)
	// ReviewerIDs are all reviewers.
	ReviewerIDs(ctx context.Context) ([]string, error)
	// ReviewTools are what a review may look at.
	ReviewTools(pr PullRequest) tool.Registry
	// PostReview records a review; the task's id makes it idempotent.
	PostReview(ctx context.Context, taskID, agentID string, pr PullRequest, summary string) error
	// Investigate looks into a test that somebody found flaky.
	Investigate(ctx context.Context, test string) (Finding, error)
	// Flakes are the tests that failed again since they were looked into.
	Flakes(ctx context.Context) (map[string]bool, error)
	// Merged reports whether a proposed fix was taken.
	Merged(ctx context.Context, url string) (bool, error)
	// OpenReviews are the reviews that a reviewer still owes.
	OpenReviews(ctx context.Context, agentID string) ([]Need, error)
}

// Persona is who a reviewer is to a reader.
type Persona struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
}

// Need is a review that is owed.
type Need struct {
	Repo string `json:"repo"`
	PR   int    `json:"pr"`
}

// Intent is what a promise is about.
type Intent struct {
	Test string `json:"test"`
}

// PullRequest is the detail of "Pull Request Opened".
type PullRequest struct {
	Need
	Author    string    `json:"author"`
	Note      string    `json:"note"` // what the author says about it
	CommentID string    `json:"commentId"`
	Reviewers []string  `json:"reviewers"`
	DueAt     time.Time `json:"dueAt,omitzero"`
}

// Review is what the model answers with.
type Review struct {
	Summary      string `json:"summary"`
	FollowUpTest string `json:"followUpTest,omitempty" jsonschema:"a test worth a closer look, if any"`
}

// Finding is what came of looking into a test.
type Finding struct {
	Fixed   bool   `json:"fixed"`
	PRURL   string `json:"prUrl,omitempty"` // of the fix
	Summary string `json:"summary"`
}

// Ctx is what the reviewer's handlers get.
type Ctx = agency.Context[Persona, Need, Intent]

// Source is the source of the events that wake the reviewer.
const Source = "code.reviews"

// Define makes the agent type.
func (r Reviewer) Define(d Deployment) (*agency.Agent, error) {
	return agency.Define(agency.Definition[Persona, Need, Intent]{
		Name: "reviewer", Table: d.Table, Bus: d.Bus, Store: d.Store, Later: d.Later, Dispatch: d.Dispatch, Complete: d.Complete, Now: d.Now, Log: d.Log, Budget: d.Budget,
		Profile: r.App.Profile,
		Sources: []string{Source},
		Rules:   []agency.Rule{agency.On("Pull Request Opened", "review", r.opened)},
		CheckIn: &agency.CheckIn{Agents: r.App.ReviewerIDs}, // 9:00, 14:00, 20:00 in New York
		Tasks: map[string]func(*Ctx) (string, error){
			"review": agency.WithPayload(r.review), "investigate": agency.WithCommitment(r.investigate), agency.CheckInKind: r.checkIn,
		},
		Observe: r.observe,
	})
}

// opened has every reviewer of a new pull request review it, each in its own time.
func (r Reviewer) opened(_ context.Context, e agency.Event[PullRequest]) (agency.Wake, error) {
	return agency.Wake{
		Agents: e.Detail.Reviewers, Payload: e.Detail,
		Delay:   agency.HumanDelay(agency.ConsideredDelay, e.Detail.DueAt),
		Request: fmt.Sprintf("Review pull request #%d in %s.", e.Detail.PR, e.Detail.Repo),
	}, nil
}

// review reviews, promises to look into what it could not settle, and says both: no promise is said that is not recorded.
func (r Reviewer) review(ctx *Ctx, pr PullRequest) (string, error) {
	review, err := r.ask(ctx, pr)
	if err != nil {
		return "", err
	}
	if review.FollowUpTest != "" {
		made, err := ctx.Promise(agency.Promise[Intent]{ // "I'll look into that flaky test"
			Kind: "investigate", Counterpart: pr.Author, Intent: Intent{Test: review.FollowUpTest},
			Source:    agency.Said{Channel: fmt.Sprintf("pr-%d", pr.PR), Ref: pr.CommentID, Visibility: "shared"},
			ExpiresAt: ctx.Now.Add(48 * time.Hour),
			Request:   fmt.Sprintf("Investigate %s.", review.FollowUpTest),
		})
		if err != nil {
			return "", err
		}
		if !made.Stands() {
			review.Summary += fmt.Sprintf("\n\nI cannot look into %s: I have promised enough for now.", review.FollowUpTest)
		}
	}
	if err := r.App.PostReview(ctx, ctx.TaskID, ctx.AgentID, pr, review.Summary); err != nil {
		return "", fmt.Errorf("post the review: %w", err)
	}
	return review.Summary, nil
}

// ask has the model review; its answer has the form of a Review.
func (r Reviewer) ask(ctx *Ctx, pr PullRequest) (Review, error) {
	model := r.Model
	if r.Meter != nil {
		spender := agency.Spender{AgentType: ctx.AgentType, AgentID: ctx.AgentID}
		model = r.Meter(model, spender.Scopes()...)
	}
	goals := ctx.AgendaLines(func(g agency.Goal[Need]) string { return fmt.Sprintf("review %s#%d", g.Data.Repo, g.Data.PR) })
	answer, err := loop.RunInto[Review](ctx, loop.Once{
		Model: model, Principal: ctx.Principal, Log: r.Log, Tools: r.App.ReviewTools(pr), MaxIterations: 10,
		Input:        ctx.Request + "\n\nThe author says: " + pr.Note,
		SystemPrompt: fmt.Sprintf("You are %s. %s\nOpen goals, best first:\n%s", ctx.Persona.Name, ctx.Persona.Voice, strings.Join(goals, "\n")),
	})
	ctx.Used(answer.Usage)
	return answer.Output, err
}

// investigate does what was promised. What it found decides, not what anybody says about it.
func (r Reviewer) investigate(ctx *Ctx, c agency.Commitment[Intent]) (string, error) {
	if _, err := ctx.AdvanceCommitment(c.ID, agency.Start{}); err != nil {
		return "", err
	}
	found, err := r.App.Investigate(ctx, c.Intent.Test)
	if err != nil {
		return "", fmt.Errorf("investigate %s: %w", c.Intent.Test, err)
	}
	var next agency.CommitmentEvent = agency.Waiting{ExternalRef: found.PRURL, Reason: "fix_proposed"}
	if !found.Fixed {
		next = agency.Closed{Status: agency.CommitmentDeclined, Reason: "not_reproducible", Reconsider: true}
	}
	_, err = ctx.AdvanceCommitment(c.ID, next)
	return found.Summary, err
}

// checkIn looks after the promises: fixes that were taken settle theirs, and what was lost or failed again is looked into once more. It
// may be cut off and run again, so it tells how things stand, not what this run has done.
func (r Reviewer) checkIn(ctx *Ctx) (string, error) {
	if err := r.settle(ctx); err != nil {
		return "", err
	}
	flakes, err := r.App.Flakes(ctx)
	if err != nil {
		return "", fmt.Errorf("flaky tests: %w", err)
	}
	due := ctx.DueCommitments(func(c agency.Commitment[Intent]) bool { return flakes[c.Intent.Test] })
	for mode, c := range due.All() { // those to reconsider, then those to resume
		if _, err := ctx.Redispatch(c, mode, fmt.Sprintf("Look at %s again.", c.Intent.Test)); err != nil {
			return "", err
		}
	}
	open := 0
	for _, c := range ctx.Commitments {
		if c.Open() {
			open++
		}
	}
	return fmt.Sprintf("promises open: %d", open), nil
}

func (r Reviewer) settle(ctx *Ctx) error {
	for _, c := range ctx.Commitments {
		if c.Status != agency.CommitmentWaiting || c.ExternalRef == nil {
			continue
		}
		merged, err := r.App.Merged(ctx, *c.ExternalRef)
		if err != nil {
			return fmt.Errorf("fix %s: %w", *c.ExternalRef, err)
		}
		if !merged {
			continue
		}
		if _, err := ctx.AdvanceCommitment(c.ID, agency.Settle{Status: agency.CommitmentFulfilled, Reason: "fix_merged"}); err != nil {
			return err
		}
	}
	return nil
}

// observe reads which reviews are owed: a goal is done when its review is not asked for any more.
func (r Reviewer) observe(ctx *Ctx) (seen agency.Observation[Need], err error) {
	open, err := r.App.OpenReviews(ctx, ctx.AgentID)
	for _, n := range open {
		seen.Add(fmt.Sprintf("review:%s#%d", n.Repo, n.PR), "review", n)
	}
	return seen, err
}
