package expr

import "github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"

// KeyCondition is what a Query asks of the keys: one partition, and a range of its sort keys.
type KeyCondition struct {
	Hash value.Value
	sort node // nil: every sort key
}

// Sort reports whether an item of the partition lies in the range.
func (k KeyCondition) Sort(it value.Item) bool { return k.sort == nil || k.sort.holds(it) }

// ParseKeyCondition reads a KeyConditionExpression for a table or index with these key attributes (sort may be empty).
// Key values must be of the kind given by kinds.
func ParseKeyCondition(text string, scope *Scope, hash, sort string, kinds func(attribute string) value.Kind) (KeyCondition, error) {
	c, err := ParseCondition("KeyConditionExpression", text, scope)
	if err != nil {
		return KeyCondition{}, err
	}
	if c.root == nil {
		return KeyCondition{}, faultf("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	parts, err := conjuncts(c.root)
	if err != nil {
		return KeyCondition{}, err
	}
	var out KeyCondition
	seen := map[string]bool{}
	for _, part := range parts {
		name, literals, ok := keyPart(part)
		if !ok {
			return KeyCondition{}, faultf("Invalid operator used in KeyConditionExpression")
		}
		if name != hash && (name != sort || sort == "") {
			return KeyCondition{}, faultf("Query condition missed key schema element: %s", missing(seen, hash, sort))
		}
		if seen[name] {
			return KeyCondition{}, faultf("KeyConditionExpressions must only contain one condition per key")
		}
		seen[name] = true
		if err := checkLiterals(name, literals, kinds(name)); err != nil {
			return KeyCondition{}, err
		}
		if name == sort {
			out.sort = part
			continue
		}
		if cmp, ok := part.(compareNode); !ok || cmp.op != "=" {
			return KeyCondition{}, faultf("Query key condition not supported")
		}
		out.Hash = literals[0]
	}
	if !seen[hash] {
		return KeyCondition{}, faultf("Query condition missed key schema element: %s", hash)
	}
	return out, nil
}

func missing(seen map[string]bool, hash, sort string) string {
	if seen[hash] {
		return sort
	}
	return hash
}

// conjuncts flattens ANDs, inside parentheses too.
func conjuncts(n node) ([]node, error) {
	switch n := n.(type) {
	case parens:
		return conjuncts(n.node)
	case andNode:
		left, err := conjuncts(n.left)
		if err != nil {
			return nil, err
		}
		right, err := conjuncts(n.right)
		return append(left, right...), err
	case orNode:
		return nil, faultf("Invalid operator used in KeyConditionExpression: OR")
	case notNode:
		return nil, faultf("Invalid operator used in KeyConditionExpression: NOT")
	}
	return []node{n}, nil
}

// keyPart splits a comparison of a plain attribute with literals; ok is false for anything else.
func keyPart(n node) (name string, literals []value.Value, ok bool) {
	var operands []operand
	switch n := n.(type) {
	case compareNode:
		if n.op == "<>" {
			return "", nil, false
		}
		operands = []operand{n.left, n.right}
	case betweenNode:
		operands = []operand{n.v, n.low, n.high}
	case funcNode:
		if n.name != "begins_with" {
			return "", nil, false
		}
		operands = n.args
	default:
		return "", nil, false
	}
	if len(operands[0].path) != 1 || operands[0].size {
		return "", nil, false
	}
	for _, o := range operands[1:] {
		if o.literal == nil {
			return "", nil, false
		}
		literals = append(literals, *o.literal)
	}
	return operands[0].path[0].Name, literals, true
}

func checkLiterals(name string, literals []value.Value, kind value.Kind) error {
	for _, v := range literals {
		if v.Kind != kind {
			return faultf("One or more parameter values were invalid: Condition parameter type does not match schema type")
		}
		if v.Kind != value.Number && v.Str == "" {
			return faultf("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
		}
	}
	return nil
}
