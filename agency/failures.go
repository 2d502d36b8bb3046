package agency

import (
	"context"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// maxFailures is how many errors end a routing that goes on after one: then it is no agent's own trouble, and better left to a redelivery.
const maxFailures = 8

// failures are what went wrong in a routing.
type failures struct {
	all  []error
	most int
}

// over reports whether the routing ends here.
func (f *failures) over(ctx context.Context) bool {
	return len(f.all) >= f.most || len(f.all) > 0 && ctx.Err() != nil
}

func (f *failures) add(rule Rule, err error) {
	f.all = append(f.all, fmt.Errorf("to %s: %w", rule.Kind, err))
}

// recovered, deferred, makes an error of a panic: what one agent, rule or handler does wrong is its own trouble.
func recovered(err *error, what string) {
	if p := recover(); p != nil {
		*err = fault.New(fault.Internal, "%s panicked: %v", what, p)
	}
}
