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

// The placeholders of names and values, three bytes each: they are made at every write, so they are cut from one text.
const (
	nameMarks = "#00#01#02#03#04#05#06#07#08#09#10#11#12#13#14#15#16#17#18#19" +
		"#20#21#22#23#24#25#26#27#28#29#30#31#32#33#34#35#36#37#38#39" +
		"#40#41#42#43#44#45#46#47#48#49#50#51#52#53#54#55#56#57#58#59" +
		"#60#61#62#63#64#65#66#67#68#69#70#71#72#73#74#75#76#77#78#79" +
		"#80#81#82#83#84#85#86#87#88#89#90#91#92#93#94#95#96#97#98#99"
	valueMarks = ":00:01:02:03:04:05:06:07:08:09:10:11:12:13:14:15:16:17:18:19" +
		":20:21:22:23:24:25:26:27:28:29:30:31:32:33:34:35:36:37:38:39" +
		":40:41:42:43:44:45:46:47:48:49:50:51:52:53:54:55:56:57:58:59" +
		":60:61:62:63:64:65:66:67:68:69:70:71:72:73:74:75:76:77:78:79" +
		":80:81:82:83:84:85:86:87:88:89:90:91:92:93:94:95:96:97:98:99"
)

// placeholder cuts the nth of marks. No write has a hundred names or values.
func placeholder(marks string, n int) string {
	if n > 99 {
		return marks[:1] + "x" + strconv.Itoa(n)
	}
	return marks[n*3 : n*3+3]
}

// name gives the placeholder of an attribute.
func (x *expressions) name(attr string) string {
	n := slices.Index(x.attributes, attr)
	if n < 0 {
		n, x.attributes = len(x.attributes), append(x.attributes, attr)
	}
	return placeholder(nameMarks, n)
}

// value gives the placeholder of a value.
func (x *expressions) value(v any) string {
	av, err := attribute(v)
	if err != nil {
		x.err = err
	}
	x.given = append(x.given, av)
	return placeholder(valueMarks, len(x.given)-1)
}

// names gives the attributes by placeholder; nil if there are none, as the service wants it.
func (x *expressions) names() map[string]string {
	if len(x.attributes) == 0 {
		return nil
	}
	m := make(map[string]string, len(x.attributes))
	for i, name := range x.attributes {
		m[placeholder(nameMarks, i)] = name
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
		m[placeholder(valueMarks, i)] = v
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
	b.Grow(256)
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
		write(b, "attribute_exists(", x.name(e.Attr), ")")
	case cond.OpContains:
		write(b, "contains(", x.name(e.Attr), ", ", x.value(e.Value), ")")
	default:
		write(b, x.name(e.Attr), " ", string(e.Op), " ")
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
		write(b, "attribute_not_exists(", x.name(e.Attr), ")")
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

// change adds the update that sets, removes and counts attributes.
func (x *expressions) change(set item, remove []string, add map[string]int64) {
	var b strings.Builder
	b.Grow(256)
	for i, name := range slices.Sorted(maps.Keys(set)) {
		write(&b, word(i, "SET "), x.name(name), " = ", x.value(set[name]))
	}
	for i, name := range remove {
		write(&b, word(i, clause(&b, "REMOVE ")), x.name(name))
	}
	for i, name := range slices.Sorted(maps.Keys(add)) {
		write(&b, word(i, clause(&b, "ADD ")), x.name(name), " ", x.value(add[name]))
	}
	x.update = b.String()
}

// clause is the word that begins a clause, apart from the clause before.
func clause(b *strings.Builder, first string) string {
	if b.Len() > 0 {
		return " " + first
	}
	return first
}

func write(b *strings.Builder, parts ...string) {
	for _, p := range parts {
		b.WriteString(p)
	}
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

// project is the projection on some attributes; nil for all of them.
func (x *expressions) project(attributes []string) *string {
	if len(attributes) == 0 {
		return nil
	}
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = x.name(a)
	}
	return new(strings.Join(names, ", "))
}
