package sam

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type keySchema []struct {
	AttributeName string `yaml:"AttributeName"`
	KeyType       string `yaml:"KeyType"`
}

// keys gives the hash and the sort key; sort is empty when there is none.
func (s keySchema) keys() (hash, sort string, err error) {
	for _, k := range s {
		switch k.KeyType {
		case "HASH":
			hash = k.AttributeName
		case "RANGE":
			sort = k.AttributeName
		default:
			return "", "", fmt.Errorf("KeyType %q is neither HASH nor RANGE", k.KeyType)
		}
	}
	if hash == "" {
		return "", "", fmt.Errorf("KeySchema has no HASH key")
	}
	return hash, sort, nil
}

type tableProperties struct {
	KeySchema              keySchema `yaml:"KeySchema"`
	GlobalSecondaryIndexes []struct {
		IndexName  string    `yaml:"IndexName"`
		KeySchema  keySchema `yaml:"KeySchema"`
		Projection struct {
			ProjectionType string `yaml:"ProjectionType"`
		} `yaml:"Projection"`
	} `yaml:"GlobalSecondaryIndexes"`
	TimeToLiveSpecification struct {
		AttributeName string `yaml:"AttributeName"`
		Enabled       flag   `yaml:"Enabled"`
	} `yaml:"TimeToLiveSpecification"`
}

func (l *loader) table(res resource, n *yaml.Node) error {
	var p tableProperties
	if err := n.Decode(&p); err != nil {
		return err
	}
	t := Table{LogicalID: res.id, Name: res.ref}
	if p.TimeToLiveSpecification.Enabled {
		t.TTLAttribute = p.TimeToLiveSpecification.AttributeName
	}
	var err error
	if t.HashKey, t.SortKey, err = p.KeySchema.keys(); err != nil {
		return err
	}
	for _, g := range p.GlobalSecondaryIndexes {
		index := Index{Name: g.IndexName, KeysOnly: g.Projection.ProjectionType == "KEYS_ONLY"}
		if !slices.Contains([]string{"ALL", "KEYS_ONLY"}, g.Projection.ProjectionType) {
			return fmt.Errorf("index %s: projection %q is not supported: ALL and KEYS_ONLY are", g.IndexName, g.Projection.ProjectionType)
		}
		if index.HashKey, index.SortKey, err = g.KeySchema.keys(); err != nil {
			return fmt.Errorf("index %s: %w", g.IndexName, err)
		}
		t.Indexes = append(t.Indexes, index)
	}
	l.stack.Tables = append(l.stack.Tables, t)
	return nil
}

func (l *loader) queue(res resource, _ *yaml.Node) error {
	l.stack.Queues = append(l.stack.Queues, Queue{
		LogicalID: res.id, Name: res.attributes["QueueName"], ARN: res.attributes["Arn"], URL: res.ref,
	})
	return nil
}

func (l *loader) bus(res resource, _ *yaml.Node) error {
	l.addBus(res.ref)
	return nil
}

func (l *loader) scheduleGroup(res resource, _ *yaml.Node) error {
	l.stack.ScheduleGroups = append(l.stack.ScheduleGroups, res.ref)
	return nil
}

func (l *loader) addBus(name string) {
	if !slices.Contains(l.stack.Buses, name) {
		l.stack.Buses = append(l.stack.Buses, name)
	}
}

// customs reads whom the Custom:: resources ask. What else they say is not of this machine: versions of code, for example.
func (l *loader) customs() error {
	for _, res := range l.resources {
		if !strings.HasPrefix(res.kind, "Custom::") {
			continue
		}
		arn, err := l.resolver.text(field(res.properties, "ServiceToken"))
		if err != nil {
			return fmt.Errorf("resource %s: ServiceToken: %w", res.id, err)
		}
		_, function, ok := strings.Cut(arn, ":function:")
		if !ok {
			return fmt.Errorf("resource %s: the ServiceToken %q is no function's ARN", res.id, arn)
		}
		l.stack.Customs = append(l.stack.Customs, Custom{LogicalID: res.id, Kind: res.kind, Function: function})
	}
	return nil
}
