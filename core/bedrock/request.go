package bedrock

import (
	"encoding/json"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// input makes the request of the service. Faults: Invalid.
func (m Model) input(req model.Request) (*bedrockruntime.ConverseStreamInput, error) {
	id := m.id(req)
	if m.Client == nil {
		return nil, errNoClient(id)
	}
	req = fitting(id, m.withDefaults(req))
	req, format := m.answerFormat(id, req)
	req = model.Build(req)
	if err := model.Check(req); err != nil {
		return nil, err
	}
	points := planPoints(m.caching(id), req)
	fields, reasoning := m.fields(req.ToolChoice)
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "fields of model %s", id)
	}
	if reasoning {
		req.Temperature = nil
	}
	in := &bedrockruntime.ConverseStreamInput{
		ModelId:         &id,
		System:          system(req.System, points),
		Messages:        messages(req.Messages, points),
		InferenceConfig: inference(req),
		ToolConfig:      tools(req, points),
		GuardrailConfig: m.Guardrail.stream(),
		OutputConfig:    format,
	}
	if len(fields) > 0 {
		in.AdditionalModelRequestFields = documentOf(raw)
	}
	return in, nil
}

// forConverse is the same request for Converse.
func forConverse(in *bedrockruntime.ConverseStreamInput) *bedrockruntime.ConverseInput {
	out := &bedrockruntime.ConverseInput{
		ModelId:                      in.ModelId,
		System:                       in.System,
		Messages:                     in.Messages,
		InferenceConfig:              in.InferenceConfig,
		ToolConfig:                   in.ToolConfig,
		AdditionalModelRequestFields: in.AdditionalModelRequestFields,
		OutputConfig:                 in.OutputConfig,
	}
	if g := in.GuardrailConfig; g != nil {
		out.GuardrailConfig = &types.GuardrailConfiguration{GuardrailIdentifier: g.GuardrailIdentifier, GuardrailVersion: g.GuardrailVersion, Trace: g.Trace}
	}
	return out
}

func (m Model) withDefaults(req model.Request) model.Request {
	if req.MaxTokens == 0 {
		req.MaxTokens = m.MaxTokens
	}
	if req.MaxTokens == 0 {
		req.MaxTokens = DefaultMaxTokens
	}
	if req.Temperature == nil {
		req.Temperature = m.Temperature
	}
	return req
}

// reasoningFields are the request fields by which model families switch reasoning on.
var reasoningFields = []string{"thinking", "reasoning_config", "reasoningConfig"}

// fields gives the model's own request fields for a request with choice, and whether they switch reasoning on.
func (m Model) fields(choice model.ToolChoice) (map[string]any, bool) {
	fields := maps.Clone(m.Fields)
	forced := choice.Any || choice.Name != ""
	reasoning := false
	for _, name := range reasoningFields {
		if !isOn(fields[name]) {
			continue
		}
		if forced {
			delete(fields, name)
		}
		reasoning = reasoning || !forced
	}
	return fields, reasoning
}

// isOn reports whether the value of a reasoning field asks for reasoning.
func isOn(field any) bool {
	mode, _ := field.(map[string]any)
	return field != nil && mode["type"] != "disabled"
}

func inference(req model.Request) *types.InferenceConfiguration {
	c := &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(min(req.MaxTokens, 1<<31-1)))}
	if req.Temperature != nil {
		c.Temperature = aws.Float32(float32(*req.Temperature))
	}
	return c
}

func system(text string, p points) []types.SystemContentBlock {
	if text == "" {
		return nil
	}
	blocks := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: text}}
	if p.system {
		blocks = append(blocks, &types.SystemContentBlockMemberCachePoint{Value: cachePoint()})
	}
	return blocks
}

func tools(req model.Request, p points) *types.ToolConfiguration {
	if len(req.Tools) == 0 {
		return nil
	}
	config := &types.ToolConfiguration{ToolChoice: choice(req.ToolChoice)}
	for _, t := range req.Tools {
		spec := types.ToolSpecification{Name: &t.Name, InputSchema: &types.ToolInputSchemaMemberJson{Value: documentOf(t.Schema)}}
		if t.Description != "" {
			spec.Description = &t.Description
		}
		config.Tools = append(config.Tools, &types.ToolMemberToolSpec{Value: spec})
	}
	if p.tools {
		config.Tools = append(config.Tools, &types.ToolMemberCachePoint{Value: cachePoint()})
	}
	return config
}

func choice(c model.ToolChoice) types.ToolChoice {
	switch {
	case c.Name != "":
		return &types.ToolChoiceMemberTool{Value: types.SpecificToolChoice{Name: &c.Name}}
	case c.Any:
		return &types.ToolChoiceMemberAny{}
	}
	return nil
}
