package sam

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Inputs are what a deployment would supply. The zero value is ready.
type Inputs struct {
	Parameters map[string]string // values of template parameters
	Preferred  map[string]string // for parameters without a value, before their defaults; others of these names are passed over
	Defaults   map[string]string // for parameters with neither a value nor a default; others of these names are passed over
	Region     string            // default us-east-1
	Account    string            // twelve digits, default 000000000000
	StackName  string            // default steadfast; names of tables and queues begin with it
	// Rewrite is applied to every variable of a function's environment and to the issuer of the JWT authorizer,
	// after they are resolved. It maps addresses of AWS to local ones. Nil changes nothing.
	Rewrite func(string) string
}

func (in Inputs) withDefaults() Inputs {
	if in.Region == "" {
		in.Region = "us-east-1"
	}
	if in.Account == "" {
		in.Account = "000000000000"
	}
	if in.StackName == "" {
		in.StackName = "steadfast"
	}
	if in.Rewrite == nil {
		in.Rewrite = func(s string) string { return s }
	}
	return in
}

// Load reads the template at path. Errors name the file and, as far as they go, the parameter, the resource and the line.
func Load(path string, in Inputs) (*Stack, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	stack, err := Parse(src, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return stack, nil
}

// Parse reads a template from its text. The same text and inputs give the same stack.
func Parse(src []byte, in Inputs) (*Stack, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("the template is empty")
	}
	l, err := newLoader(doc.Content[0], in.withDefaults())
	if err != nil {
		return nil, err
	}
	return l.load()
}

// loader carries one reading of a template.
type loader struct {
	in        Inputs
	resolver  *resolver
	resources []resource // those whose condition holds, in template order
	globals   *yaml.Node
	outputs   *yaml.Node
	stack     *Stack
}

func newLoader(root *yaml.Node, in Inputs) (*loader, error) {
	if field(root, "Resources") == nil {
		return nil, fmt.Errorf("the template has no Resources")
	}
	values, err := parameters(field(root, "Parameters"), in)
	if err != nil {
		return nil, err
	}
	r := &resolver{parameters: values, mappings: field(root, "Mappings"), pseudo: pseudoParameters(in)}
	r.conditions = &conditions{
		declared: field(root, "Conditions"), resolver: r, known: map[string]bool{}, open: map[string]bool{},
	}
	l := &loader{
		in: in, resolver: r, globals: field(root, "Globals"), outputs: field(root, "Outputs"),
		stack: &Stack{Region: in.Region, Account: in.Account, Outputs: map[string]string{}},
	}
	l.resources, err = l.declare(field(root, "Resources"))
	return l, err
}

func pseudoParameters(in Inputs) map[string]string {
	return map[string]string{
		"AWS::Region": in.Region, "AWS::AccountId": in.Account, "AWS::Partition": "aws",
		"AWS::URLSuffix": "amazonaws.com", "AWS::StackName": in.StackName,
		"AWS::StackId": fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/local", in.Region, in.Account, in.StackName),
	}
}

// readers says what is done with a resource of each type. Functions come last because their events name the others.
func (l *loader) readers() []map[string]func(resource, *yaml.Node) error {
	return []map[string]func(resource, *yaml.Node) error{
		{
			"AWS::DynamoDB::Table":            l.table,
			"AWS::SQS::Queue":                 l.queue,
			"AWS::Events::EventBus":           l.bus,
			"AWS::Scheduler::ScheduleGroup":   l.scheduleGroup,
			"AWS::Serverless::HttpApi":        l.httpAPI,
			"AWS::Serverless::WebSocketApi":   l.webSocket,
			"AWS::Serverless::Function":       l.function,
			"AWS::Serverless::Api":            unsupported,
			"AWS::Serverless::StateMachine":   unsupported,
			"AWS::Serverless::SimpleTable":    unsupported,
			"AWS::Serverless::Application":    unsupported,
			"AWS::Lambda::Function":           unsupported,
			"AWS::Lambda::EventSourceMapping": unsupported,
			"AWS::ApiGatewayV2::Api":          unsupported,
			"AWS::Events::Rule":               unsupported,
			"AWS::Scheduler::Schedule":        unsupported,
		},
		{"AWS::Serverless::Function": l.events},
	}
}

// unsupported refuses types that the local cloud would have to run; alarms, log groups, roles and the like are passed over.
func unsupported(res resource, _ *yaml.Node) error {
	return fmt.Errorf("the type %s is not supported by the local cloud", res.kind)
}

func (l *loader) load() (*Stack, error) {
	l.stack.Buses = []string{"default"}
	for _, readers := range l.readers() {
		for _, res := range l.resources {
			read := readers[res.kind]
			if read == nil {
				continue
			}
			if err := l.read(res, read); err != nil {
				return nil, fmt.Errorf("resource %s: %w", res.id, err)
			}
		}
	}
	if err := l.customs(); err != nil {
		return nil, err
	}
	if err := l.checkTargets(); err != nil {
		return nil, err
	}
	return l.stack, l.readOutputs()
}

func (l *loader) read(res resource, read func(resource, *yaml.Node) error) error {
	properties := res.properties
	if res.kind == "AWS::Serverless::Function" {
		properties = merge(field(l.globals, "Function"), properties)
	}
	resolved, err := l.resolver.resolve(properties)
	if err != nil {
		return err
	}
	if resolved == nil {
		resolved = mapping(nil)
	}
	return read(res, resolved)
}

func (l *loader) readOutputs() error {
	for _, p := range pairs(l.outputs) {
		if name := field(p.value, "Condition"); name != nil {
			holds, err := l.resolver.conditions.holds(name.Value)
			if err != nil {
				return fmt.Errorf("output %s: %w", p.key, err)
			}
			if !holds {
				continue
			}
		}
		value, err := l.resolver.text(field(p.value, "Value"))
		if err != nil {
			return fmt.Errorf("output %s: %w", p.key, err)
		}
		l.stack.Outputs[p.key] = value
	}
	return nil
}
