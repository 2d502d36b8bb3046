// Package attr knows the values of a DynamoDB item: their types, order and equality, which ones the service refuses,
// how many bytes it counts for them, and a stable text form. Messages of refusals are the service's own words. It holds
// no table and evaluates no expression.
package attr

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Value is one attribute value of the SDK.
type Value = types.AttributeValue

// Item is a row: attribute names and their values.
type Item = map[string]Value

// Type names the type of v as DynamoDB writes it: S, N, B, BOOL, NULL, L, M, SS, NS or BS; "" for none.
func Type(v Value) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	}
	return ""
}

// Compare orders two values of one type that has an order: strings and binaries by bytes, numbers by value. ok is false
// for anything else.
func Compare(a, b Value) (order int, ok bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, same := b.(*types.AttributeValueMemberS); same {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, same := b.(*types.AttributeValueMemberN); same {
			return compareNumbers(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberB:
		if b, same := b.(*types.AttributeValueMemberB); same {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

func compareNumbers(a, b string) int {
	x, _ := ParseNumber(a)
	y, _ := ParseNumber(b)
	return x.Cmp(y)
}

// Equal reports whether both are the same value: numbers by value, sets in any order, lists and maps to any depth.
// A missing value (nil) equals nothing.
func Equal(a, b Value) bool {
	if order, ok := Compare(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case *types.AttributeValueMemberBOOL:
		b, same := b.(*types.AttributeValueMemberBOOL)
		return same && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		return Type(b) == "NULL"
	case *types.AttributeValueMemberL:
		b, same := b.(*types.AttributeValueMemberL)
		return same && slices.EqualFunc(a.Value, b.Value, Equal)
	case *types.AttributeValueMemberM:
		b, same := b.(*types.AttributeValueMemberM)
		return same && maps.EqualFunc(a.Value, b.Value, Equal)
	}
	return IsSet(a) && Type(a) == Type(b) && sameElements(Elements(a), Elements(b))
}

func sameElements(a, b []Value) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(v Value) bool { return !Has(b, v) })
}

// Has reports whether one of the values equals v.
func Has(values []Value, v Value) bool {
	return slices.ContainsFunc(values, func(w Value) bool { return Equal(v, w) })
}

// IsSet reports whether v is a set of strings, numbers or binaries.
func IsSet(v Value) bool {
	t := Type(v)
	return t == "SS" || t == "NS" || t == "BS"
}

// Elements gives the elements of a set or list as values of their own, nil for any other type.
func Elements(v Value) []Value {
	var out []Value
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		return v.Value
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			out = append(out, &types.AttributeValueMemberS{Value: s})
		}
	case *types.AttributeValueMemberNS:
		for _, n := range v.Value {
			out = append(out, &types.AttributeValueMemberN{Value: n})
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			out = append(out, &types.AttributeValueMemberB{Value: b})
		}
	}
	return out
}

// SetOf makes a set of the type of like (SS, NS or BS) from elements, in order and without repeats; nil if there are none.
func SetOf(like Value, elements []Value) Value {
	var unique []Value
	for _, e := range elements {
		if !Has(unique, e) {
			unique = append(unique, e)
		}
	}
	if len(unique) == 0 {
		return nil
	}
	slices.SortFunc(unique, func(a, b Value) int { order, _ := Compare(a, b); return order })
	switch like.(type) {
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: collect(unique, func(v Value) string { return v.(*types.AttributeValueMemberS).Value })}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: collect(unique, func(v Value) string { return v.(*types.AttributeValueMemberN).Value })}
	default:
		return &types.AttributeValueMemberBS{Value: collect(unique, func(v Value) []byte { return v.(*types.AttributeValueMemberB).Value })}
	}
}

func collect[T any](values []Value, get func(Value) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = get(v)
	}
	return out
}

// Len is what the function size of expressions gives: characters of a string, bytes of a binary, elements of anything
// else; ok is false for types without a size.
func Len(v Value) (n int, ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len([]rune(v.Value)), true
	case *types.AttributeValueMemberB:
		return len(v.Value), true
	case *types.AttributeValueMemberM:
		return len(v.Value), true
	case *types.AttributeValueMemberL:
		return len(v.Value), true
	}
	return len(Elements(v)), IsSet(v)
}

// Int makes a number value.
func Int(n int) Value { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }
