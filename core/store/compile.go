package store

import (
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// compile turns a condition into DynamoDB's, with a placeholder for every name and value.
func compile(e cond.Expr) expression.ConditionBuilder {
	switch e.Op {
	case cond.OpAnd, cond.OpOr:
		if len(e.Of) == 1 {
			return compile(e.Of[0])
		}
		of := make([]expression.ConditionBuilder, len(e.Of))
		for i, x := range e.Of {
			of[i] = compile(x)
		}
		if e.Op == cond.OpAnd {
			return expression.And(of[0], of[1], of[2:]...)
		}
		return expression.Or(of[0], of[1], of[2:]...)
	case cond.OpNot:
		if inner := e.Of[0]; inner.Op == cond.OpExists {
			return expression.AttributeNotExists(expression.Name(inner.Attr))
		}
		return expression.Not(compile(e.Of[0]))
	case cond.OpExists:
		return expression.AttributeExists(expression.Name(e.Attr))
	case cond.OpContains:
		return expression.Contains(expression.Name(e.Attr), e.Value)
	}
	return compare(e)
}

func compare(e cond.Expr) expression.ConditionBuilder {
	left := expression.Name(e.Attr)
	var right expression.OperandBuilder = expression.Value(e.Value)
	if e.Other != "" {
		right = expression.Name(e.Other)
	}
	switch e.Op {
	case cond.OpEq:
		return left.Equal(right)
	case cond.OpNe:
		return left.NotEqual(right)
	case cond.OpLt:
		return left.LessThan(right)
	case cond.OpLe:
		return left.LessThanEqual(right)
	case cond.OpGt:
		return left.GreaterThan(right)
	}
	return left.GreaterThanEqual(right)
}

func updates(set item, remove []string) expression.UpdateBuilder {
	var u expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(set)) {
		u = u.Set(expression.Name(name), expression.Value(set[name]))
	}
	for _, name := range remove {
		u = u.Remove(expression.Name(name))
	}
	return u
}

// encode makes a row of v's fields and the key. Faults: Internal.
func encode(k key.Key, entity string, v any) (item, error) {
	row, err := attributevalue.MarshalMap(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode %s", describe(k))
	}
	row[key.PK], row[key.SK] = &types.AttributeValueMemberS{Value: k.PK}, &types.AttributeValueMemberS{Value: k.SK}
	row["entity"] = &types.AttributeValueMemberS{Value: entity}
	return row, nil
}

// decode reads a row into v. Faults: Internal.
func decode(row item, v any) error {
	if err := attributevalue.UnmarshalMap(row, v); err != nil {
		return fault.Wrap(fault.Internal, err, "decode a row")
	}
	return nil
}

// diff gives what must be set and removed to turn one row into the other.
func diff(from, to item) (set item, remove []string) {
	set = item{}
	for name, v := range to {
		if was, ok := from[name]; !ok || !reflect.DeepEqual(was, v) {
			set[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, ok := to[name]; !ok {
			remove = append(remove, name)
		}
	}
	return set, remove
}

// change is the write of a transition from one value of a row to another.
func change(k key.Key, entity string, from, to any, c cond.Expr) Write {
	a, errA := encode(k, entity, from)
	b, errB := encode(k, entity, to)
	if errA != nil || errB != nil {
		return Write{key: k, err: fault.New(fault.Internal, "encode %s", describe(k))}
	}
	set, remove := diff(a, b)
	if set[key.DueSKName] != nil { // both or none: another writer may have removed both since from was read
		set[key.DuePKName] = b[key.DuePKName]
	}
	return Write{key: k, set: set, remove: remove, cond: &c}
}

// create is the write of a row that must not be there.
func create(k key.Key, entity string, v any) Write {
	row, err := encode(k, entity, v)
	absent := cond.Absent(key.PK)
	return Write{key: k, put: row, cond: &absent, err: err}
}

// deleteExisting is the removal of a row that must be there.
func deleteExisting(k key.Key) Write {
	exists := cond.Exists(key.PK)
	return Write{key: k, del: true, cond: &exists}
}
