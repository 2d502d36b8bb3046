package sam

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parameter is the declaration of one template parameter.
type parameter struct {
	Type           string   `yaml:"Type"`
	Default        *string  `yaml:"Default"`
	AllowedPattern string   `yaml:"AllowedPattern"`
	AllowedValues  []string `yaml:"AllowedValues"`
	Constraint     string   `yaml:"ConstraintDescription"`
	MinValue       *float64 `yaml:"MinValue"`
	MaxValue       *float64 `yaml:"MaxValue"`
	MinLength      *number  `yaml:"MinLength"`
	MaxLength      *number  `yaml:"MaxLength"`
}

// parameters checks the given values against the declarations and fills in defaults. Every error names its parameter.
func parameters(declared *yaml.Node, in Inputs) (map[string]*yaml.Node, error) {
	out := map[string]*yaml.Node{}
	for _, p := range pairs(declared) {
		var decl parameter
		if err := p.value.Decode(&decl); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.key, err)
		}
		value, err := decl.value(in, p.key)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.key, err)
		}
		out[p.key] = value
	}
	return out, unknownParameters(out, in.Parameters)
}

func unknownParameters(declared map[string]*yaml.Node, given map[string]string) error {
	var unknown []string
	for name := range given {
		if declared[name] == nil {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return fmt.Errorf("parameter %s: the template has none of this name", strings.Join(unknown, ", "))
}

func (p parameter) value(in Inputs, name string) (*yaml.Node, error) {
	value, ok := in.Parameters[name]
	if !ok {
		value, ok = in.Preferred[name]
	}
	if !ok && p.Default != nil {
		value, ok = *p.Default, true
	}
	if !ok {
		value, ok = in.Defaults[name]
	}
	if !ok {
		return nil, fmt.Errorf("needs a value: it has no default")
	}
	if err := p.check(value); err != nil {
		if p.Constraint != "" {
			err = fmt.Errorf("%w (%s)", err, p.Constraint)
		}
		return nil, err
	}
	return p.node(value)
}

// node gives the value its YAML type, so that a Number stays a number in patterns and sizes.
func (p parameter) node(value string) (*yaml.Node, error) {
	switch p.Type {
	case "Number":
		tag := "!!float"
		if _, err := strconv.Atoi(value); err == nil {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}, nil
	case "String":
		return text(value), nil
	case "CommaDelimitedList":
		var items []*yaml.Node
		for item := range strings.SplitSeq(value, ",") {
			items = append(items, text(strings.TrimSpace(item)))
		}
		return list(items...), nil
	}
	return nil, fmt.Errorf("type %q is not supported: String, Number and CommaDelimitedList are", p.Type)
}

func (p parameter) check(value string) error {
	if len(p.AllowedValues) > 0 && !slices.Contains(p.AllowedValues, value) {
		return fmt.Errorf("%q is not one of %s", value, strings.Join(p.AllowedValues, ", "))
	}
	if p.AllowedPattern != "" {
		re, err := regexp.Compile("^(?:" + p.AllowedPattern + ")$")
		if err != nil {
			return fmt.Errorf("AllowedPattern: %w", err)
		}
		if !re.MatchString(value) {
			return fmt.Errorf("%q does not match %s", value, p.AllowedPattern)
		}
	}
	if p.Type == "Number" {
		return p.checkNumber(value)
	}
	return p.checkLength(value)
}

func (p parameter) checkNumber(value string) error {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a number", value)
	case p.MinValue != nil && n < *p.MinValue:
		return fmt.Errorf("%s is less than %v", value, *p.MinValue)
	case p.MaxValue != nil && n > *p.MaxValue:
		return fmt.Errorf("%s is more than %v", value, *p.MaxValue)
	}
	return nil
}

func (p parameter) checkLength(value string) error {
	n := len([]rune(value))
	switch {
	case p.MinLength != nil && n < int(*p.MinLength):
		return fmt.Errorf("%d characters are fewer than %d", n, *p.MinLength)
	case p.MaxLength != nil && n > int(*p.MaxLength):
		return fmt.Errorf("%d characters are more than %d", n, *p.MaxLength)
	}
	return nil
}
