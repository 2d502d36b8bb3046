package expr

import (
	"strings"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// MaxBytes is how long one expression may be (DynamoDB: expression size 4 KB).
const MaxBytes = 4096

type kind int

const (
	end    kind = iota
	word        // attribute, keyword or function
	name        // #placeholder
	value       // :placeholder
	number      // list index
	symbol      // punctuation or operator
)

type token struct {
	kind kind
	text string
	at   int
}

// is reports whether the token is the keyword w, in any case.
func (t token) is(w string) bool { return t.kind == word && strings.EqualFold(t.text, w) }

func lex(what, text string) ([]token, error) {
	if strings.TrimSpace(text) == "" {
		return nil, attr.Refuse("Invalid %s: The expression can not be empty;", what)
	}
	if len(text) > MaxBytes {
		return nil, attr.Refuse("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %d", what, len(text))
	}
	var tokens []token
	for i := 0; i < len(text); {
		if strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
			continue
		}
		t := next(text, i)
		if t.kind == end {
			return nil, syntaxError(what, text, token{text: text[i : i+1], at: i})
		}
		tokens = append(tokens, t)
		i += len(t.text)
	}
	return append(tokens, token{kind: end, text: "<EOF>", at: len(text)}), nil
}

func next(text string, at int) token {
	c, rest := text[at], text[at:]
	switch {
	case letter(c):
		return token{word, run(rest, 1), at}
	case c == '#' && len(run(rest, 1)) > 1:
		return token{name, run(rest, 1), at}
	case c == ':' && len(run(rest, 1)) > 1:
		return token{value, run(rest, 1), at}
	case digit(c):
		n := 1
		for n < len(rest) && digit(rest[n]) {
			n++
		}
		return token{number, rest[:n], at}
	}
	for _, s := range []string{"<>", "<=", ">=", "<", ">", "=", "(", ")", "[", "]", ",", ".", "+", "-"} {
		if strings.HasPrefix(rest, s) {
			return token{symbol, s, at}
		}
	}
	return token{kind: end, at: at}
}

// run gives the first from bytes and all letters, digits and underscores after them.
func run(text string, from int) string {
	n := from
	for n < len(text) && (letter(text[n]) || digit(text[n])) {
		n++
	}
	return text[:n]
}

func letter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

func syntaxError(what, text string, t token) error {
	near := text[max(0, t.at-10):min(len(text), t.at+len(t.text)+10)]
	return attr.Refuse("Invalid %s: Syntax error; token: %q, near: %q", what, t.text, near)
}
