package expr

import "strings"

type tokenKind int

const (
	tokEnd    tokenKind = iota
	tokWord             // an attribute name, a keyword or a function
	tokName             // #placeholder
	tokValue            // :placeholder
	tokNumber           // inside [ ]
	tokPunct            // = <> < <= > >= ( ) [ ] , . + -
)

type token struct {
	kind  tokenKind
	text  string
	start int
}

const (
	letters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	digits     = "0123456789"
	whitespace = " \t\r\n"
)

// lex splits text into tokens; a character that fits none ends up as a token of its own, which no rule accepts.
func lex(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		if strings.IndexByte(whitespace, text[i]) >= 0 {
			i++
			continue
		}
		t := next(text, i)
		out = append(out, t)
		i += len(t.text)
	}
	return append(out, token{kind: tokEnd, text: "<EOF>", start: len(text)})
}

func next(text string, i int) token {
	c, rest := text[i], text[i+1:]
	switch {
	case c == '#' || c == ':':
		kind := tokName
		if c == ':' {
			kind = tokValue
		}
		return token{kind, text[i : i+1+span(rest, letters+digits)], i}
	case strings.IndexByte(letters, c) >= 0:
		return token{tokWord, text[i : i+1+span(rest, letters+digits)], i}
	case strings.IndexByte(digits, c) >= 0:
		return token{tokNumber, text[i : i+1+span(rest, digits)], i}
	case i+1 < len(text) && (text[i:i+2] == "<>" || text[i:i+2] == "<=" || text[i:i+2] == ">="):
		return token{tokPunct, text[i : i+2], i}
	}
	return token{tokPunct, text[i : i+1], i}
}

func span(s, set string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(set, r) })
	if n < 0 {
		return len(s)
	}
	return n
}
