package sam

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// resource is one entry of Resources with what others see of it: its !Ref and its attributes.
type resource struct {
	id, kind   string
	ref        string
	attributes map[string]string
	properties *yaml.Node
}

// declare lists the resources whose condition holds and gives each its names, before any property is resolved.
func (l *loader) declare(section *yaml.Node) ([]resource, error) {
	var out []resource
	for _, p := range pairs(section) {
		exists, err := l.exists(p.value)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", p.key, err)
		}
		if !exists {
			continue
		}
		res := resource{id: p.key, properties: field(p.value, "Properties"), attributes: map[string]string{}}
		if kind := field(p.value, "Type"); kind != nil {
			res.kind = kind.Value
		}
		if err := l.name(&res); err != nil {
			return nil, fmt.Errorf("resource %s: %w", p.key, err)
		}
		out = append(out, res)
		if res.kind == "AWS::Serverless::Function" && field(res.properties, "FunctionUrlConfig") != nil {
			out = append(out, resource{ // which the transform makes
				id: p.key + "Url", kind: "AWS::Lambda::Url", attributes: map[string]string{"FunctionUrl": l.functionURL(res.ref)},
			})
		}
	}
	l.resolver.resources = map[string]resource{}
	for _, res := range out {
		l.resolver.resources[res.id] = res
	}
	return out, nil
}

func (l *loader) exists(n *yaml.Node) (bool, error) {
	condition := field(n, "Condition")
	if condition == nil {
		return true, nil
	}
	return l.resolver.conditions.holds(condition.Value)
}

// name sets ref and attributes. Names come from the resource's own name property, else from the stack and logical id.
func (l *loader) name(res *resource) error {
	switch res.kind {
	case "AWS::Serverless::Function":
		return l.nameFunction(res)
	case "AWS::DynamoDB::Table":
		return l.named(res, "TableName", "dynamodb", "table/")
	case "AWS::SQS::Queue":
		return l.nameQueue(res)
	case "AWS::Events::EventBus":
		return l.named(res, "Name", "events", "event-bus/")
	case "AWS::Scheduler::ScheduleGroup":
		return l.named(res, "Name", "scheduler", "schedule-group/")
	case "AWS::Logs::LogGroup":
		return l.named(res, "LogGroupName", "logs", "log-group:")
	case "AWS::IAM::Role":
		if err := l.named(res, "RoleName", "iam", ""); err != nil {
			return err
		}
		res.attributes["Arn"] = fmt.Sprintf("arn:aws:iam::%s:role/%s", l.in.Account, res.ref)
	case "AWS::Serverless::HttpApi", "AWS::Serverless::WebSocketApi":
		res.ref = strings.ToLower(res.id) // an API id is lower case letters and digits
		res.attributes["ApiId"] = res.ref
		res.attributes["ApiEndpoint"] = fmt.Sprintf("https://%s.execute-api.%s.amazonaws.com", res.ref, l.in.Region)
	default:
		res.ref = l.in.StackName + "-" + res.id
	}
	return nil
}

func (l *loader) arn(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, l.in.Region, l.in.Account, rest)
}

func (l *loader) named(res *resource, property, service, prefix string) error {
	name, err := l.ownName(res, property)
	if err != nil {
		return err
	}
	res.ref = name
	res.attributes["Arn"] = l.arn(service, prefix+name)
	res.attributes["Name"] = name
	return nil
}

// ownName reads a name property; it may use parameters, but no other resource.
func (l *loader) ownName(res *resource, property string) (string, error) {
	n := field(res.properties, property)
	if n == nil {
		return l.in.StackName + "-" + res.id, nil
	}
	name, err := l.resolver.text(n)
	if err != nil {
		return "", fmt.Errorf("%s: %w", property, err)
	}
	return name, nil
}

func (l *loader) nameFunction(res *resource) error {
	uri := field(res.properties, "CodeUri")
	if uri == nil || uri.Kind != yaml.ScalarNode || uri.Value == "" {
		return fmt.Errorf("CodeUri must be a folder of the project")
	}
	res.ref = path.Base(path.Clean(uri.Value))
	res.attributes["Arn"] = l.arn("lambda", "function:"+res.ref)
	return nil
}

// functionURL is the address of a function that has one; its name stands where AWS has a random id.
func (l *loader) functionURL(name string) string {
	return fmt.Sprintf("https://%s.lambda-url.%s.on.aws/", name, l.in.Region)
}

func (l *loader) nameQueue(res *resource) error {
	if err := l.named(res, "QueueName", "sqs", ""); err != nil {
		return err
	}
	res.attributes["QueueName"] = res.ref
	res.attributes["QueueUrl"] = fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", l.in.Region, l.in.Account, res.ref)
	res.ref = res.attributes["QueueUrl"]
	return nil
}
