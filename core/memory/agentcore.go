package memory

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// API is what is needed of the service's client. It must be safe for concurrent use.
type API interface {
	CreateEvent(context.Context, *bedrockagentcore.CreateEventInput, ...func(*bedrockagentcore.Options)) (*bedrockagentcore.CreateEventOutput, error)
	RetrieveMemoryRecords(context.Context, *bedrockagentcore.RetrieveMemoryRecordsInput, ...func(*bedrockagentcore.Options)) (*bedrockagentcore.RetrieveMemoryRecordsOutput, error)
}

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
	Client    API
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

// Recall asks each of the actor's namespaces by its exact name and gives the best records of all. Faults: Unavailable.
func (a AgentCore) Recall(ctx context.Context, query string) ([]string, error) {
	if query = tool.Beginning(strings.TrimSpace(query), maxQuery); query == "" {
		return nil, nil
	}
	var all []types.MemoryRecordSummary
	for _, namespace := range Namespaces(a.Actor) {
		out, err := a.Client.RetrieveMemoryRecords(ctx, &bedrockagentcore.RetrieveMemoryRecordsInput{
			MemoryId: &a.MemoryID, Namespace: &namespace, MaxResults: new(int32(MaxRecords)),
			SearchCriteria: &types.SearchCriteria{SearchQuery: &query, TopK: new(int32(MaxRecords))},
		})
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "recall from memory %s", a.MemoryID)
		}
		all = append(all, out.MemoryRecordSummaries...)
	}
	slices.SortStableFunc(all, func(a, b types.MemoryRecordSummary) int { return cmp.Compare(score(b), score(a)) })
	return texts(all), nil
}

func score(r types.MemoryRecordSummary) float64 {
	if r.Score == nil {
		return 0
	}
	return *r.Score
}

func texts(records []types.MemoryRecordSummary) (all []string) {
	for _, r := range records {
		text, ok := r.Content.(*types.MemoryContentMemberText)
		if ok && strings.TrimSpace(text.Value) != "" && !slices.Contains(all, text.Value) && len(all) < MaxRecords {
			all = append(all, text.Value)
		}
	}
	return all
}

// Record writes the turn as one event, at once. Its token is made of the turn, so a repeated one is ignored by the service; its
// number goes with it, because times do not order turns. Faults: Unavailable.
func (a AgentCore) Record(ctx context.Context, turn loop.Exchange) error {
	var said []types.PayloadType
	for _, part := range []struct {
		role types.Role
		text string
	}{{types.RoleUser, turn.User}, {types.RoleAssistant, turn.Assistant}} {
		if strings.TrimSpace(part.text) == "" {
			continue
		}
		said = append(said, &types.PayloadTypeMemberConversational{Value: types.Conversational{
			Role: part.role, Content: &types.ContentMemberText{Value: tool.Beginning(part.text, maxContent)},
		}})
	}
	if len(said) == 0 {
		return nil
	}
	actor, session := safe(a.Actor, maxActor), safe(a.SessionID, maxSession)
	_, err := a.Client.CreateEvent(ctx, &bedrockagentcore.CreateEventInput{
		MemoryId: &a.MemoryID, ActorId: &actor, SessionId: &session, Payload: said,
		EventTimestamp: new(a.notLater(turn.At)), ClientToken: new(token(a.Actor, a.SessionID, turn.Number)),
		Metadata: map[string]types.MetadataValue{"turn": &types.MetadataValueMemberStringValue{Value: strconv.FormatInt(turn.Number, 10)}},
	})
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
