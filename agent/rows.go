package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Rows is the application of the example: three documents under the agent id "demo" of the agents' own store. Without them there are
// no reviewers, and nothing ever wakes. Put your own App in its place.
type Rows struct{ Store agency.StateStore }

// rowsOf is the agent id that the rows of the example stand under.
const rowsOf = "demo"

// Colleague is a reviewer of the example.
type Colleague struct {
	Persona
	CooldownMinutes int                        `json:"cooldownMinutes"`         // between two reviews
	ResponseDelay   *agency.ResponseDelayLever `json:"responseDelay,omitempty"` // nil: the reviewer takes its time as people do
}

// PullRow is a pull request of the example.
type PullRow struct {
	PullRequest
	Reviews map[string]PostedReview `json:"reviews"` // by reviewer
	Closed  bool                    `json:"closed"`  // merged or given up: nobody has to review it
	URL     string                  `json:"url"`
	Merged  bool                    `json:"merged"`
}

// PostedReview is a review as it stands at a pull request.
type PostedReview struct {
	TaskID  string `json:"taskId"`
	Summary string `json:"summary"`
}

// FlakeRow is what is known of a test.
type FlakeRow struct {
	Finding
	Again bool `json:"again"` // it failed again since
}

// PutColleague adds a reviewer, or changes it.
func (r Rows) PutColleague(ctx context.Context, id string, c Colleague) error {
	return put(ctx, r, "colleagues", id, c)
}

// PutPull adds a pull request, or changes it.
func (r Rows) PutPull(ctx context.Context, p PullRow) error {
	return put(ctx, r, "pulls", pullID(p.Need), p)
}

// PutFlake tells of a test.
func (r Rows) PutFlake(ctx context.Context, test string, f FlakeRow) error {
	return put(ctx, r, "flakes", test, f)
}

func pullID(n Need) string { return fmt.Sprintf("%s#%d", n.Repo, n.PR) }

func key(name string) agency.StateKey { return agency.StateKey{AgentID: rowsOf, Name: name} }

func put[T any](ctx context.Context, r Rows, name, id string, row T) error {
	_, err := agency.UpdateState(ctx, r.Store, key(name), func(all map[string]T) (map[string]T, error) {
		next := maps.Clone(all)
		if next == nil {
			next = map[string]T{}
		}
		next[id] = row
		return next, nil
	})
	return err
}

func all[T any](ctx context.Context, r Rows, name string) (map[string]T, error) {
	s, err := agency.ReadState[map[string]T](ctx, r.Store, key(name))
	return s.Value, err
}

// Profile implements App.
func (r Rows) Profile(ctx context.Context, agentID string) (agency.Profile[Persona], error) {
	colleagues, err := all[Colleague](ctx, r, "colleagues")
	if err != nil {
		return agency.Profile[Persona]{}, err
	}
	c, known := colleagues[agentID]
	if !known {
		return agency.Profile[Persona]{}, agency.ErrUnknownAgent
	}
	pacing := agency.Pacing{Cooldown: time.Duration(c.CooldownMinutes) * time.Minute, ResponseDelay: c.ResponseDelay}
	return agency.Profile[Persona]{Persona: c.Persona, Pacing: pacing}, nil
}

// ReviewerIDs implements App.
func (r Rows) ReviewerIDs(ctx context.Context) ([]string, error) {
	colleagues, err := all[Colleague](ctx, r, "colleagues")
	return slices.Sorted(maps.Keys(colleagues)), err
}

// ReviewTools implements App.
func (r Rows) ReviewTools(pr PullRequest) tool.Registry {
	return tool.Registry{tool.ReadOnly(tool.New("read_reviews", "Reads what others said about the pull request.",
		func(ctx tool.Context, _ struct{}) (map[string]PostedReview, error) {
			pulls, err := all[PullRow](ctx, r, "pulls")
			return pulls[pullID(pr.Need)].Reviews, err
		}))}
}

// PostReview implements App: the first review of a reviewer stands.
func (r Rows) PostReview(ctx context.Context, taskID, agentID string, pr PullRequest, summary string) error {
	_, err := agency.UpdateState(ctx, r.Store, key("pulls"), func(pulls map[string]PullRow) (map[string]PullRow, error) {
		next := maps.Clone(pulls)
		if next == nil {
			next = map[string]PullRow{}
		}
		row, there := next[pullID(pr.Need)]
		if !there {
			row = PullRow{PullRequest: pr}
		}
		if _, posted := row.Reviews[agentID]; posted {
			return pulls, nil
		}
		row.Reviews = maps.Clone(row.Reviews)
		if row.Reviews == nil {
			row.Reviews = map[string]PostedReview{}
		}
		row.Reviews[agentID] = PostedReview{taskID, summary}
		next[pullID(pr.Need)] = row
		return next, nil
	})
	return err
}

// Investigate implements App.
func (r Rows) Investigate(ctx context.Context, test string) (Finding, error) {
	flakes, err := all[FlakeRow](ctx, r, "flakes")
	f := flakes[test].Finding
	if f.Summary == "" {
		f.Summary = test + " does not fail here."
	}
	return f, err
}

// Flakes implements App.
func (r Rows) Flakes(ctx context.Context) (map[string]bool, error) {
	flakes, err := all[FlakeRow](ctx, r, "flakes")
	again := map[string]bool{}
	for test, f := range flakes {
		again[test] = f.Again
	}
	return again, err
}

// Merged implements App.
func (r Rows) Merged(ctx context.Context, url string) (bool, error) {
	pulls, err := all[PullRow](ctx, r, "pulls")
	for _, p := range pulls {
		if p.URL == url {
			return p.Merged, err
		}
	}
	return false, err
}

// OpenReviews implements App.
func (r Rows) OpenReviews(ctx context.Context, agentID string) ([]Need, error) {
	pulls, err := all[PullRow](ctx, r, "pulls")
	var open []Need
	for _, id := range slices.Sorted(maps.Keys(pulls)) {
		p := pulls[id]
		if _, posted := p.Reviews[agentID]; !posted && !p.Closed && slices.Contains(p.Reviewers, agentID) {
			open = append(open, p.Need)
		}
	}
	return open, err
}
