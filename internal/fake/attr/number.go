package attr

import (
	"math/big"
	"strconv"
	"strings"
)

// The limits of a DynamoDB number: significant digits, and the power of ten of the first digit.
const (
	MaxDigits   = 38
	MaxExponent = 125
	MinExponent = -130
)

// Number is a decimal number as DynamoDB keeps it: exact, at most 38 significant digits. The zero value is 0.
type Number struct {
	unscaled big.Int // without trailing zeros
	exp      int
}

// ParseNumber reads a number: sign, digits, fraction and exponent. It refuses what DynamoDB refuses: anything that is
// not a number, more than 38 significant digits, magnitudes outside 1e-130 to 9.99e125.
func ParseNumber(text string) (Number, error) {
	mantissa, exp, err := splitExponent(text)
	if err != nil {
		return Number{}, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(strings.TrimLeft(whole, "+-"), "0")
	if !numeric(whole, fraction) {
		return Number{}, notANumber(text)
	}
	digits = strings.TrimLeft(digits+fraction, "0")
	if digits == "" {
		return Number{}, nil
	}
	trimmed := strings.TrimRight(digits, "0")
	n := Number{exp: exp - len(fraction) + len(digits) - len(trimmed)}
	n.unscaled.SetString(trimmed, 10)
	if strings.HasPrefix(whole, "-") {
		n.unscaled.Neg(&n.unscaled)
	}
	return n, n.inRange(len(trimmed))
}

func splitExponent(text string) (mantissa string, exp int, err error) {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return text, 0, nil
	}
	exp, err = strconv.Atoi(text[at+1:])
	if err != nil {
		return "", 0, notANumber(text)
	}
	return text[:at], exp, nil
}

// numeric reports whether whole (which may have a sign) and fraction hold digits alone, and at least one.
func numeric(whole, fraction string) bool {
	if strings.HasPrefix(whole, "+") || strings.HasPrefix(whole, "-") {
		whole = whole[1:]
	}
	all := whole + fraction
	return all != "" && strings.Trim(all, "0123456789") == ""
}

func notANumber(text string) error {
	return Refuse("The parameter cannot be converted to a numeric value: %s", text)
}

func (n Number) inRange(digits int) error {
	first := n.exp + digits - 1
	switch {
	case digits > MaxDigits:
		return Refuse("Attempting to store more than 38 significant digits in a Number")
	case first > MaxExponent:
		return Refuse("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case first < MinExponent:
		return Refuse("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	}
	return nil
}

// Plus gives n + m, or an error when the sum has no place in a DynamoDB number.
func (n Number) Plus(m Number) (Number, error) {
	exp := min(n.exp, m.exp)
	sum := new(big.Int).Add(n.scaledTo(exp), m.scaledTo(exp))
	return ParseNumber(sum.String() + "e" + strconv.Itoa(exp))
}

// Minus gives n - m, or an error when the difference has no place in a DynamoDB number.
func (n Number) Minus(m Number) (Number, error) {
	var negative Number
	negative.exp = m.exp
	negative.unscaled.Neg(&m.unscaled)
	return n.Plus(negative)
}

// Cmp is -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	exp := min(n.exp, m.exp)
	return n.scaledTo(exp).Cmp(m.scaledTo(exp))
}

func (n Number) scaledTo(exp int) *big.Int {
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.exp-exp)), nil)
	return factor.Mul(factor, &n.unscaled)
}

// String writes the number in full, without an exponent: the one form every equal number shares.
func (n Number) String() string {
	if n.exp >= 0 {
		return n.scaledTo(0).String()
	}
	digits := new(big.Int).Abs(&n.unscaled).String()
	if missing := 1 - n.exp - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + n.exp
	sign := ""
	if n.unscaled.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:point] + "." + digits[point:]
}

// size is the number of bytes DynamoDB counts: one for every two digits, one more, and one for a minus.
func (n Number) size() int {
	digits := len(new(big.Int).Abs(&n.unscaled).String())
	size := (digits+1)/2 + 1
	if n.unscaled.Sign() < 0 {
		size++
	}
	return size
}
