package store

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// change is the write of a transition from one value of a row to another.
func change[T any](k key.Key, from, to T, c cond.Expr) Write {
	set, remove, err := diff(from, to)
	if err != nil {
		return Write{key: k, err: fault.Wrap(fault.Internal, err, "encode %s", describe(k))}
	}
	if set[key.DueSKName] != nil && set[key.DuePKName] == nil { // both or none: another writer may have removed both since from was read
		set[key.DuePKName] = &types.AttributeValueMemberS{Value: key.DuePK(k.PK)}
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
