package openai

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// exception is Bedrock's exception for what the server, or the way to it, has done.
func (b *Bridge) exception(err error) *bedrock.Error {
	var own *bedrock.Error
	var refusal *openai.APIError
	var other *openai.RequestError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refusal) && refusal.HTTPStatusCode == 0:
		return &bedrock.Error{Type: "ModelStreamErrorException", Message: b.base + " broke off: " + refusal.Message}
	case errors.As(err, &refusal):
		return b.answered(refusal.HTTPStatusCode, refusal.Code, refusal.Message)
	case errors.As(err, &other):
		return b.answered(other.HTTPStatusCode, nil, clip(other.Body))
	case errors.Is(err, openai.ErrReasoningToolsRequireResponses), errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return &bedrock.Error{Type: "ValidationException", Message: err.Error()}
	}
	return &bedrock.Error{Type: "ServiceUnavailableException", Message: fmt.Sprintf("%s cannot be reached, or broke off: %v", b.base, err)}
}

// clip is the start of a body that is no error of the API.
func clip(body []byte) string {
	text := []rune(string(body))
	return string(text[:min(len(text), 300)])
}

func (b *Bridge) answered(status int, code any, message string) *bedrock.Error {
	return &bedrock.Error{Type: typeOf(status, code), Message: fmt.Sprintf("%s answered %d: %s", b.base, status, message)}
}

func typeOf(status int, code any) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return "ModelTimeoutException"
	case http.StatusTooManyRequests:
		if code == "insufficient_quota" { // no waiting helps
			return "ServiceQuotaExceededException"
		}
		return "ThrottlingException"
	case http.StatusInternalServerError:
		return "InternalServerException"
	}
	if status > 500 {
		return "ServiceUnavailableException"
	}
	return "ValidationException"
}
