package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai"
)

// loadModel makes what answers as Bedrock.
func (c *Cloud) loadModel() (err error) {
	if c.options.Model != nil {
		c.model = c.local(c.options.Model)
		return nil
	}
	kind, rest, _ := strings.Cut(c.options.ModelSpec, ":")
	switch {
	case kind == "openai":
		var r bedrock.Responder
		r, err = OpenAI(rest)
		c.model = c.local(r)
	case kind == "bedrock":
		c.model, err = c.upstream(context.Background(), rest)
	case c.options.ModelSpec == "", c.options.ModelSpec == "offline":
		c.model = c.local(nil) // the server's own
	default:
		err = fmt.Errorf("the model %q is not known: offline, openai:<base-url>#<name> and bedrock:<id> are", c.options.ModelSpec)
	}
	return err
}

func (c *Cloud) local(r bedrock.Responder) http.Handler { return &bedrock.Server{Model: r, Log: c.log} }

// OpenAI is a model of a server of the OpenAI API: <base-url>#<name>.
func OpenAI(spec string) (bedrock.Responder, error) {
	base, name, _ := strings.Cut(spec, "#")
	u, err := url.Parse(base)
	if err != nil || name == "" || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the model %q is none: openai:<base-url>#<name> is meant, such as openai:http://127.0.0.1:11434/v1#llama3.2", "openai:"+spec)
	}
	return openai.New(base, name), nil
}

// upstream is the real service, with the user's own credentials and region.
func (c *Cloud) upstream(ctx context.Context, modelID string) (http.Handler, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration for the model: %w", err)
	}
	if region := os.Getenv("BEDROCK_REGION"); region != "" {
		loaded.Region = region
	}
	if loaded.Region == "" {
		loaded.Region = c.stack.Region
	}
	o := bedrockruntime.NewFromConfig(loaded).Options()
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, bedrockruntime.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint, UseDualStack: aws.Bool(false), UseFIPS: aws.Bool(false),
	})
	if err != nil {
		return nil, fmt.Errorf("find Bedrock in %s: %w", o.Region, err)
	}
	if endpoint.URI.Host == c.listeners.aws.Addr().String() {
		return nil, fmt.Errorf("the model would be asked at %s, which is this local cloud: AWS_ENDPOINT_URL is for programs that use it", &endpoint.URI)
	}
	return &bedrock.Upstream{
		Endpoint: &endpoint.URI, Region: o.Region, Credentials: o.Credentials, APIKey: os.Getenv("AWS_BEARER_TOKEN_BEDROCK"),
		ModelID: modelID, Client: o.HTTPClient, Log: c.log,
	}, nil
}
