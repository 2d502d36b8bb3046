package expr

import (
	"strings"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Update parses an UpdateExpression. Each of SET, REMOVE, ADD and DELETE may come once.
func (s *Scope) Update(text string) (Update, error) {
	p, err := s.parser("UpdateExpression", text)
	if err != nil {
		return Update{}, err
	}
	var u Update
	seen := map[string]bool{}
	for p.peek().kind != end {
		clause := strings.ToUpper(p.take().text)
		if seen[clause] {
			return Update{}, p.refuse("The %q section can only be used once in an update expression;", clause)
		}
		seen[clause] = true
		if err := p.clause(&u, clause); err != nil {
			return Update{}, err
		}
	}
	if err := p.done(); err != nil {
		return Update{}, err
	}
	return u, disjoint(p.what, u.paths())
}

func (p *parser) clause(u *Update, clause string) (err error) {
	switch clause {
	case "SET":
		u.sets, err = list(p, p.assignment)
	case "REMOVE":
		u.removes, err = list(p, p.path)
	case "ADD":
		u.adds, err = list(p, func() (assignment, error) { return p.change("ADD", "N", "SS", "NS", "BS") })
	case "DELETE":
		u.deletions, err = list(p, func() (assignment, error) { return p.change("DELETE", "SS", "NS", "BS") })
	default:
		p.pos--
		return p.unexpected()
	}
	return err
}

// assignment reads path = term, path = term + term or path = term - term.
func (p *parser) assignment() (assignment, error) {
	path, err := p.path()
	if err == nil {
		err = p.expect("=")
	}
	if err != nil {
		return assignment{}, err
	}
	p.operators++
	to, err := p.term()
	if err != nil {
		return assignment{}, err
	}
	if plus, minus := p.accept("+"), p.accept("-"); plus || minus {
		p.operators++
		var b term
		b, err = p.term()
		to = added{to, b, minus}
		if err == nil {
			err = p.checkSum(to.(added))
		}
	}
	return assignment{path, to}, err
}

func (p *parser) checkSum(s added) error {
	op := "+"
	if s.minus {
		op = "-"
	}
	for _, t := range []term{s.a, s.b} {
		if c, ok := t.(constant); ok && attr.Type(c.v) != "N" {
			return p.wrongType(op, c.v)
		}
	}
	return nil
}

func (p *parser) term() (term, error) {
	if p.peek().kind == value {
		v, err := p.scope.constant(p.what, p.take().text)
		return constant{v}, err
	}
	switch f := p.call(); f {
	case "":
		path, err := p.path()
		return stored{path}, err
	case "if_not_exists", "list_append":
		return p.termFunction(f)
	default:
		return nil, p.refuse("Invalid function name; function: %s", f)
	}
}

func (p *parser) termFunction(f string) (term, error) {
	args, err := arguments(p, p.term)
	if err != nil {
		return nil, err
	}
	if len(args) != 2 {
		return nil, p.wrongArguments(f, len(args))
	}
	if f == "list_append" {
		for _, a := range args {
			if c, ok := a.(constant); ok && attr.Type(c.v) != "L" {
				return nil, p.wrongType(f, c.v)
			}
		}
		return appended{args[0], args[1]}, nil
	}
	at, ok := args[0].(stored)
	if !ok {
		return nil, p.refuse("Operator or function requires a document path; operator or function: %s", f)
	}
	return orElse{at.path, args[1]}, nil
}

// change reads path :value for ADD and DELETE, the value being of one of the types.
func (p *parser) change(clause string, allowed ...string) (assignment, error) {
	path, err := p.path()
	if err != nil {
		return assignment{}, err
	}
	t := p.peek()
	if t.kind != value {
		return assignment{}, p.unexpected()
	}
	p.pos++
	v, err := p.scope.constant(p.what, t.text)
	if err != nil {
		return assignment{}, err
	}
	if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+attr.Type(v)+" ") {
		return assignment{}, p.wrongType(clause, v)
	}
	return assignment{path, constant{v}}, nil
}
