package bedrock

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/core/model"
)

// withoutTemperature are the models that refuse a request which sets one: Claude Opus from 4.7 on, and every Claude from 5 on.
var withoutTemperature = regexp.MustCompile(`anthropic\.claude-(?:opus-4-[7-9]|[a-z]+-[5-9])`)

// withoutForce are the models that cannot be made to call a tool: Claude Fable and Mythos, and every Claude 5.5.
var withoutForce = regexp.MustCompile(`anthropic\.claude-(?:fable|mythos|[a-z]+-5-5)`)

// fitting leaves out what the model is known not to take.
func fitting(id string, req model.Request) model.Request {
	if withoutTemperature.MatchString(id) {
		req.Temperature = nil
	}
	if withoutForce.MatchString(id) {
		req.ToolChoice = model.ToolChoice{}
	}
	return req
}

// maxConcessions is how many settings a model may refuse, one after the other.
const maxConcessions = 4

// ask asks the model, and again without a setting that the model says it does not have: ids do not always name a model, and new ones
// come that take less than those before. Nothing was answered then, so nothing is lost.
func (m Model) ask(ctx context.Context, req model.Request, yield func(model.Event, error) bool) {
	for left := maxConcessions; ; left-- {
		answered, again := false, false
		next, lesser := m, req
		m.once(ctx, req, func(e model.Event, err error) bool {
			if err != nil && !answered && left > 0 {
				var setting string
				if next, lesser, setting = m.without(req, err); setting != "" {
					m.log().WarnContext(ctx, "the model does not take a setting, which is left out", "model", m.id(req), "setting", setting)
					again = true
					return false
				}
			}
			answered = true
			return yield(e, err)
		})
		if !again {
			return
		}
		m, req = next, lesser
	}
}

// without is the request without what the service says that the model does not have, and the name of that; "" if err says nothing of
// the kind.
func (m Model) without(req model.Request, err error) (Model, model.Request, string) {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		return m, req, ""
	}
	text := strings.ToLower(refused.ErrorMessage())
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	if !says("support", "deprecated", "not permitted", "did not allow") {
		return m, req, ""
	}
	switch {
	case says("temperature") && (req.Temperature != nil || m.Temperature != nil):
		m.Temperature, req.Temperature = nil, nil
		return m, req, "temperature"
	case says("tool_choice", "toolchoice") && req.ToolChoice != (model.ToolChoice{}):
		req.ToolChoice = model.ToolChoice{}
		return m, req, "toolChoice"
	case says("textformat", "output_config", "outputconfig") && req.AnswerTool != "" && m.structured(m.id(req)):
		m.Structured = new(false)
		return m, req, "textFormat"
	case says("cachepoint", "cache_control", "prompt caching") && m.caching(m.id(req)) != (Caching{}):
		m.Caching = &Caching{}
		return m, req, "cachePoint"
	}
	return m, req, ""
}
