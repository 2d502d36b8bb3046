// floor is the smallest function there is: what starting a function costs at least.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context, map[string]any) (map[string]string, error) {
		return map[string]string{"ok": "yes"}, nil
	})
}
