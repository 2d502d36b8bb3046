package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// service is what calls are signed for, and the first word of its hosts.
const service = "bedrock-agentcore"

// maxAnswer is how much of an answer is read, in bytes: ten records have a tenth of it.
const maxAnswer = 4 << 20

// Client calls the two operations of AgentCore that AgentCore needs, with the SDK's credentials, signature, connections and retries, but
// without its client of the service: that one makes the schemas of a hundred operations when a program starts, whether or not one
// is ever used, a quarter of the start of a function that runs turns. Make it with NewClient. It is safe for concurrent use.
type Client struct {
	config   aws.Config
	endpoint string
	retryer  aws.Retryer
	signer   *v4.Signer
}

// NewClient is a client with the region, credentials, HTTP client, endpoint and retries of an SDK configuration. Without them: three
// attempts, with the SDK's own HTTP client, at the region's endpoint.
func NewClient(config aws.Config) *Client {
	c := &Client{config: config, endpoint: "https://" + service + "." + config.Region + ".amazonaws.com", signer: v4.NewSigner()}
	if strings.HasPrefix(config.Region, "cn-") {
		c.endpoint += ".cn"
	}
	if config.BaseEndpoint != nil {
		c.endpoint = strings.TrimSuffix(*config.BaseEndpoint, "/")
	}
	if c.config.HTTPClient == nil {
		c.config.HTTPClient = awshttp.NewBuildableClient()
	}
	if config.Retryer != nil {
		c.retryer = config.Retryer()
	} else {
		c.retryer = retry.NewStandard()
	}
	return c
}

// call posts in to path and reads the answer into out, unless that is nil. What may pass is tried again, so the request must be one that can come twice.
func (c *Client) call(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	tried := c.retryer.GetInitialToken()
	for attempt := 1; ; attempt++ {
		err = c.once(ctx, path, body, out)
		_ = tried(err) // what another try takes of the process's quota comes back when it went well
		if err == nil || ctx.Err() != nil || attempt >= c.retryer.MaxAttempts() || !c.retryer.IsErrorRetryable(err) {
			return err
		}
		var over error
		if tried, over = c.pause(ctx, attempt, err); over != nil {
			return err
		}
	}
}

// pause waits before the next attempt, and gives what is told how that went. An error says that there shall be none.
func (c *Client) pause(ctx context.Context, attempt int, failed error) (tried func(error) error, err error) {
	if tried, err = c.retryer.GetRetryToken(ctx, failed); err != nil {
		return nil, err
	}
	delay, err := c.retryer.RetryDelay(attempt, failed)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return tried, nil
	}
}

func (c *Client) once(ctx context.Context, path string, body []byte, out any) error {
	req, err := c.request(ctx, path, body)
	if err != nil {
		return err
	}
	res, err := c.config.HTTPClient.Do(req)
	if err != nil {
		return &smithyhttp.RequestSendError{Err: err}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return &smithyhttp.RequestSendError{Err: err}
	case res.StatusCode/100 != 2:
		return refused(res, answer)
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}

// request is a signed request. Its body can be sent once.
func (c *Client) request(ctx context.Context, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.config.Credentials == nil {
		return nil, errors.New("no credentials are configured")
	}
	credentials, err := c.config.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return req, c.signer.SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), service, c.config.Region, time.Now())
}

// refused is an answer that is none, as the SDK's clients tell of it.
func refused(res *http.Response, body []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &said) // a proxy's page is no JSON: the status tells enough
	code := res.Header.Get("X-Amzn-Errortype")
	for _, other := range []string{said.Type, said.Code, "UnknownError"} {
		if code == "" {
			code = other
		}
	}
	code, _, _ = strings.Cut(code[strings.LastIndexByte(code, '#')+1:], ":")
	return &awshttp.ResponseError{RequestID: res.Header.Get("X-Amzn-Requestid"), ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: res}, Err: &smithy.GenericAPIError{Code: code, Message: said.Message},
	}}
}
