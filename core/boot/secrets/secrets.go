// Package secrets reads secrets of AWS Systems Manager's parameter store. Only the functions that sign or verify link its client; it
// writes nothing and logs no value.
package secrets

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// fresh is how long a secret that was read is used: a new one is known to all after that.
const fresh = 5 * time.Minute

// API is what is needed of the parameter store.
type API interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Parameter is a secret by the name of its parameter. It is safe for concurrent use.
type Parameter struct {
	Store API
	Name  string
	Now   func() time.Time

	mu    sync.Mutex
	value []byte
	read  time.Time
}

// Reader reads the parameter of that name; nil without a name.
func Reader(e boot.Edges, name string) func(context.Context) ([]byte, error) {
	if name == "" {
		return nil
	}
	p := &Parameter{Store: ssm.NewFromConfig(boot.Config("SSM", e.Region)), Name: name, Now: e.Now}
	return p.Get
}

// Get gives the value, read anew at most every five minutes. One that was read before stays good while the store does not answer.
// Faults: Unavailable.
func (p *Parameter) Get(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.Now(); p.value == nil || now.Sub(p.read) >= fresh {
		out, err := p.Store.GetParameter(ctx, &ssm.GetParameterInput{Name: &p.Name, WithDecryption: new(true)})
		switch {
		case err == nil && out.Parameter != nil && out.Parameter.Value != nil:
			p.value, p.read = []byte(*out.Parameter.Value), now
		case p.value == nil:
			return nil, fault.Wrap(fault.Unavailable, err, "the parameter %s cannot be read", p.Name)
		}
	}
	return p.value, nil
}
