package value

import (
	"math/big"
	"strconv"
	"strings"
)

// Limits of a DynamoDB number.
const (
	MaxDigits   = 38
	maxExponent = 125  // of the first digit: 9.99...E+125
	minExponent = -130 // of the first digit: 1E-130
)

// Faults of numbers.
const (
	errDigits    = Fault("Attempting to store more than 38 significant digits in a Number")
	errOverflow  = Fault("Number overflow. Attempting to store a number with magnitude larger than supported range")
	errUnderflow = Fault("Number underflow. Attempting to store a number with magnitude smaller than supported range")
)

// Decimal is an exact decimal number: sign, digits and the power of ten of its last digit. The zero value is 0; every
// other value has neither leading nor trailing zeros among its digits, so equal numbers are equal structs.
type Decimal struct {
	neg    bool
	digits string
	exp    int
}

// ParseDecimal reads a number as DynamoDB does: optional sign, digits with an optional point, optional exponent.
// It refuses more than 38 significant digits and magnitudes outside
// 1E-130 to 9.9...E+125 with a Fault.
func ParseDecimal(s string) (Decimal, error) {
	bad := Fault("The parameter cannot be converted to a numeric value: " + s)
	mantissa, exponent, hasExp := s, 0, false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e > 1<<20 || e < -(1<<20) {
			return Decimal{}, bad
		}
		mantissa, exponent, hasExp = s[:i], e, true
	}
	neg := strings.HasPrefix(mantissa, "-")
	mantissa = strings.TrimPrefix(strings.TrimPrefix(mantissa, "-"), "+")
	if neg && strings.HasPrefix(s[1:], "+") {
		return Decimal{}, bad
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (hasExp && mantissa == "") {
		return Decimal{}, bad
	}
	return newDecimal(neg, digits, exponent-len(frac))
}

func newDecimal(neg bool, digits string, exp int) (Decimal, error) {
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return Decimal{}, nil
	}
	exp += len(digits) - len(trimmed)
	switch first := exp + len(trimmed) - 1; {
	case first > maxExponent:
		return Decimal{}, errOverflow
	case first < minExponent:
		return Decimal{}, errUnderflow
	case len(trimmed) > MaxDigits:
		return Decimal{}, errDigits
	}
	return Decimal{neg: neg, digits: trimmed, exp: exp}, nil
}

// Add is the exact sum, or the fault of a sum that a DynamoDB number cannot hold.
func (d Decimal) Add(o Decimal) (Decimal, error) {
	low := min(d.exp, o.exp)
	sum := new(big.Int).Add(d.scaled(low), o.scaled(low))
	return newDecimal(sum.Sign() < 0, new(big.Int).Abs(sum).String(), low)
}

// Neg is the number with its sign turned.
func (d Decimal) Neg() Decimal {
	if d.digits != "" {
		d.neg = !d.neg
	}
	return d
}

// Cmp is -1, 0 or +1.
func (d Decimal) Cmp(o Decimal) int {
	low := min(d.exp, o.exp)
	return d.scaled(low).Cmp(o.scaled(low))
}

// Size is the bytes DynamoDB counts: one, one for each two digits, one for a minus sign.
func (d Decimal) Size() int {
	n := 1 + (len(d.digits)+1)/2
	if d.neg {
		n++
	}
	return n
}

// String is the number written out without an exponent, as DynamoDB returns it.
func (d Decimal) String() string {
	s := d.plain()
	if d.neg {
		return "-" + s
	}
	return s
}

func (d Decimal) plain() string {
	switch point := len(d.digits) + d.exp; {
	case d.digits == "":
		return "0"
	case d.exp >= 0:
		return d.digits + strings.Repeat("0", d.exp)
	case point > 0:
		return d.digits[:point] + "." + d.digits[point:]
	default:
		return "0." + strings.Repeat("0", -point) + d.digits
	}
}

// scaled is the number as an integer count of 10^low.
func (d Decimal) scaled(low int) *big.Int {
	if d.digits == "" {
		return new(big.Int)
	}
	n, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", d.exp-low), 10)
	if d.neg {
		n.Neg(n)
	}
	return n
}

// Int is n as a Decimal.
func Int(n int) Decimal {
	d, _ := newDecimal(n < 0, strings.TrimPrefix(strconv.Itoa(n), "-"), 0)
	return d
}
