// Package money prices what model calls used, and says what a budget is: a limit of dollars for a scope in each window of time. A
// model without a price has no price, which is not zero. It reads no clock and stores nothing.
package money

import (
	"math"
	"strconv"
	"strings"
)

// Amount is money in billionths of a US dollar, up to Most.
type Amount int64

const dollar = 1e9

// Most is the largest amount, 2.3 billion dollars, and its negative the least. It leaves room for a sum.
const Most Amount = 1 << 61

// Dollars gives an amount of US dollars, rounded up to a billionth, and never more than Most.
func Dollars(d float64) Amount {
	return Amount(math.Ceil(max(min(d*dollar, float64(Most)), -float64(Most)) - 1e-6))
}

// Dollars is the amount in US dollars.
func (a Amount) Dollars() float64 { return float64(a) / dollar }

// String formats the amount with at least two decimals, and more only where it has them: $1.50, $0.000021.
func (a Amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	text := strings.TrimRight(strconv.FormatFloat(a.Dollars(), 'f', 9, 64), "0")
	if point := strings.IndexByte(text, '.'); len(text)-point < 3 {
		text += strings.Repeat("0", 3-(len(text)-point))
	}
	return sign + "$" + text
}
