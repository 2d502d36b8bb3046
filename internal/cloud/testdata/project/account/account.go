// Package account is how the test project's functions reach AWS: by the environment that Lambda gives them.
package account

import (
	"context"
	"io"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Config reads the environment.
func Config() aws.Config {
	return aws.Config{
		Region:       os.Getenv("AWS_REGION"),
		BaseEndpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL")),
		HTTPClient:   client{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}, nil
		}),
	}
}

// client hides all but Read and Close of a body: the SDK closes it while net/http may still look for more by WriteTo,
// and the connection is lost when the answer comes as fast as it does from the same machine.
type client struct{}

func (client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return http.DefaultClient.Do(r)
}
