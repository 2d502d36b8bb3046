package store

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/key"
)

// expressions are the expressions of one write or query, with a placeholder for every name and value. Placeholders have two
// digits, because some emulators replace them as text and find #1 in #10. It is written by hand: every write of every turn passes
// here, and the SDK's builder of expressions took half of the store's own time.
type expressions struct {
	condition, update string
	attributes        []string
	given             []types.AttributeValue
	err               error
}

func placeholder(mark byte, n int) string {
	if n > 99 {
		return string(mark) + "x" + strconv.Itoa(n)
	}
	return string([]byte{mark, byte('0' + n/10), byte('0' + n%10)})
}

// name gives the placeholder of an attribute.
func (x *expressions) name(attr string) string {
	n := slices.Index(x.attributes, attr)
	if n < 0 {
		n, x.attributes = len(x.attributes), append(x.attributes, attr)
	}
	return placeholder('#', n)
}

// value gives the placeholder of a value.
func (x *expressions) value(v any) string {
	av, err := attribute(v)
	if err != nil {
		x.err = err
	}
	x.given = append(x.given, av)
	return placeholder(':', len(x.given)-1)
}

// names gives the attributes by placeholder; nil if there are none, as the service wants it.
func (x *expressions) names() map[string]string {
	if len(x.attributes) == 0 {
		return nil
	}
	m := make(map[string]string, len(x.attributes))
	for i, name := range x.attributes {
		m[placeholder('#', i)] = name
	}
	return m
}

// values gives the values by placeholder, likewise.
func (x *expressions) values() item {
	if len(x.given) == 0 {
		return nil
	}
	m := make(item, len(x.given))
	for i, v := range x.given {
		m[placeholder(':', i)] = v
	}
	return m
}

// conditionText is the condition; nil if there is none.
func (x *expressions) conditionText() *string {
	if x.condition == "" {
		return nil
	}
	return &x.condition
}

// when adds the condition e.
func (x *expressions) when(e cond.Expr) {
	var b strings.Builder
	x.compile(&b, e)
	x.condition = b.String()
}

// compile writes e. Only a list inside of something has brackets: the service refuses those that change nothing.
func (x *expressions) compile(b *strings.Builder, e cond.Expr) {
	switch e.Op {
	case cond.OpAnd, cond.OpOr:
		x.list(b, e)
	case cond.OpNot:
		x.not(b, e.Of[0])
	case cond.OpExists:
		b.WriteString("attribute_exists(" + x.name(e.Attr) + ")")
	case cond.OpContains:
		b.WriteString("contains(" + x.name(e.Attr) + ", " + x.value(e.Value) + ")")
	default:
		b.WriteString(x.name(e.Attr) + " " + string(e.Op) + " ")
		if e.Other != "" {
			b.WriteString(x.name(e.Other))
		} else {
			b.WriteString(x.value(e.Value))
		}
	}
}

func (x *expressions) list(b *strings.Builder, e cond.Expr) {
	if len(e.Of) == 1 {
		x.compile(b, e.Of[0])
		return
	}
	word := " AND "
	if e.Op == cond.OpOr {
		word = " OR "
	}
	for i, of := range e.Of {
		if i > 0 {
			b.WriteString(word)
		}
		x.inside(b, of)
	}
}

func (x *expressions) not(b *strings.Builder, e cond.Expr) {
	if e.Op == cond.OpExists {
		b.WriteString("attribute_not_exists(" + x.name(e.Attr) + ")")
		return
	}
	b.WriteString("NOT ")
	x.inside(b, e)
}

// inside writes e as a part of a longer condition.
func (x *expressions) inside(b *strings.Builder, e cond.Expr) {
	for (e.Op == cond.OpAnd || e.Op == cond.OpOr) && len(e.Of) == 1 {
		e = e.Of[0]
	}
	if e.Op != cond.OpAnd && e.Op != cond.OpOr {
		x.compile(b, e)
		return
	}
	b.WriteByte('(')
	x.compile(b, e)
	b.WriteByte(')')
}

// change adds the update that sets and removes attributes.
func (x *expressions) change(set item, remove []string) {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(set)) {
		b.WriteString(word(i, "SET ") + x.name(name) + " = " + x.value(set[name]))
	}
	if b.Len() > 0 && len(remove) > 0 {
		b.WriteByte(' ')
	}
	for i, name := range remove {
		b.WriteString(word(i, "REMOVE ") + x.name(name))
	}
	x.update = b.String()
}

// word is what stands before part i of a list.
func word(i int, first string) string {
	if i == 0 {
		return first
	}
	return ", "
}

// sortKeys is the condition of a query on the sort key, beside the partition: those that begin so, those from one to the other,
// both included, or with from empty those up to it.
type sortKeys struct{ prefix, from, to string }

func prefix(p string) sortKeys         { return sortKeys{prefix: p} }
func between(from, to string) sortKeys { return sortKeys{from: from, to: to} }
func upTo(to string) sortKeys          { return sortKeys{to: to} }

// of adds the condition of a query: a partition, and keys within it.
func (x *expressions) of(pkName, pk string, k sortKeys) {
	x.condition = x.name(pkName) + " = " + x.value(pk)
	sk := key.SK
	if pkName == key.DuePKName {
		sk = key.DueSKName
	}
	switch {
	case k.prefix != "":
		x.condition += " AND begins_with(" + x.name(sk) + ", " + x.value(k.prefix) + ")"
	case k.from != "":
		x.condition += " AND " + x.name(sk) + " BETWEEN " + x.value(k.from) + " AND " + x.value(k.to)
	case k.to != "":
		x.condition += " AND " + x.name(sk) + " <= " + x.value(k.to)
	}
}
