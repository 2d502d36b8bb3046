package cond_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/cond"
)

func TestConditionsAreTheseValues(t *testing.T) {
	eq := cond.Expr{Op: cond.OpEq, Attr: "a", Value: 1}
	tests := []struct {
		name      string
		got, want cond.Expr
	}{
		{"eq", cond.Eq("a", 1), eq},
		{"is", cond.Is("a", cond.OpLt, 1), cond.Expr{Op: cond.OpLt, Attr: "a", Value: 1}},
		{"two attributes", cond.Attrs("a", cond.OpGe, "b"), cond.Expr{Op: cond.OpGe, Attr: "a", Other: "b"}},
		{"contains", cond.Contains("a", "x"), cond.Expr{Op: cond.OpContains, Attr: "a", Value: "x"}},
		{"exists", cond.Exists("a"), cond.Expr{Op: cond.OpExists, Attr: "a"}},
		{"absent", cond.Absent("a"), cond.Expr{Op: cond.OpNot, Of: []cond.Expr{{Op: cond.OpExists, Attr: "a"}}}},
		{"and", cond.And(eq, eq), cond.Expr{Op: cond.OpAnd, Of: []cond.Expr{eq, eq}}},
		{"or", cond.Or(eq), cond.Expr{Op: cond.OpOr, Of: []cond.Expr{eq}}},
		{"not", cond.Not(eq), cond.Expr{Op: cond.OpNot, Of: []cond.Expr{eq}}},
		{"in", cond.In("a", 1, 2), cond.Or(cond.Eq("a", 1), cond.Eq("a", 2))},
		{"pinned to what was read", cond.EqOrAbsent("a", "x"), cond.Eq("a", "x")},
		{"pinned to nothing read", cond.EqOrAbsent("a", ""), cond.Absent("a")},
		{"pinned to the number zero", cond.EqOrAbsent("a", int64(0)), cond.Absent("a")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A lease may be taken when nobody holds it or when it has ended.
func Example() {
	free := cond.Or(cond.Absent("owner"), cond.Is("leaseUntil", cond.OpLt, 1_767_225_600_000))
	for _, e := range free.Of {
		fmt.Println(free.Op, e.Op, e.Attr, e.Value)
	}
	// Output:
	// or not  <nil>
	// or < leaseUntil 1767225600000
}
