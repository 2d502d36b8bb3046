package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/steadfast-agents/steadfast/core/boot"
)

// raw measures model calls with the SDK alone: one stream each, drained.
func raw(ctx context.Context, n int) error {
	boot.Tune()
	env := boot.MustEnv()
	c := bedrockruntime.NewFromConfig(boot.Config("BEDROCK_RUNTIME", env.BedrockRegion))
	in := &bedrockruntime.ConverseStreamInput{
		ModelId:         &env.ModelID,
		Messages:        []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: request}}}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(4096)},
	}
	l, err := measure(n, 30, func() (first time.Time, err error) {
		out, err := c.ConverseStream(ctx, in)
		if err != nil {
			return first, err
		}
		stream := out.GetStream()
		defer stream.Close()
		for e := range stream.Events() {
			if _, ok := e.(*types.ConverseStreamOutputMemberContentBlockDelta); ok && first.IsZero() {
				first = time.Now()
			}
		}
		return first, stream.Err()
	})
	if err != nil {
		return err
	}
	return emit(l)
}
