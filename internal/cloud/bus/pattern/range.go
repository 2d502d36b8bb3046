package pattern

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
)

// numeric takes one comparison, or two that make a range.
func numeric(arg any) (test, error) {
	list, ok := arg.([]any)
	if !ok || (len(list) != 2 && len(list) != 4) {
		return test{}, fmt.Errorf(`numeric takes ["=", 5] or a range such as [">", 0, "<=", 5]`)
	}
	var checks []func(*big.Rat) bool
	for i := 0; i < len(list); i += 2 {
		check, err := comparison(list[i], list[i+1])
		if err != nil {
			return test{}, err
		}
		checks = append(checks, check)
	}
	return test{holds: func(leaf any) bool {
		n, ok := rational(leaf)
		for _, check := range checks {
			if !ok || !check(n) {
				return false
			}
		}
		return true
	}}, nil
}

func comparison(op, operand any) (func(*big.Rat) bool, error) {
	want, ok := rational(operand)
	if !ok {
		return nil, fmt.Errorf("numeric: %v is no number", operand)
	}
	if limit := big.NewRat(5e9, 1); new(big.Rat).Abs(want).Cmp(limit) > 0 {
		return nil, fmt.Errorf("numeric: %v is not between -5.0e9 and 5.0e9", operand)
	}
	switch op {
	case "=":
		return func(n *big.Rat) bool { return n.Cmp(want) == 0 }, nil
	case "<":
		return func(n *big.Rat) bool { return n.Cmp(want) < 0 }, nil
	case "<=":
		return func(n *big.Rat) bool { return n.Cmp(want) <= 0 }, nil
	case ">":
		return func(n *big.Rat) bool { return n.Cmp(want) > 0 }, nil
	case ">=":
		return func(n *big.Rat) bool { return n.Cmp(want) >= 0 }, nil
	}
	return nil, fmt.Errorf("numeric: unrecognized comparison %v", op)
}

// rational is the exact value of a number; one whose exponent is absurd counts as none.
func rational(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok || len(n) > 64 {
		return nil, false
	}
	if f, err := n.Float64(); err != nil || f > 1e30 || f < -1e30 {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

func cidr(arg any) (test, error) {
	s, ok := arg.(string)
	if !ok {
		return test{}, fmt.Errorf("cidr takes a text")
	}
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		return test{}, fmt.Errorf("cidr: %w", err)
	}
	return onText(func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && prefix.Contains(a)
	}), nil
}
