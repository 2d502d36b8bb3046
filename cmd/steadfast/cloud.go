package main

import (
	"context"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// startCloud starts the local cloud as d says.
func startCloud(ctx context.Context, d dev, s *surroundings) (*host, error) {
	c, err := cloud.Start(ctx, cloud.Options{
		Dir: d.Dir, Addr: d.Addr, AWSAddr: d.AWSAddr, Data: d.Data, InfoFile: d.Info, EnvFile: d.EnvVars, ModelSpec: d.Model,
		Parameters: d.Parameter, FireSchedules: d.FireSchedules, Verbose: d.Verbose, Out: s.log,
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
