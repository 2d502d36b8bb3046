package sam

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Limits and defaults of a rule's delivery, as EventBridge has them.
const (
	defaultRuleRetries = 185
	defaultRuleMaxAge  = 24 * time.Hour
)

// events reads what triggers a function. A type that is not known here is an error that names it.
func (l *loader) events(res resource, n *yaml.Node) error {
	readers := map[string]func(function, event string, n *yaml.Node) error{
		"HttpApi": l.httpEvent, "EventBridgeRule": l.ruleEvent, "ScheduleV2": l.scheduleEvent,
	}
	for _, p := range pairs(field(n, "Events")) {
		var kind string
		if t := field(p.value, "Type"); t != nil {
			kind = t.Value
		}
		read := readers[kind]
		if read == nil {
			return fmt.Errorf("event %s: the type %q is not supported: HttpApi, EventBridgeRule and ScheduleV2 are", p.key, kind)
		}
		properties := field(p.value, "Properties")
		if properties == nil {
			properties = mapping(nil)
		}
		if err := read(res.ref, p.key, properties); err != nil {
			return fmt.Errorf("event %s: %w", p.key, err)
		}
	}
	return nil
}

func (l *loader) httpEvent(function, _ string, n *yaml.Node) error {
	var p struct {
		APIID  string `yaml:"ApiId"`
		Method string `yaml:"Method"`
		Path   string `yaml:"Path"`
		Auth   struct {
			Authorizer string `yaml:"Authorizer"`
		} `yaml:"Auth"`
	}
	if err := n.Decode(&p); err != nil {
		return err
	}
	api := l.stack.HTTP
	if api == nil || p.APIID != api.ID {
		return fmt.Errorf("ApiId must be a !Ref to the template's HttpApi")
	}
	if !strings.HasPrefix(p.Path, "/") || p.Method == "" {
		return fmt.Errorf("method and path are needed, the path from /")
	}
	route := HTTPRoute{Method: strings.ToUpper(p.Method), Path: p.Path, Function: function}
	route.Auth = api.JWT.Issuer != "" && p.Auth.Authorizer != "NONE"
	for _, other := range api.Routes {
		if other.Method == route.Method && other.Path == route.Path {
			return fmt.Errorf("%s %s is already routed to %s", route.Method, route.Path, other.Function)
		}
	}
	api.Routes = append(api.Routes, route)
	return nil
}

type ruleProperties struct {
	EventBusName string    `yaml:"EventBusName"`
	Pattern      yaml.Node `yaml:"Pattern"`
	State        string    `yaml:"State"`
	Input        *string   `yaml:"Input"`
	InputPath    *string   `yaml:"InputPath"`
	RetryPolicy  struct {
		MaximumRetryAttempts     *number `yaml:"MaximumRetryAttempts"`
		MaximumEventAgeInSeconds *number `yaml:"MaximumEventAgeInSeconds"`
	} `yaml:"RetryPolicy"`
	DeadLetterConfig struct {
		Arn  string `yaml:"Arn"`
		Type string `yaml:"Type"`
	} `yaml:"DeadLetterConfig"`
}

func (l *loader) ruleEvent(function, event string, n *yaml.Node) error {
	var p ruleProperties
	if err := n.Decode(&p); err != nil {
		return err
	}
	rule, err := p.rule(function)
	if err != nil || p.State == "DISABLED" {
		return err
	}
	l.addBus(rule.Bus)
	rule.Name = l.ruleName(function, event)
	l.stack.Rules = append(l.stack.Rules, rule)
	return nil
}

// ruleName is the name of the event, with the function's before it when another rule has that name already.
func (l *loader) ruleName(function, event string) string {
	for _, other := range l.stack.Rules {
		if other.Name == event {
			return function + "-" + event
		}
	}
	return event
}

func (p ruleProperties) rule(function string) (Rule, error) {
	switch {
	case p.Pattern.Kind != yaml.MappingNode:
		return Rule{}, fmt.Errorf("a Pattern is needed")
	case p.Input != nil || p.InputPath != nil:
		return Rule{}, fmt.Errorf("a rule with Input or InputPath is not supported by the local cloud")
	case p.DeadLetterConfig.Type != "":
		return Rule{}, fmt.Errorf("DeadLetterConfig needs the Arn of a queue of the template")
	}
	out := Rule{
		Bus: "default", Function: function, DeadLetters: p.DeadLetterConfig.Arn,
		MaxRetries: defaultRuleRetries, MaxAge: defaultRuleMaxAge,
	}
	if p.EventBusName != "" {
		out.Bus = p.EventBusName[strings.LastIndex(p.EventBusName, "/")+1:] // a name or an ARN
	}
	if n := p.RetryPolicy.MaximumRetryAttempts; n != nil {
		out.MaxRetries = int(*n)
	}
	if n := p.RetryPolicy.MaximumEventAgeInSeconds; n != nil {
		out.MaxAge = time.Duration(*n) * time.Second
	}
	if out.MaxRetries < 0 || out.MaxRetries > defaultRuleRetries {
		return out, fmt.Errorf("MaximumRetryAttempts %d is not 0 to %d", out.MaxRetries, defaultRuleRetries)
	}
	if out.MaxAge < time.Minute || out.MaxAge > defaultRuleMaxAge {
		return out, fmt.Errorf("MaximumEventAgeInSeconds %v is not 60 s to 24 h", out.MaxAge)
	}
	var err error
	out.Pattern, err = asJSON(&p.Pattern)
	return out, err
}

func (l *loader) scheduleEvent(function, event string, n *yaml.Node) error {
	var p struct {
		Name       string `yaml:"Name"`
		Expression string `yaml:"ScheduleExpression"`
		TimeZone   string `yaml:"ScheduleExpressionTimezone"`
		Input      string `yaml:"Input"`
		State      string `yaml:"State"`
	}
	if err := n.Decode(&p); err != nil {
		return err
	}
	out := Schedule{
		Name: p.Name, Expression: p.Expression, TimeZone: p.TimeZone, Function: function,
		Recurring: !strings.HasPrefix(p.Expression, "at("),
	}
	if p.Expression == "" {
		return fmt.Errorf("ScheduleExpression is needed")
	}
	if out.Name == "" {
		out.Name = function + "-" + event
	}
	if p.Input != "" {
		if !json.Valid([]byte(p.Input)) {
			return fmt.Errorf("input is not JSON")
		}
		out.Input = []byte(p.Input)
	}
	if p.State != "DISABLED" {
		l.stack.Schedules = append(l.stack.Schedules, out)
	}
	return nil
}

func asJSON(n *yaml.Node) ([]byte, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
