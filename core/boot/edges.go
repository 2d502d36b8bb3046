package boot

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Edges are the outside world of a function: its environment and the edges of its use-cases.
type Edges struct {
	Env
	flow.Edges
}

// MustEnv reads the environment. When something is missing or malformed it says so in one log line and ends the process: a
// function that cannot work must not answer.
func MustEnv(needs ...Need) Env {
	env, err := Load(os.Getenv, needs...)
	if err != nil {
		Log().Error(err.Error())
		os.Exit(1)
	}
	return env
}

// MustOpen is MustEnv that also prepares the clients. In Lambda it opens the connection to the table, if that is needed; it asks
// nothing else over the network.
func MustOpen(needs ...Need) Edges {
	Tune()
	env := MustEnv(needs...)
	tables := Config("DYNAMODB", env.Region)
	if slices.Contains(needs, Table) {
		connectTable(tables)
	}
	table := store.Table{Name: env.TableName, DynamoDB: dynamodb.NewFromConfig(tables)}
	events := bus.Bus{
		EventBridge: eventbridge.NewFromConfig(Config("EVENTBRIDGE", env.Region)), Name: env.EventBusName, Source: env.EventSource, Details: table,
	}
	return Edges{env, flow.Edges{Table: table, Bus: events, Now: time.Now, NewID: uuid.NewString, Log: Log()}}
}

// Log is a function's log: JSON lines on standard error, as Lambda's own are.
func Log() *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level(os.Getenv("AWS_LAMBDA_LOG_LEVEL"))}))
}

func level(name string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return l
}

// Config is the SDK's configuration inside of Lambda, where credentials stand in the environment: the SDK's own loader reads
// files and asks services that no function has, and weighs more than all of the rest. service names the endpoint's variable, as
// the SDK does.
func Config(service, region string) aws.Config {
	c := aws.Config{
		Region: region, Credentials: aws.CredentialsProviderFunc(environmentCredentials), HTTPClient: Steady(awshttp.NewBuildableClient()),
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"} {
		if endpoint := os.Getenv(name); endpoint != "" {
			c.BaseEndpoint = &endpoint
			break
		}
	}
	return c
}

// Steady is client, but keeps connections that answer very fast. The SDK closes a request's body as soon as the answer has begun;
// net/http may look once more whether the body has ended, by WriteTo, which on the SDK's closed body is an error, and for that error it
// drops the connection, at worst under an answer that is still read. A body that can only be read says just that it has ended.
func Steady(client aws.HTTPClient) aws.HTTPClient { return steady{client} }

type steady struct{ aws.HTTPClient }

// Do sends req with a body that can only be read and closed.
func (s steady) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	return s.HTTPClient.Do(req)
}

func environmentCredentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"), Source: "environment",
	}, nil
}

// WebSocketURL is where clients open their sockets.
func (e Edges) WebSocketURL() string {
	if rest, ok := strings.CutPrefix(e.WebSocketEndpoint, "http"); ok {
		return "ws" + rest // https becomes wss
	}
	return e.WebSocketEndpoint
}
