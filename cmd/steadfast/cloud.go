package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// startCloud starts the local cloud as d says.
func startCloud(ctx context.Context, d dev, s *surroundings) (*host, error) {
	c, err := cloud.Start(ctx, cloud.Options{
		Dir: d.Dir, Addr: d.Addr, AWSAddr: d.AWSAddr, Data: d.Data, InfoFile: d.Info, EnvFile: d.EnvVars, ModelSpec: d.Model,
		Parameters: d.Parameter, Preferred: d.preferred(), FireSchedules: d.FireSchedules, Verbose: d.Verbose, Out: s.log,
	})
	if err != nil {
		return nil, err
	}
	return &host{
		info:  hostInfo(c.Info()),
		build: c.Build,
		iam:   c.IAMReport,
		stop:  func() error { return c.Close(context.Background()) }, // it has its own patience
	}, nil
}

// notInAnID is what the id of a model cannot hold.
var notInAnID = regexp.MustCompile(`[^a-zA-Z0-9.:-]+`)

// preferred are the values of parameters on a developer's machine: users are remembered in the table, and the model has the name of the
// one that answers, so that what is known of that one counts: its price above all.
func (d dev) preferred() map[string]string {
	p := map[string]string{"Memory": "table"}
	switch kind, rest, _ := strings.Cut(d.Model, ":"); kind {
	case "bedrock":
		p["BedrockModelId"] = rest
	case "openai":
		_, name, _ := strings.Cut(rest, "#")
		p["BedrockModelId"] = "local." + notInAnID.ReplaceAllString(name, "-")
	}
	return p
}
