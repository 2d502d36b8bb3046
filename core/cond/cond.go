// Package cond holds conditions on a row as plain values. A transition says under which condition it may be written; the
// store turns the value into DynamoDB's own condition, which decides. As there, a comparison with a missing attribute is
// false. It evaluates nothing.
package cond

// Op names what an Expr does.
type Op string

// The operators.
const (
	OpAnd      Op = "and"
	OpOr       Op = "or"
	OpNot      Op = "not"
	OpExists   Op = "exists"
	OpContains Op = "contains"
	OpEq       Op = "="
	OpNe       Op = "<>"
	OpLt       Op = "<"
	OpLe       Op = "<="
	OpGt       Op = ">"
	OpGe       Op = ">="
)

// Expr is a condition. Comparisons have Attr and either Value or, if that is set, Other, another attribute.
type Expr struct {
	Op    Op
	Of    []Expr // of and, or, not
	Attr  string
	Value any
	Other string
}

// And holds if every one of the conditions holds.
func And(of ...Expr) Expr { return Expr{Op: OpAnd, Of: of} }

// Or holds if at least one of the conditions holds.
func Or(of ...Expr) Expr { return Expr{Op: OpOr, Of: of} }

// Not holds if e does not.
func Not(e Expr) Expr { return Expr{Op: OpNot, Of: []Expr{e}} }

// Exists holds if the row has the attribute.
func Exists(attr string) Expr { return Expr{Op: OpExists, Attr: attr} }

// Absent holds if the row lacks the attribute, and so also if there is no row.
func Absent(attr string) Expr { return Not(Exists(attr)) }

// Contains holds if the list has the value.
func Contains(attr string, v any) Expr { return Expr{Op: OpContains, Attr: attr, Value: v} }

// Is compares an attribute with a value.
func Is(attr string, op Op, v any) Expr { return Expr{Op: op, Attr: attr, Value: v} }

// Eq holds if the attribute equals v.
func Eq(attr string, v any) Expr { return Is(attr, OpEq, v) }

// Attrs compares two attributes of the row.
func Attrs(attr string, op Op, other string) Expr { return Expr{Op: op, Attr: attr, Other: other} }

// In holds if the attribute has one of the values.
func In[T any](attr string, values ...T) Expr {
	of := make([]Expr, len(values))
	for i, v := range values {
		of[i] = Eq(attr, v)
	}
	return Or(of...)
}

// EqOrAbsent pins an attribute to what was read, where the zero value stands for a missing one.
func EqOrAbsent[T comparable](attr string, read T) Expr {
	var zero T
	if read == zero {
		return Absent(attr)
	}
	return Eq(attr, read)
}
