package attr

import (
	"bytes"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Clone copies v to any depth, as it is; nil stays nil.
func Clone(v Value) Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *types.AttributeValueMemberL:
		return &types.AttributeValueMemberL{Value: cloneEach(v.Value, Clone)}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: CloneItem(v.Value)}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: cloneEach(v.Value, bytes.Clone)}
	}
	return v
}

func cloneEach[T any](values []T, clone func(T) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = clone(v)
	}
	return out
}

// CloneItem copies an item to any depth; nil stays nil.
func CloneItem(item Item) Item {
	if item == nil {
		return nil
	}
	out := make(Item, len(item))
	for name, v := range item {
		out[name] = Clone(v)
	}
	return out
}
