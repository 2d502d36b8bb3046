package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
	"github.com/steadfast-agents/steadfast/internal/fake/expr"
)

func s(text string) attr.Value { return &types.AttributeValueMemberS{Value: text} }
func n(text string) attr.Value { return &types.AttributeValueMemberN{Value: text} }
func l(values ...attr.Value) attr.Value {
	return &types.AttributeValueMemberL{Value: values}
}
func m(item attr.Item) attr.Value { return &types.AttributeValueMemberM{Value: item} }
func ss(texts ...string) attr.Value {
	return &types.AttributeValueMemberSS{Value: texts}
}

// sample is the item that the tables of this file are about.
func sample() attr.Item {
	return attr.Item{
		"pk": s("p"), "admitted": n("10"), "taken": n("9.0"), "word": s("hello"), "tags": ss("red", "blue"),
		"parts": l(s("a"), n("2"), m(attr.Item{"x": n("1")})), "nothing": &types.AttributeValueMemberNULL{Value: true},
		"doc": m(attr.Item{"a": m(attr.Item{"b": l(n("7"))}), "name": s("n")}), "yes": &types.AttributeValueMemberBOOL{Value: true},
		"bin": &types.AttributeValueMemberB{Value: []byte("bytes")}, "dotted.name": s("dot"),
	}
}

// values are constants by placeholder; a table row uses those its expression names.
func values(expression string) attr.Item {
	all := attr.Item{
		":one": n("1"), ":nine": n("9"), ":ten": n("1e1"), ":big": n("9007199254740993"), ":hello": s("hello"), ":he": s("he"), ":red": s("red"),
		":empty": s(""), ":S": s("S"), ":M": s("M"), ":bogus": s("bogus"), ":true": &types.AttributeValueMemberBOOL{Value: true}, ":list": l(s("z")), ":ss": ss("blue", "green"),
		":blues": ss("red", "blue"), ":bytes": &types.AttributeValueMemberB{Value: []byte("by")}, ":null": &types.AttributeValueMemberNULL{Value: true}, ":map": m(attr.Item{"x": n("1.0")}),
	}
	used := attr.Item{}
	for name, v := range all {
		for _, word := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" (),=<>+-", r) }) {
			if word == name {
				used[name] = v
			}
		}
	}
	if len(used) == 0 {
		return nil
	}
	return used
}

func names(expression string) map[string]string {
	all := map[string]string{"#status": "status", "#name": "name", "#dot": "dotted.name", "#doc": "doc"}
	for name := range all {
		if !strings.Contains(expression, name) {
			delete(all, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func TestCondition(t *testing.T) {
	tests := []struct {
		expression string
		want       bool
	}{
		{"admitted > taken", true},
		{"taken > admitted", false},
		{"taken = :nine", true},
		{"admitted = :ten", true},
		{"admitted <> :ten", false},
		{"admitted < :nine", false},
		{"admitted <= :ten", true},
		{"word > :he", true},
		{"word >= :hello AND word <= :hello", true},
		{"word < :nine", false}, // types differ
		{"word > :nine", false},
		{"word <> :nine", true},
		{"lacking = :one", false},
		{"lacking > :one", false},
		{"lacking < :one", false},
		{"lacking <> :one", true}, // a value that is not there is not equal to anything
		{"lacking = absent", false},
		{"lacking <> absent", true},
		{"NOT lacking = :one", true},
		{"NOT (lacking > :one)", true},
		{"lacking BETWEEN :one AND :nine", false},
		{"taken BETWEEN :one AND :nine", true},
		{"taken BETWEEN :one AND admitted", true},
		{":nine BETWEEN taken AND admitted", true},
		{"taken IN (:one, :nine)", true},
		{"taken IN (:one, lacking)", false},
		{"lacking IN (:one)", false},
		{"attribute_exists(word)", true},
		{"attribute_exists(lacking)", false},
		{"attribute_not_exists(lacking)", true},
		{"attribute_exists(nothing)", true}, // NULL is a value
		{"nothing = :null", true},
		{"attribute_type(word, :S)", true},
		{"attribute_type(doc, :M)", true},
		{"attribute_type(lacking, :S)", false},
		{"begins_with(word, :he)", true},
		{"begins_with(word, :empty)", true},
		{"begins_with(admitted, :he)", false},
		{"begins_with(bin, :bytes)", true},
		{"contains(word, :he)", true},
		{"contains(tags, :red)", true},
		{"contains(tags, :he)", false},
		{"contains(parts, :map)", true},
		{"contains(lacking, :he)", false},
		{"size(word) = :one", false},
		{"size(parts) < :nine", true},
		{"size(tags) > :one", true},
		{"size(lacking) > :one", false},
		{"size(admitted) > :one", false}, // numbers have no size
		{"doc.a.b[0] > :one", true},
		{"doc.a.b[1] > :one", false},
		{"doc.#name = :hello", false},
		{"#doc.#name <> :hello", true},
		{"#dot = :hello", false},
		{"attribute_exists(#dot)", true},
		{"attribute_not_exists(dotted.x)", true},
		{"parts[2].x = :one", true},
		{"parts[2] = :map", true},
		{"tags = :blues", true}, // sets have no order
		{"yes = :true", true},
		{"attribute_exists(word) OR lacking = :one AND lacking = :nine", true}, // AND binds closer
		{"(attribute_exists(word) OR lacking = :one) AND lacking = :nine", false},
		{"NOT attribute_exists(word) OR attribute_exists(word)", true}, // NOT binds closest
		{"not attribute_exists(lacking) and attribute_exists(word)", true},
		{"#status = :hello OR attribute_not_exists(#status)", true},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			scope := expr.Scope{Names: names(tt.expression), Values: values(tt.expression)}
			c, err := scope.Condition("ConditionExpression", tt.expression)
			if err == nil {
				err = scope.Unused()
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Holds(sample()); got != tt.want {
				t.Errorf("Holds = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestConditionRefuses(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"", "can not be empty"},
		{"  ", "can not be empty"},
		{"status = :one", "reserved keyword; reserved keyword: status"},
		{"doc.name = :one", "reserved keyword; reserved keyword: name"},
		{"TTL = :one", "reserved keyword"},
		{"#undefined = :one", "attribute name: #undefined"},
		{"word = :undefined", "attribute value: :undefined"},
		{"word", "Syntax error"},
		{"word =", "Syntax error"},
		{"word = 5", "Syntax error"},
		{"word == :one", "Syntax error"},
		{"word != :one", "Syntax error"},
		{"word = :one AND", "Syntax error"},
		{"(word = :one", "Syntax error"},
		{"word = :one)", "Syntax error"},
		{"((word = :one))", "redundant parentheses"},
		{"word = :one word = :one", "Syntax error"},
		{"word = word", "must be distinct"},
		{"contains(word, word)", "must be distinct"},
		{"attribute_exists(:one)", "requires a document path"},
		{"attribute_exists(word, word)", "number of operands: 2"},
		{"ATTRIBUTE_EXISTS(word)", "Invalid function name"},
		{"if_not_exists(word, :one)", "Invalid function name"},
		{"attribute_type(word, :bogus)", "Invalid attribute type name"},
		{"begins_with(word, :nine)", "Incorrect operand type"},
		{"word > :true", "Incorrect operand type"},
		{"word BETWEEN :list AND :list", "Incorrect operand type"},
		{"taken BETWEEN :ten AND :one", "upper bound to be greater"},
		{"taken BETWEEN :one AND :hello", "same data type"},
		{"word IN ()", "Syntax error"},
		{"parts[x] = :one", "Syntax error"},
		{"size(word)", "Syntax error"},
		{strings.Repeat("w", 4097) + " = :one", "Expression size"},
		{"taken IN (" + strings.Repeat(":one, ", 100) + ":one)", "too many operands"},
		{strings.TrimSuffix(strings.Repeat("taken = :one OR ", 200), " OR "), "too many operators"},
	}
	for _, tt := range tests {
		t.Run(tt.expression[:min(len(tt.expression), 40)], func(t *testing.T) {
			scope := expr.Scope{Names: map[string]string{"#status": "status"}, Values: values(tt.expression)}
			_, err := scope.Condition("ConditionExpression", tt.expression)
			var refused attr.Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Condition = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestUnusedPlaceholders(t *testing.T) {
	tests := []struct {
		name, expression string
		scope            expr.Scope
		want             string
	}{
		{"value", "word = :one", expr.Scope{Values: attr.Item{":one": n("1"), ":two": n("2")}}, "keys: {:two}"},
		{"name", "attribute_exists(word)", expr.Scope{Names: map[string]string{"#b": "b", "#a": "a"}}, "keys: {#a, #b}"},
		{"a longer placeholder is another", "word = :one", expr.Scope{Values: attr.Item{":one": n("1"), ":on": n("1")}}, "keys: {:on}"},
		{"empty values", "attribute_exists(word)", expr.Scope{Values: attr.Item{}}, "must not be empty"},
		{"without an expression", "", expr.Scope{Names: map[string]string{"#a": "a"}}, "only be specified when using expressions"},
		{"all used", "word = :one", expr.Scope{Values: attr.Item{":one": n("1")}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.expression != "" {
				if _, err := tt.scope.Condition("FilterExpression", tt.expression); err != nil {
					t.Fatal(err)
				}
			}
			err := tt.scope.Unused()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Unused() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	tests := []struct{ expression, attribute, want string }{
		{"SET word = :hello", "word", `"hello"`},
		{"set word = :one", "word", `1`},
		{"SET admitted = admitted + :one", "admitted", `11`},
		{"SET admitted = admitted - taken", "admitted", `1`},
		{"SET fresh = if_not_exists(fresh, :one)", "fresh", `1`},
		{"SET admitted = if_not_exists(admitted, :one) + :one", "admitted", `11`},
		{"SET fresh = if_not_exists(fresh, :one) + :one", "fresh", `2`},
		{"SET parts = list_append(parts, :list)", "parts", `["a", 2, {"x": 1}, "z"]`},
		{"SET parts = list_append(:list, parts)", "parts", `["z", "a", 2, {"x": 1}]`},
		{"SET fresh = list_append(if_not_exists(fresh, :list), :list)", "fresh", `["z", "z"]`},
		{"SET parts[0] = :one", "parts", `[1, 2, {"x": 1}]`},
		{"SET parts[9] = :one", "parts", `["a", 2, {"x": 1}, 1]`},
		{"SET parts[2].x = :nine", "parts", `["a", 2, {"x": 9}]`},
		{"SET doc.a.c = :one", "doc", `{"a": {"b": [7], "c": 1}, "name": "n"}`},
		{"SET word = taken, taken = word", "taken", `"hello"`}, // both from before
		{"SET #dot = :one", "dotted.name", `1`},
		{"REMOVE word", "word", ``},
		{"REMOVE lacking", "lacking", ``},
		{"REMOVE parts[0], parts[1]", "parts", `[{"x": 1}]`},
		{"REMOVE parts[9]", "parts", `["a", 2, {"x": 1}]`},
		{"REMOVE doc.a", "doc", `{"name": "n"}`},
		{"REMOVE parts[0] SET parts[1] = :nine", "parts", `[9, {"x": 1}]`},
		{"ADD admitted :one", "admitted", `11`},
		{"ADD fresh :one", "fresh", `1`},
		{"ADD tags :ss", "tags", `ss{"blue", "green", "red"}`},
		{"ADD fresh :ss", "fresh", `ss{"blue", "green"}`},
		{"DELETE tags :ss", "tags", `ss{"red"}`},
		{"DELETE tags :blues", "tags", ``}, // a set without elements goes
		{"DELETE fresh :ss", "fresh", ``},
		{"SET fresh = :one REMOVE word ADD admitted :one DELETE tags :ss", "fresh", `1`},
		{"SET admitted = :big", "admitted", `9007199254740993`},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			scope := expr.Scope{Names: names(tt.expression), Values: values(tt.expression)}
			u, err := scope.Update(tt.expression)
			if err != nil {
				t.Fatal(err)
			}
			before := sample()
			after, err := u.Apply(before)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v := after[tt.attribute]; v != nil {
				got = attr.Text(v)
			}
			if got != tt.want {
				t.Errorf("%s = %s, want %s", tt.attribute, got, tt.want)
			}
			if attr.Text(m(before)) != attr.Text(m(sample())) {
				t.Error("Apply changed the item it was given")
			}
		})
	}
}

func TestUpdateRefuses(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"", "can not be empty"},
		{"word = :one", "Syntax error"},
		{"SET word", "Syntax error"},
		{"SET status = :one", "reserved keyword"},
		{"SET word = :one SET taken = :one", "can only be used once"},
		{"SET word = :one,", "Syntax error"},
		{"SET word = :one, word = :nine", "overlap"},
		{"SET doc = :one, doc.a = :nine", "overlap"},
		{"SET doc.a = :one REMOVE doc[0]", "conflict"},
		{"SET word = word + :hello", "Incorrect operand type"},
		{"SET admitted = word + :one", "incorrect data type"},
		{"SET word = lacking", "does not exist in the item"},
		{"SET word = lacking + :one", "does not exist in the item"},
		{"SET word = size(parts)", "Invalid function name"},
		{"SET word = if_not_exists(:one, :one)", "requires a document path"},
		{"SET word = list_append(parts, :one)", "Incorrect operand type"},
		{"SET word = list_append(word, :list)", "incorrect data type"},
		{"SET lacking.x = :one", "invalid for update"},
		{"SET word.x = :one", "invalid for update"},
		{"REMOVE lacking.x", "invalid for update"},
		{"ADD admitted :hello", "Incorrect operand type"},
		{"ADD word :one", "incorrect data type"},
		{"ADD admitted word", "Syntax error"},
		{"DELETE tags :red", "Incorrect operand type"},
		{"DELETE parts :ss", "incorrect data type"},
		{"DROP word", "Syntax error"},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			scope := expr.Scope{Values: values(tt.expression)}
			u, err := scope.Update(tt.expression)
			if err == nil {
				_, err = u.Apply(sample())
			}
			if !errors.As(err, new(attr.Refused)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Update = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestProjection(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"word", `{"word": "hello"}`},
		{"word, lacking, taken", `{"taken": 9.0, "word": "hello"}`},
		{"doc.a.b[0]", `{"doc": {"a": {"b": [7]}}}`},
		{"parts[2].x, parts[0]", `{"parts": ["a", {"x": 1}]}`},
		{"doc.#name, #dot", `{"doc": {"name": "n"}, "dotted.name": "dot"}`},
		{"lacking", `{}`},
		{"doc.lacking", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			scope := expr.Scope{Names: names(tt.expression)}
			p, err := scope.Projection(tt.expression)
			if err != nil {
				t.Fatal(err)
			}
			if got := attr.Text(m(p.Of(sample()))); got != tt.want {
				t.Errorf("Of = %s, want %s", got, tt.want)
			}
		})
	}
	scope := expr.Scope{}
	if _, err := scope.Projection("doc, doc.a"); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("overlapping paths = %v", err)
	}
}

func TestReserved(t *testing.T) {
	for _, word := range []string{"status", "name", "state", "ttl", "data", "owner", "token", "value", "session", "ITEM", "Zone", "abort"} {
		if !expr.Reserved(word) {
			t.Errorf("Reserved(%q) = false", word)
		}
	}
	for _, word := range []string{"pk", "sk", "fence", "turn", "expiresAt", "taken", "admitted", ""} {
		if expr.Reserved(word) {
			t.Errorf("Reserved(%q) = true", word)
		}
	}
}
