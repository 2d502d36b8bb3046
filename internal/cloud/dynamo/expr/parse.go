package expr

import (
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// parser walks the tokens of one expression. what is the request field, for the messages.
type parser struct {
	what  string
	text  string
	toks  []token
	pos   int
	scope *Scope
}

func newParser(what, text string, scope *Scope) (*parser, error) {
	p := &parser{what: what, text: text, scope: scope}
	if len(text) > MaxLength {
		return nil, p.fault("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	if strings.Trim(text, whitespace) == "" {
		return nil, p.fault("The expression can not be empty;")
	}
	p.toks = lex(text)
	return p, nil
}

func (p *parser) fault(format string, args ...any) error {
	return faultf("Invalid "+p.what+": "+format, args...)
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) take() {
	if p.peek().kind != tokEnd {
		p.pos++
	}
}

func (p *parser) syntax() error {
	t := p.peek()
	from, to := max(0, t.start-10), min(len(p.text), t.start+len(t.text)+10)
	return p.fault("Syntax error; token: %q, near: %q", t.text, p.text[from:to])
}

// is reports whether the next token is the punctuation or the keyword (in any case) given.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == tokPunct && t.text == text) || (t.kind == tokWord && strings.EqualFold(t.text, text))
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.syntax()
	}
	return nil
}

func (p *parser) end() error {
	if p.peek().kind != tokEnd {
		return p.syntax()
	}
	return nil
}

// call reports whether a function of that name (case matters) with its parenthesis comes next, and steps inside.
func (p *parser) call(name string) bool {
	if p.peek().text == name && p.toks[min(p.pos+1, len(p.toks)-1)].text == "(" {
		p.pos += 2
		return true
	}
	return false
}

// path reads a document path: name, then .name and [index].
func (p *parser) path() (Path, error) {
	first, err := p.pathName()
	if err != nil {
		return nil, err
	}
	path := Path{{Name: first}}
	for {
		switch {
		case p.accept("."):
			name, err := p.pathName()
			if err != nil {
				return nil, err
			}
			path = append(path, Step{Name: name})
		case p.is("["):
			step, err := p.index()
			if err != nil {
				return nil, err
			}
			path = append(path, step)
		default:
			if len(path) > value.MaxDepth {
				return nil, p.fault("The document path has too many nesting elements; nesting levels: %d", len(path))
			}
			return path, nil
		}
	}
}

func (p *parser) index() (Step, error) {
	p.take()
	t := p.peek()
	n, err := strconv.Atoi(t.text)
	if t.kind != tokNumber || err != nil {
		return Step{}, p.syntax()
	}
	p.take()
	return Step{Index: n, IsIndex: true}, p.expect("]")
}

func (p *parser) pathName() (string, error) {
	t := p.peek()
	switch t.kind {
	case tokName:
		name, ok := p.scope.name(t.text)
		if !ok {
			return "", p.fault("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		p.take()
		return name, nil
	case tokWord:
		if reserved(t.text) {
			return "", p.fault("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		p.take()
		return t.text, nil
	}
	return "", p.syntax()
}

func (p *parser) placeholder() (value.Value, error) {
	t := p.peek()
	if t.kind != tokValue {
		return value.Value{}, p.syntax()
	}
	v, ok := p.scope.value(t.text)
	if !ok {
		return value.Value{}, p.fault("An expression attribute value used in expression is not defined; attribute value: %s", t.text)
	}
	p.take()
	return v, nil
}
