package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

const stateEntity = "SessionState"

// State reads a session's state, expired or not. Faults: NotFound, Unavailable.
func (t Table) State(ctx context.Context, sessionID string) (session.State, error) {
	var s session.State
	found, err := t.getInto(ctx, key.State(sessionID), &s)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "no such session")
	}
	return s, err
}

// NewState is the write of a new session's state.
func NewState(s session.State) Write { return create(key.State(s.SessionID), stateEntity, s) }

// ChangeState is the write of a session's transition.
func ChangeState(c session.Change) Write {
	return change(key.State(c.To.SessionID), c.From, c.To, c.If)
}

// Renew writes a transition of the state alone and answers with the whole row as it is then, so that flags that others raised
// come back with it. Faults as Commit.
func (t Table) Renew(ctx context.Context, c session.Change) (session.State, error) {
	w := ChangeState(c)
	if len(w.set) == 0 { // the lease ends when it did: the condition still has to hold
		w.set = item{"leaseUntil": number(c.To.LeaseUntil)}
	}
	part, err := t.transactPart(w)
	if err != nil {
		return session.State{}, err
	}
	u := part.Update
	in := &dynamodb.UpdateItemInput{TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression,
		ConditionExpression: u.ConditionExpression, ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: old}
	var out *dynamodb.UpdateItemOutput
	err = insist(ctx, func() (err error) {
		out, err = t.DynamoDB.UpdateItem(ctx, in)
		return err
	})
	if err != nil {
		return session.State{}, explain(err, []Write{w})
	}
	var s session.State
	return s, decode(out.Attributes, &s)
}

// RefusedState gives the state that refused a Commit. refused is false when the error is another; exists is false when there is
// no such row.
func RefusedState(err error, sessionID string) (s session.State, exists, refused bool) {
	r, ok := refusal(err)
	if !ok || !r.By(key.State(sessionID)) {
		return s, false, false
	}
	row := r.rows[key.State(sessionID)]
	return s, len(row) > 0 && decode(row, &s) == nil, true
}

// DeleteExpiredState removes the state of a session whose time was over at the given second, or that is not there.
func DeleteExpiredState(sessionID string, now int64) Write {
	w := remove(key.State(sessionID))
	c := absentOrExpired(now)
	w.cond = &c
	return w
}

// CheckNoState is the condition that there is no state.
func CheckNoState(sessionID string) Write {
	c := cond.Absent(key.PK)
	return Write{key: key.State(sessionID), cond: &c}
}
