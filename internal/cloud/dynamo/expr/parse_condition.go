package expr

import (
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// maxIn is the most values of one IN list.
const maxIn = 100

// ParseCondition reads a condition or filter; what is its field in the request, for example "ConditionExpression". An
// empty text is the condition that always holds.
func ParseCondition(what, text string, scope *Scope) (Condition, error) {
	if text == "" {
		return Condition{}, nil
	}
	p, err := newParser(what, text, scope)
	if err != nil {
		return Condition{}, err
	}
	c := conditionParser{p, map[string]bool{}}
	root, err := c.or()
	if err != nil {
		return Condition{}, err
	}
	return Condition{root, c.names}, p.end()
}

type conditionParser struct {
	*parser
	names map[string]bool
}

func (p conditionParser) or() (node, error) {
	left, err := p.and()
	for err == nil && p.accept("OR") {
		var right node
		right, err = p.and()
		left = orNode{left, right}
	}
	return left, err
}

func (p conditionParser) and() (node, error) {
	left, err := p.not()
	for err == nil && p.accept("AND") {
		var right node
		right, err = p.not()
		left = andNode{left, right}
	}
	return left, err
}

func (p conditionParser) not() (node, error) {
	if !p.accept("NOT") {
		return p.primary()
	}
	inner, err := p.not()
	return notNode{inner}, err
}

func (p conditionParser) primary() (node, error) {
	if p.accept("(") {
		inner, err := p.or()
		if err != nil {
			return nil, err
		}
		if _, twice := inner.(parens); twice {
			return nil, p.fault("The expression has redundant parentheses;")
		}
		return parens{inner}, p.expect(")")
	}
	for _, f := range []string{"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"} {
		if p.call(f) {
			return p.function(f)
		}
	}
	if t := p.peek(); t.kind == tokWord && p.toks[p.pos+1].text == "(" && t.text != "size" {
		return nil, p.fault("Invalid function name; function: %s", t.text)
	}
	return p.comparison()
}

func (p conditionParser) function(name string) (node, error) {
	args, err := p.list()
	if err != nil {
		return nil, err
	}
	want := 2
	if strings.HasSuffix(name, "exists") {
		want = 1
	}
	if len(args) != want {
		return nil, p.fault("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, len(args))
	}
	return funcNode{name, args}, p.checkFunction(name, args)
}

func (p conditionParser) checkFunction(name string, args []operand) error {
	if strings.HasPrefix(name, "attribute_") && (args[0].path == nil || args[0].size) {
		return p.fault("Operator or function requires a document path; operator or function: %s", name)
	}
	if len(args) < 2 || args[1].literal == nil {
		if name == "attribute_type" {
			return p.fault("Incorrect operand type for operator or function; operator or function: attribute_type, operand type: path")
		}
		return nil
	}
	lit := *args[1].literal
	wrongType := (name == "begins_with" && lit.Kind != value.String && lit.Kind != value.Binary) || (name == "attribute_type" && lit.Kind != value.String)
	if wrongType {
		return p.fault("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", name, lit.Kind)
	}
	kinds := []string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}
	if name == "attribute_type" && !slices.Contains(kinds, lit.Str) {
		return p.fault("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", lit.Str)
	}
	return nil
}

func (p conditionParser) comparison() (node, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if p.accept("BETWEEN") {
		return p.between(left)
	}
	if p.accept("IN") {
		return p.in(left)
	}
	op := p.peek()
	if op.kind != tokPunct || !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, op.text) {
		return nil, p.syntax()
	}
	p.take()
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if left.path != nil && !left.size && !right.size && slices.Equal(left.path, right.path) {
		return nil, p.fault("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %v", op.text, left.path)
	}
	return compareNode{op.text, left, right}, p.checkOrdered(op.text, left, right)
}

// checkOrdered refuses literals that have no order where one is asked for.
func (p conditionParser) checkOrdered(op string, operands ...operand) error {
	if op == "=" || op == "<>" {
		return nil
	}
	for _, o := range operands {
		if o.literal == nil {
			continue
		}
		if _, ok := value.Compare(*o.literal, *o.literal); !ok {
			return p.fault("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, o.literal.Kind)
		}
	}
	return nil
}

func (p conditionParser) between(v operand) (node, error) {
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	if low.literal != nil && high.literal != nil {
		if c, ok := value.Compare(*low.literal, *high.literal); ok && c > 0 {
			return nil, p.fault("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: %v, upper bound operand: AttributeValue: %v", low.literal, high.literal)
		}
	}
	return betweenNode{v, low, high}, p.checkOrdered("BETWEEN", v, low, high)
}

func (p conditionParser) in(v operand) (node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	list, err := p.list()
	if err == nil && len(list) > maxIn {
		err = p.fault("The IN operator is provided with too many operands; number of operands: %d", len(list))
	}
	return inNode{v, list}, err
}

// list reads operands up to the closing parenthesis; at least one is due.
func (p conditionParser) list() ([]operand, error) {
	var out []operand
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		out = append(out, o)
		if !p.accept(",") {
			return out, p.expect(")")
		}
	}
}

func (p conditionParser) operand() (operand, error) {
	if p.peek().kind == tokValue {
		v, err := p.placeholder()
		return operand{literal: &v}, err
	}
	size := p.call("size")
	path, err := p.path()
	if err != nil {
		return operand{}, err
	}
	p.names[path[0].Name] = true
	if size {
		err = p.expect(")")
	}
	return operand{path: path, size: size}, err
}
