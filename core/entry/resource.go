package entry

import (
	"context"

	"github.com/aws/aws-lambda-go/cfn"
)

// Resource makes a handler of a custom resource of CloudFormation that has one thing to keep in step: do is called with false when
// the stack is made or changed, also back, and with true when it is deleted. id is the thing's, the same always: so nothing is replaced.
// CloudFormation is told how it ended.
func Resource(id string, do func(ctx context.Context, gone bool) error) func(context.Context, cfn.Event) (string, error) {
	return cfn.LambdaWrap(func(ctx context.Context, e cfn.Event) (string, map[string]any, error) {
		return id, nil, do(ctx, e.RequestType == cfn.RequestDelete)
	})
}
