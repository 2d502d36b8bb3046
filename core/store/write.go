package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

type item = map[string]types.AttributeValue

// Write is one conditional write of one row, made by this package's functions and given to Commit.
type Write struct {
	key    key.Key
	put    item             // a whole row, or nil
	set    item             // attributes to set
	add    map[string]int64 // attributes to count up or down, from 0 if absent
	remove []string
	del    bool
	cond   *cond.Expr
	parts  []item // written before, unconditionally
	err    error  // why it cannot be written at all
}

// RefusedError says whose condition failed. It is a fault.Conflict.
type RefusedError struct{ rows map[key.Key]item }

// Error names the rows, not their content.
func (r *RefusedError) Error() string {
	names := make([]string, 0, len(r.rows))
	for k := range r.rows {
		names = append(names, k.PK+" "+k.SK)
	}
	slices.Sort(names)
	return "refused by " + strings.Join(names, ", ")
}

// By reports whether the row refused.
func (r *RefusedError) By(k key.Key) bool {
	_, ok := r.rows[k]
	return ok
}

// refusal finds a RefusedError in err.
func refusal(err error) (*RefusedError, bool) {
	var r *RefusedError
	return r, errors.As(err, &r)
}

// RefusedBy reports whether err says that the row's condition failed.
func RefusedBy(err error, k key.Key) bool {
	r, ok := refusal(err)
	return ok && r.By(k)
}

// maxBlocked bounds how often a write that another transaction blocks is tried again.
const maxBlocked = 12

// Commit writes all or none. Several writes are one transaction. Parts of large rows are written first; without their head
// nobody reads them. Faults: Conflict (a *RefusedError, with nothing written), Limit, Unavailable (it is not known whether it was
// written), Internal.
func (t Table) Commit(ctx context.Context, writes ...Write) error {
	for _, w := range writes {
		if err := w.Err(); err != nil {
			return err
		}
	}
	for _, w := range writes {
		for _, part := range w.parts {
			if _, err := t.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{TableName: t.name(), Item: part}); err != nil {
				return failed(err, "write a part of %s", w.key.SK)
			}
		}
	}
	return explain(insist(ctx, func() error { return t.commitOnce(ctx, writes) }), writes)
}

// insist repeats a write as long as other transactions block it.
func insist(ctx context.Context, write func() error) error {
	for try := 0; ; try++ {
		err := write()
		if err == nil || !blocked(err) || try == maxBlocked {
			return err
		}
		if err := pause(ctx, time.Duration(1+rand.IntN(20*(try+1)))*time.Millisecond); err != nil {
			return failed(err, "write")
		}
	}
}

// Err is why the write cannot be made at all, whatever the table has: a fault.Limit for a row that is too large, or what is wrong with
// its content. Commit gives the same.
func (w Write) Err() error {
	if n := max(itemBytes(w.put), itemBytes(w.set)); w.err == nil && n > MaxItemBytes {
		return fault.New(fault.Limit, "%s: a row of %d bytes, the limit is %d", w.key.SK, n, MaxItemBytes)
	}
	return w.err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (t Table) commitOnce(ctx context.Context, writes []Write) error {
	if len(writes) == 1 {
		return t.writeOne(ctx, writes[0])
	}
	in := &dynamodb.TransactWriteItemsInput{}
	for _, w := range writes {
		part, err := t.transactPart(w)
		if err != nil {
			return err
		}
		in.TransactItems = append(in.TransactItems, part)
	}
	_, err := t.DynamoDB.TransactWriteItems(ctx, in)
	return err
}

const old = types.ReturnValuesOnConditionCheckFailureAllOld

func (t Table) writeOne(ctx context.Context, w Write) error {
	part, err := t.transactPart(w)
	if err != nil {
		return err
	}
	switch {
	case part.Put != nil:
		p := part.Put
		_, err = t.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{TableName: p.TableName, Item: p.Item, ConditionExpression: p.ConditionExpression,
			ExpressionAttributeNames: p.ExpressionAttributeNames, ExpressionAttributeValues: p.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: old})
	case part.Delete != nil:
		d := part.Delete
		_, err = t.DynamoDB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression,
			ExpressionAttributeNames: d.ExpressionAttributeNames, ExpressionAttributeValues: d.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: old})
	case part.Update != nil:
		u := part.Update
		_, err = t.DynamoDB.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: old})
	default:
		_, err = t.DynamoDB.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}})
	}
	return err
}

func (t Table) transactPart(w Write) (types.TransactWriteItem, error) {
	x := w.expressions()
	if x.err != nil {
		return types.TransactWriteItem{}, fault.Wrap(fault.Internal, x.err, "expression for %s", w.key.SK)
	}
	k, names, values := keyItem(w.key), x.names(), x.values()
	switch {
	case w.put != nil:
		return types.TransactWriteItem{Put: &types.Put{TableName: t.name(), Item: w.put, ConditionExpression: x.conditionText(),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}}, nil
	case w.del:
		return types.TransactWriteItem{Delete: &types.Delete{TableName: t.name(), Key: k, ConditionExpression: x.conditionText(),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}}, nil
	case x.update != "":
		return types.TransactWriteItem{Update: &types.Update{TableName: t.name(), Key: k, UpdateExpression: &x.update, ConditionExpression: x.conditionText(),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}}, nil
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: t.name(), Key: k, ConditionExpression: x.conditionText(),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}}, nil
}

func (w Write) expressions() *expressions {
	x := &expressions{}
	if w.cond != nil {
		x.when(*w.cond)
	}
	if len(w.set)+len(w.remove)+len(w.add) > 0 {
		x.change(w.set, w.remove, w.add)
	}
	return x
}

// explain turns DynamoDB's error into a fault.
func explain(err error, writes []Write) error {
	if err == nil {
		return nil
	}
	var one *types.ConditionalCheckFailedException
	if errors.As(err, &one) && len(writes) == 1 {
		return conflict(&RefusedError{rows: map[key.Key]item{writes[0].key: one.Item}})
	}
	var all *types.TransactionCanceledException
	if errors.As(err, &all) {
		refused := &RefusedError{rows: map[key.Key]item{}}
		for i, r := range all.CancellationReasons {
			if deref(r.Code) == "ConditionalCheckFailed" && i < len(writes) {
				refused.rows[writes[i].key] = r.Item
			}
		}
		if len(refused.rows) > 0 {
			return conflict(refused)
		}
	}
	return failed(err, "write %s", describe(writes[0].key))
}

func conflict(r *RefusedError) error { return fault.Wrap(fault.Conflict, r, "the row has changed") }

// blocked reports whether nothing was written because another writer was at the same row.
func blocked(err error) bool {
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		conflict := false
		for _, r := range cancelled.CancellationReasons {
			switch code := deref(r.Code); code {
			case "ConditionalCheckFailed":
				return false
			case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
				conflict = true
			}
		}
		return conflict
	}
	var conflict *types.TransactionConflictException
	var throttled *types.ProvisionedThroughputExceededException
	return errors.As(err, &conflict) || errors.As(err, &throttled)
}

// failed gives an error of the service a code: what a client did wrong is Internal, everything else may be tried again.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) && slices.ContainsFunc(cancelled.CancellationReasons, malformed) {
		return fault.Wrap(fault.Internal, err, format, args...)
	}
	if ours(err) {
		return fault.Wrap(fault.Internal, err, format, args...)
	}
	// Callers see the first sentence; which row it was is for the log.
	return fault.Wrap(fault.Unavailable, fmt.Errorf(format+": %w", append(args, err)...), "the table does not answer")
}

// ours reports whether the service says that the request itself is wrong. The client knows whose fault an error is only for those
// that DynamoDB's model names; a ValidationException is not among them, so the status counts too.
func ours(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) || transient[api.ErrorCode()] {
		return false
	}
	var answer interface{ HTTPStatusCode() int }
	return api.ErrorFault() == smithy.FaultClient || errors.As(err, &answer) && answer.HTTPStatusCode() >= 400 && answer.HTTPStatusCode() < 500
}

// malformed is the reason of a transaction that no repetition makes valid.
func malformed(r types.CancellationReason) bool {
	return deref(r.Code) == "ValidationError" || deref(r.Code) == "ItemCollectionSizeLimitExceeded"
}

// transient are the client faults of DynamoDB that pass by themselves.
var transient = map[string]bool{
	"ProvisionedThroughputExceededException": true, "ThrottlingException": true, "RequestLimitExceeded": true,
	"TransactionConflictException": true, "TransactionInProgressException": true, "TransactionCanceledException": true, "LimitExceededException": true,
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func keyItem(k key.Key) item {
	return item{key.PK: &types.AttributeValueMemberS{Value: k.PK}, key.SK: &types.AttributeValueMemberS{Value: k.SK}}
}

func describe(k key.Key) string { return fmt.Sprintf("%s of %s", k.SK, k.PK) }
