package expr_test

import (
	"errors"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/fake/expr"
)

// Whatever the text is, it is parsed or refused, and what was parsed can be evaluated.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{
		"a = :one AND (b <> #name OR NOT contains(c[0].d, :red))", "pk = :one AND begins_with(sk, :he)", "size(a) BETWEEN :one AND :nine", "a IN (:one, b)",
		"SET a = if_not_exists(a, :one) + :nine, b.c = list_append(:list, b.c) REMOVE d[1] ADD e :ss DELETE f :ss", "a, b.c, d[0]", "((a", "a[999999999999999999999]", "SET", "#", ":",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scope := func() *expr.Scope {
			return &expr.Scope{Names: map[string]string{"#name": "name"}, Values: values(":one :nine :he :red :list :ss")}
		}
		refused := func(err error) {
			if err != nil && !errors.As(err, new(attr.Refused)) {
				t.Errorf("%q: %v is not a refusal", text, err)
			}
		}
		c, err := scope().Condition("ConditionExpression", text)
		refused(err)
		if err == nil && c.Holds(sample()) == c.Holds(nil) {
			c.Attributes()
		}
		k, err := scope().KeyCondition(text, "pk", "sk")
		refused(err)
		if err == nil && k.Hash == nil {
			t.Errorf("%q: a key condition without a partition", text)
		}
		p, err := scope().Projection(text)
		refused(err)
		if err == nil && len(p.Of(sample())) > len(sample()) {
			t.Errorf("%q: a projection with more than the item", text)
		}
		u, err := scope().Update(text)
		refused(err)
		if err == nil {
			_, err = u.Apply(sample())
			refused(err)
		}
	})
}
