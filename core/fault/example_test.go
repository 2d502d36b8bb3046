package fault_test

import (
	"errors"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/fault"
)

func Example() {
	timeout := errors.New("dial tcp 10.0.0.7: timeout")
	err := fmt.Errorf("save task t-12: %w", fault.Wrap(fault.Unavailable, timeout, "the table does not answer"))

	fmt.Println("log:   ", err)
	fmt.Println("caller:", fault.Public(err))
	fmt.Println("again: ", fault.Retryable(err))
	// Output:
	// log:    save task t-12: the table does not answer: dial tcp 10.0.0.7: timeout
	// caller: the table does not answer
	// again:  true
}
