package expr

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// MaxIn is how many values IN may list (DynamoDB: 100).
const MaxIn = 100

func (p *parser) or() (node, error) {
	left, err := p.and()
	for err == nil && p.keyword("OR") {
		p.operators++
		var right node
		right, err = p.and()
		left = either{left, right}
	}
	return left, err
}

func (p *parser) and() (node, error) {
	left, err := p.unary()
	for err == nil && p.keyword("AND") {
		p.operators++
		var right node
		right, err = p.unary()
		left = both{left, right}
	}
	return left, err
}

func (p *parser) unary() (node, error) {
	switch {
	case p.keyword("NOT"):
		p.operators++
		inner, err := p.unary()
		return not{inner}, err
	case p.accept("("):
		return p.group()
	}
	if f := p.call(); f != "" && f != "size" {
		return p.function(f)
	}
	return p.comparison()
}

func (p *parser) group() (node, error) {
	inner, err := p.or()
	if err != nil {
		return nil, err
	}
	if _, twice := inner.(group); twice {
		return nil, p.refuse("The expression has redundant parentheses;")
	}
	return group{inner}, p.expect(")")
}

func (p *parser) comparison() (node, error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.operators++
	switch {
	case p.keyword("BETWEEN"):
		return p.between(a)
	case p.keyword("IN"):
		return p.oneOf(a)
	}
	op := p.peek()
	if op.kind != symbol || !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, op.text) {
		return nil, p.unexpected()
	}
	p.pos++
	b, err := p.operand()
	if err != nil {
		return nil, err
	}
	return compare{op.text, a, b}, p.checkCompare(op.text, a, b)
}

func (p *parser) checkCompare(op string, a, b operand) error {
	if err := p.distinct(op, a, b); err != nil {
		return err
	}
	if op == "=" || op == "<>" {
		return nil
	}
	return p.ordered(op, a, b)
}

// distinct refuses a path that is compared with itself.
func (p *parser) distinct(op string, a, b operand) error {
	x, first := a.(Path)
	y, second := b.(Path)
	if first && second && slices.Equal(x, y) {
		return p.refuse("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", op, x)
	}
	return nil
}

// ordered refuses constants that have no order.
func (p *parser) ordered(op string, operands ...operand) error {
	for _, o := range operands {
		if c, ok := o.(constant); ok && !slices.Contains([]string{"S", "N", "B"}, attr.Type(c.v)) {
			return p.wrongType(op, c.v)
		}
	}
	return nil
}

func (p *parser) wrongType(op string, v attr.Value) error {
	return p.refuse("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, attr.Type(v))
}

func (p *parser) between(v operand) (node, error) {
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if !p.keyword("AND") {
		return nil, p.unexpected()
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.checkBounds(low, high); err != nil {
		return nil, err
	}
	return between{v, low, high}, p.ordered("BETWEEN", low, high)
}

// checkBounds refuses constant bounds of different types or in the wrong order.
func (p *parser) checkBounds(low, high operand) error {
	l, constLow := low.(constant)
	h, constHigh := high.(constant)
	if !constLow || !constHigh || p.ordered("BETWEEN", low, high) != nil {
		return nil
	}
	rule := ""
	switch order, ok := attr.Compare(l.v, h.v); {
	case !ok:
		rule = "requires same data type for lower and upper bounds"
	case order > 0:
		rule = "requires upper bound to be greater than or equal to lower bound"
	default:
		return nil
	}
	return p.refuse("The BETWEEN operator %s; lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
		rule, attr.Type(l.v), attr.Text(l.v), attr.Type(h.v), attr.Text(h.v))
}

func (p *parser) oneOf(v operand) (node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	choices, err := list(p, p.operand)
	if err != nil {
		return nil, err
	}
	if len(choices) > MaxIn {
		return nil, p.refuse("The IN operator is provided with too many operands; number of operands: %d", len(choices))
	}
	return oneOf{append([]operand{v}, choices...)}, p.expect(")")
}

// operand reads a path, a constant or size(path).
func (p *parser) operand() (operand, error) {
	if p.peek().kind == value {
		v, err := p.scope.constant(p.what, p.take().text)
		return constant{v}, err
	}
	if p.call() != "size" {
		return p.path()
	}
	args, err := arguments(p, p.path)
	if err == nil && len(args) != 1 {
		err = p.wrongArguments("size", len(args))
	}
	if err != nil {
		return nil, err
	}
	return sizeOf{args[0]}, nil
}

func (p *parser) function(f string) (node, error) {
	want := map[string]int{"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2}[f]
	if want == 0 {
		return nil, p.refuse("Invalid function name; function: %s", f)
	}
	args, err := arguments(p, p.operand)
	if err != nil {
		return nil, err
	}
	if len(args) != want {
		return nil, p.wrongArguments(f, len(args))
	}
	return function{f, args}, p.checkFunction(f, args)
}

func (p *parser) checkFunction(f string, args []operand) error {
	if _, isPath := args[0].(Path); !isPath && f != "begins_with" && f != "contains" {
		return p.refuse("Operator or function requires a document path; operator or function: %s", f)
	}
	if len(args) == 1 {
		return nil
	}
	if f == "contains" {
		return p.distinct(f, args[0], args[1])
	}
	c, isConstant := args[1].(constant)
	if f == "begins_with" {
		if isConstant && !slices.Contains([]string{"S", "B"}, attr.Type(c.v)) {
			return p.wrongType(f, c.v)
		}
		return nil
	}
	s, isString := c.v.(*types.AttributeValueMemberS)
	if !isString || !slices.Contains([]string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}, s.Value) {
		return p.refuse("Invalid attribute type name found; valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}")
	}
	return nil
}
