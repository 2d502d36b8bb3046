package sam

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

// Lambda's own defaults, where neither the function nor Globals say otherwise.
const (
	defaultMemory  = 128 // MB
	defaultTimeout = 3 * time.Second
	maxTimeout     = 900 * time.Second
	defaultRetries = 2
	defaultMaxAge  = 6 * time.Hour
)

type functionProperties struct {
	CodeURI     string `yaml:"CodeUri"`
	MemorySize  number `yaml:"MemorySize"`
	Timeout     number `yaml:"Timeout"`
	Environment struct {
		Variables map[string]string `yaml:"Variables"`
	} `yaml:"Environment"`
	Policies          yaml.Node    `yaml:"Policies"`
	EventInvokeConfig *asyncConfig `yaml:"EventInvokeConfig"`
	FunctionURLConfig *urlConfig   `yaml:"FunctionUrlConfig"`
}

type urlConfig struct {
	AuthType   string `yaml:"AuthType"`
	InvokeMode string `yaml:"InvokeMode"`
	CORS       cors   `yaml:"Cors"`
}

type asyncConfig struct {
	MaximumRetryAttempts     *number `yaml:"MaximumRetryAttempts"`
	MaximumEventAgeInSeconds *number `yaml:"MaximumEventAgeInSeconds"`
	DestinationConfig        struct {
		OnSuccess *destination `yaml:"OnSuccess"`
		OnFailure *destination `yaml:"OnFailure"`
	} `yaml:"DestinationConfig"`
}

type destination struct {
	Type        string `yaml:"Type"`
	Destination string `yaml:"Destination"`
}

func (l *loader) function(res resource, n *yaml.Node) error {
	var p functionProperties
	if err := n.Decode(&p); err != nil {
		return err
	}
	f := Function{
		LogicalID: res.id, Name: res.ref, Dir: p.CodeURI, Memory: defaultMemory, Timeout: defaultTimeout,
		Env: map[string]string{},
	}
	if p.MemorySize > 0 {
		f.Memory = int(p.MemorySize)
	}
	if p.Timeout > 0 {
		f.Timeout = time.Duration(p.Timeout) * time.Second
	}
	if f.Timeout > maxTimeout {
		return fmt.Errorf("timeout of %v is over Lambda's %v", f.Timeout, maxTimeout)
	}
	for name, value := range p.Environment.Variables {
		f.Env[name] = l.in.Rewrite(value)
	}
	var err error
	if f.Policies, err = statements(&p.Policies); err != nil {
		return fmt.Errorf("policies: %w", err)
	}
	if f.Async, err = p.EventInvokeConfig.read(); err != nil {
		return fmt.Errorf("EventInvokeConfig: %w", err)
	}
	if p.FunctionURLConfig != nil {
		if f.URL, err = p.FunctionURLConfig.read(l.functionURL(f.Name)); err != nil {
			return fmt.Errorf("FunctionUrlConfig: %w", err)
		}
	}
	for _, other := range l.stack.Functions {
		if other.Name == f.Name {
			return fmt.Errorf("its folder %s has the same name as that of %s", f.Dir, other.LogicalID)
		}
	}
	l.stack.Functions = append(l.stack.Functions, f)
	return nil
}

func (c *urlConfig) read(address string) (*FunctionURL, error) {
	if c.AuthType != "NONE" || c.InvokeMode != "RESPONSE_STREAM" {
		return nil, fmt.Errorf("AuthType %q with InvokeMode %q is not supported: NONE with RESPONSE_STREAM is", c.AuthType, c.InvokeMode)
	}
	return &FunctionURL{Address: address, CORS: c.CORS.read()}, nil
}

func (c *asyncConfig) read() (AsyncConfig, error) {
	out := AsyncConfig{MaxRetries: defaultRetries, MaxAge: defaultMaxAge}
	if c == nil {
		return out, nil
	}
	if c.MaximumRetryAttempts != nil {
		out.MaxRetries = int(*c.MaximumRetryAttempts)
	}
	if out.MaxRetries < 0 || out.MaxRetries > 2 {
		return out, fmt.Errorf("MaximumRetryAttempts %d is not 0 to 2", out.MaxRetries)
	}
	if c.MaximumEventAgeInSeconds != nil {
		out.MaxAge = time.Duration(*c.MaximumEventAgeInSeconds) * time.Second
	}
	if out.MaxAge < time.Minute || out.MaxAge > defaultMaxAge {
		return out, fmt.Errorf("MaximumEventAgeInSeconds %v is not 60 s to 6 h", out.MaxAge)
	}
	if c.DestinationConfig.OnSuccess != nil {
		return out, fmt.Errorf("OnSuccess is not supported by the local cloud")
	}
	if to := c.DestinationConfig.OnFailure; to != nil {
		if to.Type != "SQS" || to.Destination == "" {
			return out, fmt.Errorf("OnFailure must be an SQS queue with its Destination")
		}
		out.OnFailure = to.Destination
	}
	return out, nil
}
