package fake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/fake/expr"
)

// write is one checked action on one row, alone or in a transaction.
type write struct {
	table     *table
	key       attr.Item
	condition expr.Condition
	showOld   bool                                   // ALL_OLD when the condition fails
	check     bool                                   // a ConditionCheck: the row stays as it is
	next      func(old attr.Item) (attr.Item, error) // the row after it, nil if it goes; old may be nil
	touched   expr.Projection                        // what an update names
}

// PutItem writes a whole row.
func (d *Dynamo) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return call(ctx, d, "PutItem", keyNote(in.Item), func() (*dynamodb.PutItemOutput, error) {
		if err := unsupported(in.Expected != nil, in.ConditionalOperator != ""); err != nil {
			return nil, err
		}
		w, err := d.put(&types.Put{
			TableName: in.TableName, Item: in.Item, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		})
		if err != nil {
			return nil, err
		}
		values, err := d.apply(w, in.ReturnValues, false)
		if err != nil {
			return nil, err
		}
		return &dynamodb.PutItemOutput{Attributes: values, ConsumedCapacity: d.consumed(in.ReturnConsumedCapacity, w.table)}, nil
	})
}

// DeleteItem takes a row away; it is no error if there is none.
func (d *Dynamo) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return call(ctx, d, "DeleteItem", keyNote(in.Key), func() (*dynamodb.DeleteItemOutput, error) {
		if err := unsupported(in.Expected != nil, in.ConditionalOperator != ""); err != nil {
			return nil, err
		}
		w, err := d.remove(&types.Delete{
			TableName: in.TableName, Key: in.Key, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		})
		if err != nil {
			return nil, err
		}
		values, err := d.apply(w, in.ReturnValues, false)
		if err != nil {
			return nil, err
		}
		return &dynamodb.DeleteItemOutput{Attributes: values, ConsumedCapacity: d.consumed(in.ReturnConsumedCapacity, w.table)}, nil
	})
}

// UpdateItem changes a row, or makes it if there is none.
func (d *Dynamo) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return call(ctx, d, "UpdateItem", keyNote(in.Key), func() (*dynamodb.UpdateItemOutput, error) {
		if err := unsupported(in.Expected != nil, in.ConditionalOperator != "", in.AttributeUpdates != nil); err != nil {
			return nil, err
		}
		w, err := d.update(&types.Update{
			TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		})
		if err != nil {
			return nil, err
		}
		values, err := d.apply(w, in.ReturnValues, true)
		if err != nil {
			return nil, err
		}
		return &dynamodb.UpdateItemOutput{Attributes: values, ConsumedCapacity: d.consumed(in.ReturnConsumedCapacity, w.table)}, nil
	})
}

// apply does one write on its own and gives the attributes that the request asks back.
func (d *Dynamo) apply(w write, back types.ReturnValue, update bool) (attr.Item, error) {
	if !update && back != "" && back != types.ReturnValueNone && back != types.ReturnValueAllOld {
		return nil, attr.Refuse("Return values set to invalid value")
	}
	old := w.table.row(w.key)
	if !w.condition.Holds(old) {
		d.wrote(w.table, old, old, 1)
		return nil, conditionFailed(w.shown(old))
	}
	row, err := w.next(old)
	if err != nil {
		return nil, err
	}
	d.wrote(w.table, old, row, 1)
	if old != nil || row != nil {
		w.table.write(old, row)
	}
	return w.back(back, old, row), nil
}

// shown is the old row, if the request wants it when its condition fails.
func (w write) shown(old attr.Item) attr.Item {
	if !w.showOld {
		return nil
	}
	return attr.CloneItem(old)
}

func (w write) back(which types.ReturnValue, old, row attr.Item) attr.Item {
	switch which {
	case types.ReturnValueAllOld:
		return attr.CloneItem(old)
	case types.ReturnValueAllNew:
		return attr.CloneItem(row)
	case types.ReturnValueUpdatedOld:
		return some(w.touched.Of(old))
	case types.ReturnValueUpdatedNew:
		return some(w.touched.Of(row))
	}
	return nil
}

func some(item attr.Item) attr.Item {
	if len(item) == 0 {
		return nil
	}
	return item
}

// conditional parses what all writes share.
func (w *write) conditional(scope *expr.Scope, condition *string, back types.ReturnValuesOnConditionCheckFailure) (err error) {
	w.showOld = back == types.ReturnValuesOnConditionCheckFailureAllOld
	if condition != nil {
		if w.condition, err = scope.Condition("ConditionExpression", *condition); err != nil {
			return err
		}
	}
	return scope.Unused()
}

func (d *Dynamo) put(in *types.Put) (w write, err error) {
	if w.table, err = d.table(in.TableName); err != nil {
		return w, err
	}
	scope := &expr.Scope{Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues}
	if err := w.conditional(scope, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure); err != nil {
		return w, err
	}
	row, err := attr.StoredItem(in.Item)
	if err != nil {
		return w, err
	}
	w.key = w.table.main.keys.of(row)
	w.next = func(attr.Item) (attr.Item, error) { return row, nil }
	return w, w.table.checkRow(row, "Item size has exceeded the maximum allowed size")
}

func (d *Dynamo) remove(in *types.Delete) (w write, err error) {
	if w.table, err = d.table(in.TableName); err != nil {
		return w, err
	}
	scope := &expr.Scope{Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues}
	if err := w.conditional(scope, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure); err != nil {
		return w, err
	}
	w.next = func(attr.Item) (attr.Item, error) { return nil, nil }
	w.key, err = w.table.checkKey(in.Key)
	return w, err
}

func (d *Dynamo) conditionCheck(in *types.ConditionCheck) (w write, err error) {
	if w.table, err = d.table(in.TableName); err != nil {
		return w, err
	}
	if in.ConditionExpression == nil {
		return w, attr.Refuse("Value null at 'transactItems.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null")
	}
	scope := &expr.Scope{Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues}
	if err := w.conditional(scope, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure); err != nil {
		return w, err
	}
	w.check = true
	w.next = func(old attr.Item) (attr.Item, error) { return old, nil }
	w.key, err = w.table.checkKey(in.Key)
	return w, err
}

func (d *Dynamo) update(in *types.Update) (w write, err error) {
	if w.table, err = d.table(in.TableName); err != nil {
		return w, err
	}
	var u expr.Update
	scope := &expr.Scope{Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues}
	if in.UpdateExpression != nil {
		if u, err = scope.Update(*in.UpdateExpression); err != nil {
			return w, err
		}
	}
	if err := w.conditional(scope, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure); err != nil {
		return w, err
	}
	if w.key, err = w.table.checkKey(in.Key); err != nil {
		return w, err
	}
	w.touched = u.Touched()
	w.next = func(old attr.Item) (attr.Item, error) { return w.table.updated(w.key, old, u) }
	return w, w.table.changeable(u)
}

// changeable refuses an update of a key attribute.
func (t *table) changeable(u expr.Update) error {
	for _, changed := range u.Attributes() {
		for _, name := range t.main.keys.names() {
			if changed == name {
				return attr.Refuse("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
			}
		}
	}
	return nil
}

// updated is the row after an update; a row that was not there begins with its key.
func (t *table) updated(key, old attr.Item, u expr.Update) (attr.Item, error) {
	if old == nil {
		old = key
	}
	row, err := u.Apply(old)
	if err != nil {
		return nil, err
	}
	if row, err = attr.StoredItem(row); err != nil {
		return nil, err
	}
	return row, t.checkRow(row, "Item size to update has exceeded the maximum allowed size")
}
