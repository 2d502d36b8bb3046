package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/smithy-go/logging"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	models "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/evals"
)

// runsModel are the flags of commands that ask a model.
type runsModel struct {
	Model        string        `help:"Which model: offline (the default), openai:<base-url>#<name>, bedrock:<id>. See docs/models.md." default:"offline" placeholder:"SPEC"`
	Instructions string        `help:"File with the system prompt; agent/instructions.md if it is there." placeholder:"FILE"`
	Jobs         int           `help:"Runs at the same time." default:"2" placeholder:"N"`
	Timeout      time.Duration `help:"Of each run." placeholder:"DURATION"`
}

// agent makes who does the runs; close ends what serves its model.
func (m runsModel) agent(ctx context.Context) (a evals.Agent, stop func(), err error) {
	if m.Jobs < 1 {
		return a, nil, &client.Error{Code: string(fault.Invalid), Message: "--jobs must be at least 1"}
	}
	a.Tools = tool.Builtin().Default()
	path := m.Instructions
	if path == "" {
		path = "agent/instructions.md"
	}
	text, err := os.ReadFile(path)
	if err != nil && (m.Instructions != "" || !errors.Is(err, os.ErrNotExist)) {
		return a, nil, fmt.Errorf("read the instructions: %w", err)
	}
	a.Instructions = strings.TrimSpace(string(text))
	model, stop, err := openModel(ctx, m.Model)
	a.Model = model
	return a, stop, err
}

// openModel gives the model of a spec.
func openModel(ctx context.Context, spec string) (bedrock.Model, func(), error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "offline":
		return serveModel(models.Offline{Attempts: new(models.Attempts)})
	case kind == "openai":
		answers, err := cloud.OpenAI(rest)
		if err != nil {
			return bedrock.Model{}, nil, &client.Error{Code: string(fault.Invalid), Message: err.Error()}
		}
		return serveModel(answers)
	case kind == "bedrock":
		return amazonModel(ctx, rest)
	}
	return bedrock.Model{}, nil, &client.Error{Code: string(fault.Invalid),
		Message: fmt.Sprintf("the model %q is not known: offline, openai:<base-url>#<name> and bedrock:<id> are", spec)}
}

// amazonModel asks Amazon Bedrock with the user's own credentials. That there are none is found out now, not in the first call.
func amazonModel(ctx context.Context, id string) (bedrock.Model, func(), error) {
	loaded, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return bedrock.Model{}, nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if region := os.Getenv("BEDROCK_REGION"); region != "" {
		loaded.Region = region
	}
	if os.Getenv("AWS_BEARER_TOKEN_BEDROCK") == "" {
		if _, err := loaded.Credentials.Retrieve(ctx); err != nil {
			return bedrock.Model{}, nil, &client.Error{Code: string(fault.Denied),
				Message: fmt.Sprintf("there are no AWS credentials for the model; set AWS_PROFILE or AWS_BEARER_TOKEN_BEDROCK (docs/models.md): %v", err)}
		}
	}
	return bedrock.Model{Client: bedrockruntime.NewFromConfig(loaded), ID: id}, func() {}, nil
}

// serveModel serves a model of this machine as Bedrock, for as long as the command runs.
func serveModel(answers models.Responder) (bedrock.Model, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return bedrock.Model{}, nil, fmt.Errorf("serve the model: %w", err)
	}
	server := &http.Server{Handler: &models.Server{Model: answers}, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until it is closed
	caller := bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint: aws.String("http://" + listener.Addr().String()), Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	return bedrock.Model{Client: caller, ID: "local"}, func() { _ = server.Close() }, nil
}
