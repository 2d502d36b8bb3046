// Package value holds DynamoDB's attribute values: reading and writing their JSON form, the size DynamoDB
// counts for them, numbers of 38 decimal digits, equality and order.
//
// Values are never changed in place: whoever alters an item copies the part that changes, so that items may be
// shared between a table, its indexes and the answers under way. The package knows no tables and no expressions.
package value

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Kind is the type descriptor of a value as it stands on the wire.
type Kind string

// The ten kinds of DynamoDB.
const (
	String    Kind = "S"
	Number    Kind = "N"
	Binary    Kind = "B"
	Bool      Kind = "BOOL"
	Null      Kind = "NULL"
	List      Kind = "L"
	Map       Kind = "M"
	StringSet Kind = "SS"
	NumberSet Kind = "NS"
	BinarySet Kind = "BS"
)

// MaxDepth is how deep lists and maps may nest.
const MaxDepth = 32

// Value is one attribute value. Only the field of its kind is set; sets of binaries stand in Set as strings of bytes.
type Value struct {
	Kind Kind
	Str  string // String, and Binary as a string of bytes
	Num  Decimal
	Bool bool
	List []Value
	Map  map[string]Value
	Set  []string  // StringSet, BinarySet: sorted, without duplicates
	Nums []Decimal // NumberSet: sorted, without duplicates
}

// Item is a row, or a key, by attribute name.
type Item map[string]Value

// Num is a Number value.
func Num(d Decimal) Value { return Value{Kind: Number, Num: d} }

// Equal reports deep equality; kinds must agree, sets have no order.
func Equal(a, b Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case String, Binary:
		return a.Str == b.Str
	case Number:
		return a.Num.Cmp(b.Num) == 0
	case Bool:
		return a.Bool == b.Bool
	case Null:
		return true
	case List:
		return slices.EqualFunc(a.List, b.List, Equal)
	case Map:
		return maps.EqualFunc(a.Map, b.Map, Equal)
	case NumberSet:
		return slices.EqualFunc(a.Nums, b.Nums, func(x, y Decimal) bool { return x.Cmp(y) == 0 })
	default:
		return slices.Equal(a.Set, b.Set)
	}
}

// Compare orders two values of one ordered kind (String and Binary by bytes, Number by magnitude). ok is false for
// different kinds and for kinds without an order.
func Compare(a, b Value) (c int, ok bool) {
	if a.Kind != b.Kind {
		return 0, false
	}
	switch a.Kind {
	case String, Binary:
		return bytes.Compare([]byte(a.Str), []byte(b.Str)), true
	case Number:
		return a.Num.Cmp(b.Num), true
	}
	return 0, false
}

// EqualItems reports whether two items hold the same attributes.
func EqualItems(a, b Item) bool { return maps.EqualFunc(a, b, Equal) }

// Size is what DynamoDB counts for the item: the bytes of every name and value. The limit is 400 KB (409,600).
func (it Item) Size() int {
	n := 0
	for name, v := range it {
		n += len(name) + v.Size()
	}
	return n
}

// Size is what DynamoDB counts for the value without its name.
func (v Value) Size() int {
	n := 0
	switch v.Kind {
	case String, Binary:
		return len(v.Str)
	case Number:
		return v.Num.Size()
	case Bool, Null:
		return 1
	case List:
		n = 3
		for _, e := range v.List {
			n += 1 + e.Size()
		}
	case Map:
		n = 3
		for k, e := range v.Map {
			n += 1 + len(k) + e.Size()
		}
	case NumberSet:
		for _, d := range v.Nums {
			n += d.Size()
		}
	default:
		for _, s := range v.Set {
			n += len(s)
		}
	}
	return n
}

// Pick is the item with the named attributes only; missing ones are left out.
func (it Item) Pick(names ...string) Item {
	out := make(Item, len(names))
	for _, n := range names {
		if v, ok := it[n]; ok {
			out[n] = v
		}
	}
	return out
}

func (v Value) String() string {
	b, err := v.MarshalJSON()
	if err != nil {
		return fmt.Sprintf("%%!value(%v)", err)
	}
	return string(b)
}
