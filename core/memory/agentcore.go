package memory

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Limits of the service.
const (
	maxActor   = 255
	maxSession = 100
	maxContent = 100_000 // characters of one message; as bytes, so never over
	maxQuery   = 10_000
)

// AgentCore remembers in Amazon Bedrock AgentCore Memory: one event for each turn, from which the service extracts facts and
// preferences within seconds to minutes, so what was just said is never recalled at once.
type AgentCore struct {
	Client    *Client
	MemoryID  string
	Actor     string // the verified user; its namespaces are exact, so those of a1 never hold a10's
	SessionID string
	Now       func() time.Time // nil: time.Now
}

// Namespaces are where an actor's records lie. The template's strategies write there.
func Namespaces(actor string) []string {
	id := safe(actor, maxActor)
	return []string{"/facts/" + id + "/", "/users/" + id + "/preferences/"}
}

// Recall asks each of the actor's namespaces by its exact name, all at once, and gives the best records of all. Faults: Unavailable.
func (a AgentCore) Recall(ctx context.Context, query string) ([]string, error) {
	if query = tool.Beginning(strings.TrimSpace(query), maxQuery); query == "" {
		return nil, nil
	}
	namespaces := Namespaces(a.Actor)
	found, errs := make([][]summary, len(namespaces)), make([]error, len(namespaces))
	var asked sync.WaitGroup
	for i, namespace := range namespaces {
		asked.Go(func() { found[i], errs[i] = a.retrieve(ctx, namespace, query) })
	}
	asked.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "recall from memory %s", a.MemoryID)
	}
	all := slices.Concat(found...)
	slices.SortStableFunc(all, func(a, b summary) int { return cmp.Compare(b.Score, a.Score) })
	return texts(all), nil
}

func (a AgentCore) retrieve(ctx context.Context, namespace, query string) ([]summary, error) {
	var out struct {
		Records []summary `json:"memoryRecordSummaries"`
	}
	in := retrieval{Namespace: namespace, MaxResults: MaxRecords, Criteria: criteria{Query: query, TopK: MaxRecords}}
	err := a.Client.call(ctx, a.path("retrieve"), in, &out)
	return out.Records, err
}

func (a AgentCore) path(operation string) string {
	return "/memories/" + url.PathEscape(a.MemoryID) + "/" + operation
}

// retrieval asks for the records of a namespace, the best first.
type retrieval struct {
	Namespace  string   `json:"namespace"`
	Criteria   criteria `json:"searchCriteria"`
	MaxResults int      `json:"maxResults"`
}

type criteria struct {
	Query string `json:"searchQuery"`
	TopK  int    `json:"topK"`
}

// summary is a record that was found.
type summary struct {
	Content content `json:"content"`
	Score   float64 `json:"score"`
}

// content is text: of what is sent and of what the service gives.
type content struct {
	Text string `json:"text"`
}

func texts(records []summary) (all []string) {
	for _, r := range records {
		text := r.Content.Text
		if strings.TrimSpace(text) != "" && !slices.Contains(all, text) && len(all) < MaxRecords {
			all = append(all, text)
		}
	}
	return all
}

// event is what was said in a turn.
type event struct {
	Actor    string               `json:"actorId"`
	Session  string               `json:"sessionId"`
	Time     float64              `json:"eventTimestamp"` // seconds since 1970
	Token    string               `json:"clientToken"`
	Payload  []payload            `json:"payload"`
	Metadata map[string]metaValue `json:"metadata"`
}

type payload struct {
	Said conversational `json:"conversational"`
}

type conversational struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type metaValue struct {
	Text string `json:"stringValue"`
}

// Record writes the turn as one event, at once. Its token is made of the turn, so a repeated one is ignored by the service; its
// number goes with it, because times do not order turns. Faults: Unavailable.
func (a AgentCore) Record(ctx context.Context, turn loop.Exchange) error {
	var said []payload
	for _, part := range []conversational{{"USER", content{turn.User}}, {"ASSISTANT", content{turn.Assistant}}} {
		if strings.TrimSpace(part.Content.Text) == "" {
			continue
		}
		part.Content.Text = tool.Beginning(part.Content.Text, maxContent)
		said = append(said, payload{part})
	}
	if len(said) == 0 {
		return nil
	}
	err := a.Client.call(ctx, a.path("events"), event{
		Actor: safe(a.Actor, maxActor), Session: safe(a.SessionID, maxSession), Time: float64(a.notLater(turn.At).UnixMilli()) / 1000,
		Token: token(a.Actor, a.SessionID, turn.Number), Payload: said,
		Metadata: map[string]metaValue{"turn": {strconv.FormatInt(turn.Number, 10)}},
	}, nil)
	return fault.Wrap(fault.Unavailable, err, "record turn %d of %s", turn.Number, a.SessionID)
}

// notLater keeps a time from lying in the future, which the service would sort last for ever.
func (a AgentCore) notLater(at time.Time) time.Time {
	now := time.Now()
	if a.Now != nil {
		now = a.Now()
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// Flush has nothing to wait for: Record writes at once.
func (a AgentCore) Flush(context.Context) error { return nil }
