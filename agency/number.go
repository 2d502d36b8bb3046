package agency

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// NumberText writes a number as JavaScript does: shortest digits, plain below 1e21, else with an exponent without leading zeros. It
// is how a number becomes a seed or an epoch.
func NumberText(n float64) string {
	switch a := math.Abs(n); {
	case n == 0:
		return "0"
	case math.IsNaN(n):
		return "NaN"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case a >= 1e-6 && a < 1e21:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(n, 'e', -1, 64), "e")
	return digits + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// textNumber reads a text as JavaScript's Number does; ok is false for blank text and for what is no finite number.
func textNumber(text string) (n float64, ok bool) {
	text = strings.TrimFunc(text, scriptSpace)
	if text == "" || strings.ContainsAny(text, "_nNpP") {
		return 0, false
	}
	if len(text) > 2 && text[0] == '0' && strings.ContainsRune("xXbBoO", rune(text[1])) {
		return prefixed(text)
	}
	if strings.ContainsAny(text, "xX") {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// prefixed reads 0x, 0b and 0o numbers, which have no sign.
func prefixed(text string) (float64, bool) {
	base := map[byte]float64{'x': 16, 'b': 2, 'o': 8}[text[1]|0x20]
	sum := 0.0
	for _, c := range text[2:] {
		d, err := strconv.ParseUint(string(c), 16, 8)
		if err != nil || float64(d) >= base {
			return 0, false
		}
		sum = sum*base + float64(d)
	}
	return sum, !math.IsInf(sum, 0)
}

// scriptSpace reports whether JavaScript trims the character.
func scriptSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// lessUTF16 orders texts by their UTF-16 code units.
func lessUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}
