// Command greet is a function whose answer is in another package.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"example.com/project/word"
)

func main() {
	lambda.Start(func() (string, error) { return word.Greeting + " " + word.Name, nil })
}
