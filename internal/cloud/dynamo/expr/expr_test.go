package expr_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

func item(t testing.TB, s string) value.Item {
	t.Helper()
	var it value.Item
	if err := json.Unmarshal([]byte(s), &it); err != nil {
		t.Fatal(err)
	}
	return it
}

func scope(t testing.TB, names map[string]string) *expr.Scope {
	return &expr.Scope{Names: names, Values: item(t, `{":a":{"S":"abc"},":b":{"S":"b"},":n":{"N":"5"},":m":{"N":"10"},":t":{"BOOL":true},
		":l":{"L":[{"S":"x"}]},":s":{"SS":["b","q"]},":e":{"L":[]},":S":{"S":"S"},":z":{"N":"0"}}`)}
}

const row = `{"s":{"S":"abc"},"n":{"N":"5.0"},"big":{"N":"9007199254740993"},"yes":{"BOOL":true},"tags":{"SS":["a","b"]},"l":{"L":[{"S":"b"},{"N":"5"}]},
	"m":{"M":{"k":{"S":"v"},"x.y":{"N":"1"}}},"nums":{"NS":["1","5"]},"status":{"S":"abc"},"nothing":{"NULL":true}}`

func TestConditions(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"attribute_exists(s)", true},
		{"attribute_exists (m.k)", true},
		{"attribute_exists(m.#xy)", true},
		{"attribute_exists(m.q)", false},
		{"attribute_exists(l[1])", true},
		{"attribute_exists(l[2])", false},
		{"attribute_exists(s.k)", false},
		{"attribute_not_exists(q)", true},
		{"attribute_exists(nothing)", true},
		{"#status = :a", true},
		{"s = :a", true},
		{"s <> :a", false},
		{"q <> :a", true},
		{"q = :a", false},
		{"q < :a", false},
		{"n = :n", true},
		{"n < :m", true},
		{"s < :n", false},
		{"n BETWEEN :z AND :m", true},
		{"s between :a and :b", true},
		{"n IN (:m, :n)", true},
		{"q IN (:m, :n)", false},
		{"NOT n = :n", false},
		{"NOT NOT n = :n", true},
		{"not attribute_exists(q) and n = :n", true},
		{"n = :m OR n = :n AND s = :b", false},
		{"(n = :m OR n = :n) AND s = :a", true},
		{"n = :n OR n = :m AND s = :b", true},
		{"begins_with(s, :b)", false},
		{"begins_with(s, :a)", true},
		{"begins_with(n, :a)", false},
		{"contains(s, :b)", true},
		{"contains(tags, :b)", true},
		{"contains(tags, :n)", false},
		{"contains(nums, :n)", true},
		{"contains(l, :n)", true},
		{"contains(l, :a)", false},
		{"attribute_type(s, :S)", true},
		{"attribute_type(n, :S)", false},
		{"size(s) < :n", true},
		{"size(l) = :z", false},
		{"size(n) = :n", false},
		{"size(q) = :z", false},
		{"yes = :t", true},
		{"n=:n AND(s=:a)", true},
		{"s = #status", true},
	}
	names := map[string]string{"#xy": "x.y", "#status": "status"}
	for _, tt := range tests {
		c, err := expr.ParseCondition("ConditionExpression", tt.text, scope(t, names))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := c.Holds(item(t, row)); got != tt.want {
			t.Errorf("%s = %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestLargeNumbersAreNotMixedUp(t *testing.T) {
	s := &expr.Scope{Values: item(t, `{":v":{"N":"9007199254740992"}}`)}
	c, err := expr.ParseCondition("ConditionExpression", "big = :v", s)
	if err != nil || c.Holds(item(t, row)) {
		t.Errorf("9007199254740993 = 9007199254740992: %v", err)
	}
}

func TestConditionsRefused(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""}, // the condition that always holds
		{"  ", "can not be empty"},
		{"s", "Syntax error"},
		{"s =", `token: "<EOF>"`},
		{"s = :a)", "Syntax error"},
		{"(s = :a", "Syntax error"},
		{"s == :a", "Syntax error"},
		{"s = 'abc'", "Syntax error"},
		{"s = :a garbage", "Syntax error"},
		{"exists(s)", "Invalid function name; function: exists"},
		{"attribute_exists(:a)", "requires a document path"},
		{"attribute_exists(s, n)", "number of operands: 2"},
		{"begins_with(s)", "number of operands: 1"},
		{"begins_with(s, :n)", "operand type: N"},
		{"attribute_type(s, :a)", "type: abc"},
		{"n < :t", "operand type: BOOL"},
		{"n BETWEEN :m AND :n", "upper bound to be greater"},
		{"s = s", "must be distinct"},
		{"((s = :a))", "redundant parentheses"},
		{"name = :a", "reserved keyword: name"},
		{"m.value = :a", "reserved keyword: value"},
		{"#q = :a", "attribute name: #q"},
		{"s = :q", "attribute value: :q"},
		{"l[x] = :a", "Syntax error"},
		{"s IN ()", "Syntax error"},
		{strings.Repeat("s", 4097), "expression size: 4097"},
	}
	for _, tt := range tests {
		_, err := expr.ParseCondition("ConditionExpression", tt.text, scope(t, nil))
		if tt.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestUpdates(t *testing.T) {
	const base = `{"n":{"N":"1"},"s":{"S":"x"},"l":{"L":[{"S":"0"},{"S":"1"},{"S":"2"}]},"m":{"M":{"k":{"S":"v"}}},"tags":{"SS":["a","b"]}}`
	tests := []struct{ text, want string }{
		{"SET q = :a", `{"q":{"S":"abc"}}`},
		{"set n = n + :n, q = n", `{"n":{"N":"6"},"q":{"N":"1"}}`},
		{"SET n = s, s = n", `{"n":{"S":"x"},"s":{"N":"1"}}`},
		{"SET n = :m - n", `{"n":{"N":"9"}}`},
		{"SET q = if_not_exists(q, :z) + :n", `{"q":{"N":"5"}}`},
		{"SET n = if_not_exists(n, :z)", `{}`},
		{"SET l = list_append(l, :l)", `{"l":{"L":[{"S":"0"},{"S":"1"},{"S":"2"},{"S":"x"}]}}`},
		{"SET q = list_append(if_not_exists(q, :e), :l)", `{"q":{"L":[{"S":"x"}]}}`},
		{"SET m.#new = :a, l[1] = :b, l[9] = :a", `{"m":{"M":{"k":{"S":"v"},"new":{"S":"abc"}}},"l":{"L":[{"S":"0"},{"S":"b"},{"S":"2"},{"S":"abc"}]}}`},
		{"REMOVE n, q, m.k", `{"n":null,"m":{"M":{}}}`},
		{"REMOVE l[0], l[1]", `{"l":{"L":[{"S":"2"}]}}`},
		{"ADD n :n, q :m", `{"n":{"N":"6"},"q":{"N":"10"}}`},
		{"ADD tags :s", `{"tags":{"SS":["a","b","q"]}}`},
		{"DELETE tags :s", `{"tags":{"SS":["a"]}}`},
		{"REMOVE s SET q = s ADD n :n", `{"s":null,"q":{"S":"x"},"n":{"N":"6"}}`},
		{"SET #10 = :a, #1 = :b", `{"ten":{"S":"abc"},"one":{"S":"b"}}`},
	}
	names := map[string]string{"#new": "new", "#1": "one", "#10": "ten"}
	for _, tt := range tests {
		u, err := expr.ParseUpdate(tt.text, scope(t, names))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		old := item(t, base)
		got, err := u.Apply(old)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if want := changed(t, base, tt.want); !value.EqualItems(got, want) {
			t.Errorf("%s = %v, want %v", tt.text, got, want)
		}
		if !value.EqualItems(old, item(t, base)) {
			t.Errorf("%s changed the item it was given: %v", tt.text, old)
		}
	}
}

// changed is the item with attributes replaced, or removed where null stands.
func changed(t *testing.T, base, by string) value.Item {
	out := item(t, base)
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(by), &raw); err != nil {
		t.Fatal(err)
	}
	for k, b := range raw {
		delete(out, k)
		if string(b) != "null" {
			out[k] = item(t, fmt.Sprintf(`{"x":%s}`, b))["x"]
		}
	}
	return out
}

func TestUpdatesRefused(t *testing.T) {
	tests := []struct{ text, want string }{
		{"PUT n = :n", "Syntax error"},
		{"SET n", "Syntax error"},
		{"SET n = :n, ", "Syntax error"},
		{"SET n = :n REMOVE n", "overlap"},
		{"SET m = :a, m.k = :a", "overlap"},
		{"SET m[0] = :a, m.k = :a", "conflict"},
		{"ADD n :a", "operand type: S"},
		{"DELETE n :n", "operand type: N"},
		{"ADD n n", "Syntax error"},
		{"SET n = n + :a", "operand type: S"},
		{"SET l = list_append(l, :a)", "operand type: S"},
		{"SET n = :n + :n + :n", "Syntax error"},
		{"SET date = :n", "reserved keyword: date"},
	}
	for _, tt := range tests {
		if _, err := expr.ParseUpdate(tt.text, scope(t, nil)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestUpdatesThatDoNotFitTheItem(t *testing.T) {
	tests := []struct{ text, want string }{
		{"SET q.r = :a", "document path"},
		{"SET s.r = :a", "document path"},
		{"SET l.r = :a", "document path"},
		{"REMOVE q.r", "document path"},
		{"SET q = r", "does not exist in the item"},
		{"SET q = s + :n", "incorrect data type"},
		{"ADD s :n", "incorrect data type"},
		{"ADD l :s", "incorrect data type"},
		{"DELETE s :s", "incorrect data type"},
	}
	for _, tt := range tests {
		u, err := expr.ParseUpdate(tt.text, scope(t, nil))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if _, err := u.Apply(item(t, row)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a = :a", "SET a = :a", "a.b[0], #c", "NOT (a IN (:a))", "ADD a :n"} {
		f.Add(s)
	}
	it := item(f, row)
	f.Fuzz(func(t *testing.T, text string) {
		s := scope(t, map[string]string{"#c": "c"})
		if c, err := expr.ParseCondition("ConditionExpression", text, s); err == nil {
			c.Holds(it)
		}
		if u, err := expr.ParseUpdate(text, s); err == nil {
			_, _ = u.Apply(it)
		}
		if p, err := expr.ParseProjection(text, s); err == nil {
			expr.Project(it, p)
		}
	})
}
