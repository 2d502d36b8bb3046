package tool

// RequireApproval marks a tool: a person decides before each call. The mark alone stops nothing; whoever runs the tool
// honours it.
func RequireApproval(t Tool) Tool {
	return marked{Tool: t, mark: func(s *Spec) { s.RequireApproval = true }}
}

// Once marks a tool that must not run twice, also when its worker died in the middle. The outcome may then stay unknown.
func Once(t Tool) Tool {
	return marked{Tool: t, mark: func(s *Spec) { s.Once = true }}
}

// ReadOnly marks a tool that changes nothing, so that it may be repeated.
func ReadOnly(t Tool) Tool {
	return marked{Tool: t, mark: func(s *Spec) { s.ReadOnly = true }}
}

// ByName marks a tool that is offered only to sessions and tasks which name it.
func ByName(t Tool) Tool {
	return marked{Tool: t, mark: func(s *Spec) { s.ByName = true }}
}

// marked is a tool with a changed spec.
type marked struct {
	Tool
	mark func(*Spec)
}

func (m marked) Spec() Spec {
	s := m.Tool.Spec()
	m.mark(&s)
	return s
}
