// Command probe is a function that does what its payload says.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type order struct {
	Do    string `json:"do"`
	Text  string `json:"text"`
	Ms    int    `json:"ms"`
	Count int    `json:"count"`
}

// broken is a streamed answer that fails on its way.
type broken struct{ sent bool }

func (b *broken) Read(p []byte) (int, error) {
	if b.sent {
		return 0, errors.New("the source dried up")
	}
	b.sent = true
	return copy(p, `"half`), nil
}

func handle(ctx context.Context, o order) (any, error) {
	switch o.Do {
	case "env":
		return os.Environ(), nil
	case "fail":
		fmt.Println("about to fail")
		return nil, errors.New(o.Text)
	case "exit":
		fmt.Println("about to exit")
		os.Exit(7)
	case "panic":
		panic(o.Text)
	case "big":
		return strings.Repeat("x", o.Count), nil
	case "stream":
		return io.MultiReader(strings.NewReader(`"str`), strings.NewReader(`eamed"`)), nil
	case "broken":
		return &broken{}, nil
	case "touch":
		return o.Text, os.WriteFile(o.Text, []byte("ran\n"), 0o600)
	case "append":
		return count(o.Text)
	case "hold":
		// Tells that it runs, then waits for leave to end.
		if err := os.WriteFile(o.Text, nil, 0o600); err != nil {
			return nil, err
		}
		for _, err := os.Stat(o.Text + ".go"); err != nil; _, err = os.Stat(o.Text + ".go") {
			time.Sleep(time.Millisecond)
		}
	case "sleep":
		// Tells that it runs, then waits.
		if err := os.WriteFile(o.Text, []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(o.Ms) * time.Millisecond)
	}
	fmt.Println("said", o.Text)
	deadline, _ := ctx.Deadline()
	lc, _ := lambdacontext.FromContext(ctx)
	return map[string]any{
		"pid": os.Getpid(), "text": o.Text, "left": time.Until(deadline).Milliseconds(),
		"id": lc.AwsRequestID, "arn": lc.InvokedFunctionArn, "trace": os.Getenv("_X_AMZN_TRACE_ID"),
	}, nil
}

// count notes one more run in the file and fails the first two.
func count(path string) (any, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < 3 {
		err = errors.New("not yet")
	}
	return nil, err
}

func main() {
	fmt.Println(`{"level":"WARN","msg":"a setting is old"}`)
	lambda.Start(handle)
}
