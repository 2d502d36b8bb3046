package dynamo

import (
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// placeholders is the part of a request that its expressions refer to.
type placeholders struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]value.Value
}

func (p placeholders) scope() (*expr.Scope, error) {
	for k := range p.ExpressionAttributeNames {
		if !isPlaceholder(k, '#') {
			return nil, validation("ExpressionAttributeNames contains invalid key: Syntax error; key: %q", k)
		}
	}
	for k := range p.ExpressionAttributeValues {
		if !isPlaceholder(k, ':') {
			return nil, validation("ExpressionAttributeValues contains invalid key: Syntax error; key: %q", k)
		}
	}
	return &expr.Scope{Names: p.ExpressionAttributeNames, Values: p.ExpressionAttributeValues}, nil
}

func isPlaceholder(s string, mark byte) bool {
	if len(s) < 2 || s[0] != mark {
		return false
	}
	for _, c := range s[1:] {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// actionRequest is a write or a check as it stands in a request, alone or inside a transaction.
type actionRequest struct {
	TableName string
	Item      value.Item // PutItem
	Key       value.Item // the others
	placeholders
	ConditionExpression                 string
	UpdateExpression                    string
	ReturnValuesOnConditionCheckFailure string
}

type actionKind int

const (
	putAction actionKind = iota
	updateAction
	deleteAction
	checkAction
)

// action is a write or a check, verified as far as it can be without the row.
type action struct {
	kind      actionKind
	table     *table
	key, item value.Item
	condition expr.Condition
	update    expr.Update
	returnOld bool // on a failed condition
}

func (f *Front) action(kind actionKind, r actionRequest) (*action, error) {
	t, err := f.table(r.TableName)
	if err != nil {
		return nil, err
	}
	a := &action{kind: kind, table: t, key: r.Key, item: r.Item, returnOld: r.ReturnValuesOnConditionCheckFailure == "ALL_OLD"}
	if err := oneOf("returnValuesOnConditionCheckFailure", r.ReturnValuesOnConditionCheckFailure, "ALL_OLD", "NONE"); err != nil {
		return nil, err
	}
	if err := a.parse(r); err != nil {
		return nil, err
	}
	if kind != putAction {
		return a, t.checkKey(a.key)
	}
	if err := t.checkItem(a.item); err != nil {
		return nil, err
	}
	a.key = a.item.Pick(t.keyNames()...)
	return a, nil
}

func (a *action) parse(r actionRequest) error {
	scope, err := r.scope()
	if err != nil {
		return err
	}
	if a.kind == checkAction && r.ConditionExpression == "" {
		return validation("The expression can not be empty; ConditionCheck needs a ConditionExpression")
	}
	if a.update, err = expr.ParseUpdate(r.UpdateExpression, scope); err != nil {
		return err
	}
	if a.condition, err = expr.ParseCondition("ConditionExpression", r.ConditionExpression, scope); err != nil {
		return err
	}
	if err := scope.Check(r.ConditionExpression+r.UpdateExpression != ""); err != nil {
		return err
	}
	return a.table.checkUpdate(a.update)
}

// conditionFailed is a condition that did not hold for the row as it was.
type conditionFailed struct{ old value.Item }

func (conditionFailed) Error() string { return "The conditional request failed" }

// run is the row after the action on the row old (nil: none). It changes nothing.
func (a *action) run(old value.Item) (value.Item, error) {
	if !a.condition.Holds(old) {
		return nil, conditionFailed{old}
	}
	switch a.kind {
	case putAction:
		return a.item, tooLarge(a.item, "Item size has exceeded the maximum allowed size")
	case deleteAction:
		return nil, nil
	case checkAction:
		return old, nil
	}
	base := old
	if base == nil {
		base = a.key
	}
	it, err := a.update.Apply(base)
	if err != nil {
		return nil, err
	}
	if err := a.table.checkItem(it); err != nil {
		return nil, err
	}
	return it, tooLarge(it, "Item size to update has exceeded the maximum allowed size")
}

func tooLarge(it value.Item, message string) error {
	if it.Size() > maxItem {
		return validation("%s", message)
	}
	return nil
}
