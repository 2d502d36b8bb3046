package expr

import (
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// MaxOperators is how many operators and functions an expression may hold (DynamoDB: 300).
const MaxOperators = 300

// parser reads one expression. what is the name of the request field, for messages.
type parser struct {
	scope     *Scope
	what      string
	text      string
	tokens    []token
	pos       int
	operators int
}

func (s *Scope) parser(what, text string) (*parser, error) {
	s.parsed = true
	tokens, err := lex(what, text)
	return &parser{scope: s, what: what, text: text, tokens: tokens}, err
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) take() token {
	t := p.tokens[p.pos]
	if t.kind != end {
		p.pos++
	}
	return t
}

// accept takes the next token if it is the symbol s.
func (p *parser) accept(s string) bool {
	if t := p.peek(); t.kind != symbol || t.text != s {
		return false
	}
	p.pos++
	return true
}

// keyword takes the next token if it is the keyword w.
func (p *parser) keyword(w string) bool {
	if !p.peek().is(w) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(s string) error {
	if !p.accept(s) {
		return p.unexpected()
	}
	return nil
}

func (p *parser) done() error {
	if p.peek().kind != end {
		return p.unexpected()
	}
	if p.operators > MaxOperators {
		return p.refuse("The expression contains too many operators; operator count: %d", p.operators)
	}
	return nil
}

func (p *parser) unexpected() error { return syntaxError(p.what, p.text, p.peek()) }

func (p *parser) refuse(format string, args ...any) error {
	return attr.Refuse("Invalid "+p.what+": "+format, args...)
}

// path reads a document path.
func (p *parser) path() (Path, error) {
	first, err := p.pathField()
	if err != nil {
		return nil, err
	}
	path := Path{first}
	for {
		switch {
		case p.accept("."):
			s, err := p.pathField()
			if err != nil {
				return nil, err
			}
			path = append(path, s)
		case p.accept("["):
			s, err := p.pathIndex()
			if err != nil {
				return nil, err
			}
			path = append(path, s)
		default:
			return path, nil
		}
	}
}

func (p *parser) pathField() (step, error) {
	switch t := p.peek(); t.kind {
	case name:
		p.pos++
		real, err := p.scope.attribute(p.what, t.text)
		return step{field: real}, err
	case word:
		if Reserved(t.text) {
			return step{}, p.refuse("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		p.pos++
		return step{field: t.text}, nil
	}
	return step{}, p.unexpected()
}

func (p *parser) pathIndex() (step, error) {
	t := p.peek()
	if t.kind != number {
		return step{}, p.unexpected()
	}
	p.pos++
	n, err := strconv.Atoi(t.text)
	if err != nil {
		return step{}, p.refuse("List index is not within the allowable range; index: [%s]", t.text)
	}
	return step{index: n}, p.expect("]")
}

// call reports the name of the function that begins here, "" if none does.
func (p *parser) call() string {
	t := p.peek()
	if t.kind != word || p.tokens[p.pos+1].text != "(" {
		return ""
	}
	return t.text
}

// arguments reads what is between the parentheses of a function, each with read.
func arguments[T any](p *parser, read func() (T, error)) ([]T, error) {
	p.pos += 2
	p.operators++
	args, err := list(p, read)
	if err != nil {
		return nil, err
	}
	return args, p.expect(")")
}

// list reads one or more things with commas between them.
func list[T any](p *parser, read func() (T, error)) ([]T, error) {
	var out []T
	for {
		one, err := read()
		if err != nil {
			return nil, err
		}
		if out = append(out, one); !p.accept(",") {
			return out, nil
		}
	}
}

func (p *parser) wrongArguments(function string, got int) error {
	return p.refuse("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", strings.ToLower(function), got)
}
