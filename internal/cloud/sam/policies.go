package sam

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

type policyDocument struct {
	Statement []struct {
		Effect      string    `yaml:"Effect"`
		Action      oneOrMany `yaml:"Action"`
		Resource    oneOrMany `yaml:"Resource"`
		NotAction   yaml.Node `yaml:"NotAction"`
		NotResource yaml.Node `yaml:"NotResource"`
	} `yaml:"Statement"`
}

// statements reads Policies: one document or a list of them. Managed policies and SAM's policy templates are refused,
// because what they grant is not written in the template. Conditions of a statement are not looked at.
func statements(n *yaml.Node) ([]Statement, error) {
	var documents []*yaml.Node
	switch n.Kind {
	case 0:
		return nil, nil
	case yaml.SequenceNode:
		documents = n.Content
	default:
		documents = []*yaml.Node{n}
	}
	var out []Statement
	for i, d := range documents {
		found, err := document(d)
		if err != nil {
			return nil, fmt.Errorf("policy %d: %w", i+1, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func document(n *yaml.Node) ([]Statement, error) {
	if field(n, "Statement") == nil {
		return nil, fmt.Errorf("only policies written out as a Statement are supported")
	}
	var doc policyDocument
	if err := n.Decode(&doc); err != nil {
		return nil, err
	}
	var out []Statement
	for _, s := range doc.Statement {
		switch {
		case s.Effect != "Allow":
			return nil, fmt.Errorf("effect %q is not supported: Allow is", s.Effect)
		case s.NotAction.Kind != 0 || s.NotResource.Kind != 0:
			return nil, fmt.Errorf("NotAction and NotResource are not supported")
		case len(s.Action) == 0 || len(s.Resource) == 0:
			return nil, fmt.Errorf("a statement needs Action and Resource")
		}
		out = append(out, Statement{Actions: s.Action, Resources: s.Resource})
	}
	return out, nil
}
