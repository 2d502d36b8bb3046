package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
)

// open gives the model of a run: one of this machine or of a service by its spec, else the one that stands behind steadfast dev,
// asked for by its id.
func (o oneShot) open(ctx context.Context, c *cli) (bedrock.Model, func(), error) {
	kind, _, _ := strings.Cut(o.Model, ":")
	if kind == "offline" || kind == "openai" || kind == "bedrock" {
		return openModel(ctx, o.Model)
	}
	if !client.Loopback(c.URL) {
		return bedrock.Model{}, nil, &client.Error{Code: string(fault.Invalid), Message: "which model? Give --model bedrock:<id>, or run steadfast dev"}
	}
	info, err := client.DevInfo(ctx, c.URL)
	if err != nil {
		return bedrock.Model{}, nil, err
	}
	id := cmp.Or(o.Model, info.Model)
	return bedrock.Model{Client: bedrockruntime.NewFromConfig(localAWS(info.AWS, info.Region)), ID: id}, func() {}, nil
}

// priced is the model with what it costs, by the stack's price list. Models of this machine have no price.
func (o oneShot) priced(m bedrock.Model) loop.Model {
	kind, _, _ := strings.Cut(o.Model, ":")
	if kind == "offline" || kind == "openai" {
		return m
	}
	list, err := agent.Content().PriceList()
	if err != nil {
		return m
	}
	return loop.Meter{Model: m, ID: cmp.Or(m.ID, bedrock.DefaultModelID), Prices: list}
}
