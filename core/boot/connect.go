package boot

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// patience is how long a connection may take to open. A service that needs longer is met by the first call.
const patience = time.Second

// connectTable opens the connection to DynamoDB, in Lambda, before the function asks for its first event. To read the machine's root
// certificates and shake hands is 8 ms of processor time, more than all else that a small function does at its first event. While it
// starts it has a whole processor for that, afterwards only the share of its memory: see docs/adr/0017.
func connectTable(c aws.Config) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at, err := dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, dynamodb.EndpointParameters{Region: &c.Region, Endpoint: c.BaseEndpoint})
	if err == nil {
		Connect(ctx, c.HTTPClient, at.URI.String())
	}
}

// Connect asks for the root of an https URL, without credentials and whatever the answer is, so that the client has an open connection for
// its next request. It does nothing for http, where there is nothing to gain, and a failure is left for the next request to tell.
func Connect(ctx context.Context, client aws.HTTPClient, url string) {
	if !strings.HasPrefix(url, "https:") {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	res, err := client.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // read to its end, the connection is kept
}
