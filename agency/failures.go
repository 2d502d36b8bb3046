package agency

import (
	"context"
	"fmt"
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
