package fake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// TransactWriteItems does all of its actions or none. With a ClientRequestToken a repeat of the same request within ten
// minutes of Now changes nothing and succeeds; another request with the token gets IdempotentParameterMismatchException.
func (d *Dynamo) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := call(ctx, d, "TransactWriteItems", transactNote(in.TransactItems), func() (*dynamodb.TransactWriteItemsOutput, error) {
		writes, err := d.actions(in.TransactItems)
		if err != nil {
			return nil, err
		}
		again, err := d.repeated(in)
		if err != nil {
			return nil, err
		}
		if !again {
			err = d.transact(writes)
		}
		if err != nil {
			return nil, err
		}
		d.remember(in)
		return &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: d.consumedAll(in.ReturnConsumedCapacity)}, nil
	})
	return out, transactionError("TransactWriteItems", len(in.TransactItems), err)
}

// actions checks every action of a transaction by itself, and that no two are about one row.
func (d *Dynamo) actions(items []types.TransactWriteItem) ([]write, error) {
	if len(items) == 0 || len(items) > MaxTransactionItems {
		return nil, wrongNumber()
	}
	var writes []write
	seen := map[string]bool{}
	for _, item := range items {
		w, err := d.action(item)
		if err != nil {
			return nil, err
		}
		id := w.table.name + "|" + w.table.keyText(w.key)
		if seen[id] {
			return nil, attr.Refuse("Transaction request cannot include multiple operations on one item")
		}
		seen[id] = true
		writes = append(writes, w)
	}
	return writes, nil
}

// wrongNumber refuses a transaction of no action or too many.
func wrongNumber() error {
	return attr.Refuse("Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and %d", MaxTransactionItems)
}

func (d *Dynamo) action(item types.TransactWriteItem) (w write, err error) {
	given := 0
	if item.Put != nil {
		given++
		w, err = d.put(item.Put)
	}
	if item.Update != nil {
		given++
		w, err = d.update(item.Update)
		if err == nil && item.Update.UpdateExpression == nil {
			err = attr.Refuse("Value null at 'transactItems.member.update.updateExpression' failed to satisfy constraint: Member must not be null")
		}
	}
	if item.Delete != nil {
		given++
		w, err = d.remove(item.Delete)
	}
	if item.ConditionCheck != nil {
		given++
		w, err = d.conditionCheck(item.ConditionCheck)
	}
	if err == nil && given != 1 {
		err = attr.Refuse("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return w, err
}

// transact decides on all actions, then does them.
func (d *Dynamo) transact(writes []write) error {
	reasons := make([]types.CancellationReason, len(writes))
	rows := make([]attr.Item, len(writes))
	failed, bytes := false, 0
	for i, w := range writes {
		old := w.table.row(w.key)
		rows[i], reasons[i] = w.decide(old)
		failed = failed || aws.ToString(reasons[i].Code) != "None"
		bytes += attr.ItemSize(rows[i])
		d.wrote(w.table, old, rows[i], 2)
	}
	if failed {
		return cancelled(reasons)
	}
	if bytes > MaxTransactionBytes {
		return attr.Refuse("Collection size of items in transaction has exceeded the maximum size limit of 4194304 bytes")
	}
	for i, w := range writes {
		if old := w.table.row(w.key); !w.check && (old != nil || rows[i] != nil) {
			w.table.write(old, rows[i])
		}
	}
	return nil
}

// decide gives the row after the write, or why it cannot be.
func (w write) decide(old attr.Item) (attr.Item, types.CancellationReason) {
	if !w.condition.Holds(old) {
		return old, types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed"), Item: w.shown(old)}
	}
	row, err := w.next(old)
	if err != nil {
		return old, types.CancellationReason{Code: aws.String("ValidationError"), Message: aws.String(err.Error())}
	}
	return row, types.CancellationReason{Code: aws.String("None")}
}

// repeated reports whether the request was done before under its token.
func (d *Dynamo) repeated(in *dynamodb.TransactWriteItemsInput) (bool, error) {
	if in.ClientRequestToken == nil {
		return false, nil
	}
	if n := len(*in.ClientRequestToken); n < 1 || n > 36 {
		return false, attr.Refuse("Value at 'clientRequestToken' failed to satisfy constraint: Member must have length between 1 and 36")
	}
	before, known := d.tokens[*in.ClientRequestToken]
	switch {
	case !known || d.Now != nil && d.Now().Sub(before.at) > tokenLife:
		return false, nil
	case before.request != fingerprint(in):
		return false, &types.IdempotentParameterMismatchException{Message: aws.String("The request uses the same client token as a previous, but non-identical request")}
	}
	return true, nil
}

func (d *Dynamo) remember(in *dynamodb.TransactWriteItemsInput) {
	if in.ClientRequestToken == nil {
		return
	}
	if d.tokens == nil {
		d.tokens = map[string]token{}
	}
	t := token{request: fingerprint(in)}
	if d.Now != nil {
		t.at = d.Now()
	}
	d.tokens[*in.ClientRequestToken] = t
}

// fingerprint writes everything of a transaction that makes it the same request.
func fingerprint(in *dynamodb.TransactWriteItemsInput) string {
	var b strings.Builder
	part := func(kind string, table, first, second *string, item attr.Item, names map[string]string, values attr.Item) {
		fmt.Fprintln(&b, kind, aws.ToString(table), aws.ToString(first), aws.ToString(second), names,
			attr.Text(&types.AttributeValueMemberM{Value: item}), attr.Text(&types.AttributeValueMemberM{Value: values}))
	}
	for _, i := range in.TransactItems {
		if p := i.Put; p != nil {
			part("put", p.TableName, p.ConditionExpression, nil, p.Item, p.ExpressionAttributeNames, p.ExpressionAttributeValues)
		}
		if u := i.Update; u != nil {
			part("update", u.TableName, u.ConditionExpression, u.UpdateExpression, u.Key, u.ExpressionAttributeNames, u.ExpressionAttributeValues)
		}
		if r := i.Delete; r != nil {
			part("delete", r.TableName, r.ConditionExpression, nil, r.Key, r.ExpressionAttributeNames, r.ExpressionAttributeValues)
		}
		if c := i.ConditionCheck; c != nil {
			part("check", c.TableName, c.ConditionExpression, nil, c.Key, c.ExpressionAttributeNames, c.ExpressionAttributeValues)
		}
	}
	return b.String()
}

// transactNote names the rows of a transaction.
func transactNote(items []types.TransactWriteItem) string {
	var notes []string
	for _, i := range items {
		switch {
		case i.Put != nil:
			notes = append(notes, "put "+keyNote(i.Put.Item))
		case i.Update != nil:
			notes = append(notes, "update "+keyNote(i.Update.Key))
		case i.Delete != nil:
			notes = append(notes, "delete "+keyNote(i.Delete.Key))
		case i.ConditionCheck != nil:
			notes = append(notes, "check "+keyNote(i.ConditionCheck.Key))
		}
	}
	return strings.Join(notes, ", ")
}

// AsConditionFailed gives the old row of a failed condition, of a single write or of action n of a transaction. It is for
// tests that state what a call answered; ok is false for any other error.
func AsConditionFailed(err error, n int) (old attr.Item, ok bool) {
	var single *types.ConditionalCheckFailedException
	if errors.As(err, &single) {
		return single.Item, true
	}
	var many *types.TransactionCanceledException
	if errors.As(err, &many) && n < len(many.CancellationReasons) {
		r := many.CancellationReasons[n]
		return r.Item, aws.ToString(r.Code) == "ConditionalCheckFailed"
	}
	return nil, false
}
