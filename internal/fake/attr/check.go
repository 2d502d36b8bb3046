package attr

import (
	"bytes"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxDepth is how deep lists and maps may nest (DynamoDB: nested attribute depth 32).
const MaxDepth = 32

// Stored gives v as the service would keep it, sharing no memory with v: numbers in their one form, sets sorted. It refuses what
// the service refuses: no value, bad numbers, empty sets, repeated or empty elements, nesting over MaxDepth.
func Stored(v Value) (Value, error) { return stored(v, 1) }

// StoredItem is Stored for every attribute. An attribute name may not be empty.
func StoredItem(item Item) (Item, error) {
	out := make(Item, len(item))
	for name, v := range item {
		if name == "" {
			return nil, Refuse("One or more parameter values were invalid: An attribute name may not be empty")
		}
		kept, err := Stored(v)
		if err != nil {
			return nil, err
		}
		out[name] = kept
	}
	return out, nil
}

func stored(v Value, depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, Refuse("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}, nil
	case *types.AttributeValueMemberN:
		n, err := ParseNumber(v.Value)
		return &types.AttributeValueMemberN{Value: n.String()}, err
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v.Value...)}, nil
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}, nil
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			return nil, Refuse("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case *types.AttributeValueMemberL:
		return storedList(v.Value, depth)
	case *types.AttributeValueMemberM:
		return storedMap(v.Value, depth)
	}
	if IsSet(v) {
		return storedSet(v)
	}
	return nil, Refuse("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
}

func storedList(list []Value, depth int) (Value, error) {
	out := make([]Value, len(list))
	for i, v := range list {
		kept, err := stored(v, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = kept
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

func storedMap(fields map[string]Value, depth int) (Value, error) {
	out := make(map[string]Value, len(fields))
	for name, v := range fields {
		kept, err := stored(v, depth+1)
		if err != nil {
			return nil, err
		}
		out[name] = kept
	}
	return &types.AttributeValueMemberM{Value: out}, nil
}

func storedSet(set Value) (Value, error) {
	elements := Elements(set)
	if len(elements) == 0 {
		return nil, Refuse("One or more parameter values were invalid: An %s set may not be empty", setWord(set))
	}
	kept := make([]Value, 0, len(elements))
	for _, e := range elements {
		if n, ok := Len(e); ok && n == 0 {
			return nil, Refuse("One or more parameter values were invalid: An %s set may not have a empty string as a member", setWord(set))
		}
		one, err := Stored(e)
		if err != nil {
			return nil, err
		}
		if Has(kept, one) {
			return nil, Refuse("One or more parameter values were invalid: Input collection contains duplicates")
		}
		kept = append(kept, one)
	}
	return SetOf(set, kept), nil
}

func setWord(set Value) string {
	return map[string]string{"SS": "string", "NS": "number", "BS": "binary"}[Type(set)]
}

// HasPrefix is begins_with: both strings or both binaries.
func HasPrefix(v, prefix Value) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := prefix.(*types.AttributeValueMemberS)
		return ok && len(v.Value) >= len(p.Value) && v.Value[:len(p.Value)] == p.Value
	case *types.AttributeValueMemberB:
		p, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, p.Value)
	}
	return false
}

// Contains is contains: part of a string or binary, element of a set or list.
func Contains(v, part Value) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := part.(*types.AttributeValueMemberS)
		return ok && bytes.Contains([]byte(v.Value), []byte(p.Value))
	case *types.AttributeValueMemberB:
		p, ok := part.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(v.Value, p.Value)
	}
	return Has(Elements(v), part)
}
