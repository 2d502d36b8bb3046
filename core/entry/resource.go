package entry

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/cfn"
)

// maxReason bounds why a resource failed: an answer over 4096 bytes is not taken, and the deployment would wait.
const maxReason = 600

// Resource makes a handler of a custom resource of CloudFormation that has one thing to keep in step: do is called with false when
// the stack is made or changed, also back, and with true when it is deleted. id is the thing's, the same always: so nothing is replaced.
// CloudFormation is told how it ended; an error means that it could not be told, and that the event is delivered again.
func Resource(id string, do func(ctx context.Context, gone bool) error) func(context.Context, cfn.Event) error {
	answering := cfn.LambdaWrap(func(ctx context.Context, e cfn.Event) (string, map[string]any, error) {
		err := do(ctx, e.RequestType == cfn.RequestDelete)
		if reason := []rune(fmt.Sprint(err)); err != nil && len(reason) > maxReason {
			err = errors.New(string(reason[:maxReason]) + "...")
		}
		return id, nil, err
	})
	return func(ctx context.Context, e cfn.Event) error {
		_, err := answering(ctx, e)
		return err
	}
}
