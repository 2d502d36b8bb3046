package expr

import (
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// ParseUpdate reads an UpdateExpression. An empty text is the update that changes nothing.
func ParseUpdate(text string, scope *Scope) (Update, error) {
	if text == "" {
		return Update{}, nil
	}
	p, err := newParser("UpdateExpression", text, scope)
	if err != nil {
		return Update{}, err
	}
	var u Update
	seen := map[string]bool{}
	for p.peek().kind != tokEnd {
		if err := (updateParser{p, &u}).section(seen); err != nil {
			return Update{}, err
		}
	}
	if err := checkOverlap(u.Paths()); err != nil {
		return Update{}, p.fault("%v", err)
	}
	return u, nil
}

type updateParser struct {
	*parser
	u *Update
}

func (p updateParser) section(seen map[string]bool) error {
	sections := []struct {
		name string
		read func() error
	}{
		{"SET", p.set},
		{"REMOVE", p.remove},
		{"ADD", func() error { return p.changes("ADD", &p.u.adds) }},
		{"DELETE", func() error { return p.changes("DELETE", &p.u.deletes) }},
	}
	for _, s := range sections {
		if !p.accept(s.name) {
			continue
		}
		if seen[s.name] {
			return p.fault("The %q section can only be used once in an update expression;", s.name)
		}
		seen[s.name] = true
		return s.read()
	}
	return p.syntax()
}

func (p updateParser) set() error {
	for {
		path, err := p.path()
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		v, err := p.sum()
		if err != nil {
			return err
		}
		p.u.sets = append(p.u.sets, assignment{path, v})
		if !p.accept(",") {
			return nil
		}
	}
}

func (p updateParser) remove() error {
	paths, err := p.paths()
	p.u.removes = append(p.u.removes, paths...)
	return err
}

func (p updateParser) changes(section string, out *[]change) error {
	for {
		path, err := p.path()
		if err != nil {
			return err
		}
		v, err := p.placeholder()
		if err != nil {
			return err
		}
		isSet := v.Kind == value.StringSet || v.Kind == value.NumberSet || v.Kind == value.BinarySet
		if !isSet && (section == "DELETE" || v.Kind != value.Number) {
			return p.fault("Incorrect operand type for operator or function; operator: %s, operand type: %s", section, v.Kind)
		}
		*out = append(*out, change{path, v})
		if !p.accept(",") {
			return nil
		}
	}
}

func (p updateParser) sum() (source, error) {
	left, err := p.source()
	if err != nil {
		return nil, err
	}
	minus := p.is("-")
	if !p.accept("+") && !p.accept("-") {
		return left, nil
	}
	right, err := p.source()
	if err != nil {
		return nil, err
	}
	for _, s := range []source{left, right} {
		if err := p.literalOf(s, value.Number, "+"); err != nil {
			return nil, err
		}
	}
	return arithmetic{minus, left, right}, nil
}

// literalOf refuses a literal of another kind before any item is read.
func (p updateParser) literalOf(s source, kind value.Kind, op string) error {
	if lit, ok := s.(literal); ok && lit.v.Kind != kind {
		return p.fault("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, lit.v.Kind)
	}
	return nil
}

func (p updateParser) source() (source, error) {
	switch {
	case p.call("if_not_exists"):
		return p.ifNotExists()
	case p.call("list_append"):
		return p.listAppend()
	case p.peek().kind == tokValue:
		v, err := p.placeholder()
		return literal{v}, err
	}
	path, err := p.path()
	return pathSource{path}, err
}

func (p updateParser) ifNotExists() (source, error) {
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	or, err := p.source()
	if err != nil {
		return nil, err
	}
	return ifNotExists{path, or}, p.expect(")")
}

func (p updateParser) listAppend() (source, error) {
	left, err := p.source()
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	right, err := p.source()
	if err != nil {
		return nil, err
	}
	for _, s := range []source{left, right} {
		if err := p.literalOf(s, value.List, "list_append"); err != nil {
			return nil, err
		}
	}
	return listAppend{left, right}, p.expect(")")
}
