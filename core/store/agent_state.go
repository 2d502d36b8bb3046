package store

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// AgentState is a named document of an agent. Revision 0: there is none.
type AgentState struct {
	Value    json.RawMessage
	Revision int64
}

// AgentState reads a document. Faults: Unavailable.
func (t Table) AgentState(ctx context.Context, agentID, name, scope string) (AgentState, error) {
	row, err := t.get(ctx, key.AgentState(agentID, name, scope))
	if err != nil || row == nil {
		return AgentState{}, err
	}
	var head struct {
		Revision int64 `dynamodbav:"revision"`
	}
	if err := decode(row, &head); err != nil {
		return AgentState{}, err
	}
	s := AgentState{Revision: head.Revision}
	if s.Value, err = json.Marshal(toJSON(row["value"])); err != nil {
		return s, fault.Wrap(fault.Internal, err, "document %s of %s", name, agentID)
	}
	return s, nil
}

// PutAgentState is the write of the revision after s.Revision; it is refused if the document has another one. What DynamoDB cannot
// hold is Invalid.
func (t Table) PutAgentState(agentID, name, scope string, s AgentState) Write {
	k := key.AgentState(agentID, name, scope)
	row, err := encode(k, "AgentState", struct {
		AgentID   string `dynamodbav:"agentId"`
		Name      string `dynamodbav:"name"`
		Revision  int64  `dynamodbav:"revision"`
		UpdatedAt int64  `dynamodbav:"updatedAt"` // ms
	}{agentID, name, s.Revision + 1, t.now().UnixMilli()})
	var value types.AttributeValue
	if err == nil {
		value, err = fromJSON(s.Value)
	}
	if err != nil {
		return Write{key: k, err: err}
	}
	row["value"] = value
	as := cond.Absent(key.PK)
	if s.Revision > 0 {
		as = cond.Eq("revision", s.Revision)
	}
	return Write{key: k, put: row, cond: &as}
}

// AgencyPaused reports whether an agent type is paused. Faults: Unavailable.
func (t Table) AgencyPaused(ctx context.Context, agentType string) (bool, error) {
	row, err := t.get(ctx, key.Pause(agentType))
	return row != nil, err
}

// PauseAgency pauses an agent type or lets it go on. Idempotent. Faults: Unavailable.
func (t Table) PauseAgency(ctx context.Context, agentType string, paused bool) error {
	k := key.Pause(agentType)
	if !paused {
		return t.Commit(ctx, Write{key: k, del: true})
	}
	row, err := encode(k, "AgencyPause", struct {
		At int64 `dynamodbav:"at"` // ms
	}{t.now().UnixMilli()})
	return t.Commit(ctx, Write{key: k, put: row, err: err})
}
