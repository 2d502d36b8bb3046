package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// kind is what an exception of the service means.
type kind struct {
	code   fault.Code
	reason string
	says   string
}

// kinds are the exceptions the service is known to send, before an answer or in the middle of it. It throttles in both
// ways; the SDK itself repeats only some, and none in the middle.
func kinds(exception string) (kind, bool) {
	switch exception {
	case "ThrottlingException", "TooManyRequestsException":
		return kind{fault.Unavailable, "throttled", "the model service asks to wait"}, true
	case "ModelNotReadyException":
		return kind{fault.Unavailable, "model_not_ready", "the model is not ready"}, true
	case "ModelTimeoutException":
		return kind{fault.Unavailable, "model_timeout", "the model took too long"}, true
	case "ModelErrorException", "ModelStreamErrorException":
		return kind{fault.Unavailable, "model_error", "the model failed"}, true
	case "ServiceUnavailableException", "InternalServerException", "InternalFailure":
		return kind{fault.Unavailable, "service_error", "the model service failed"}, true
	case "ValidationException":
		return kind{fault.Invalid, "", "the model service refused the request"}, true
	case "AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException":
		return kind{fault.Denied, "", "this deployment may not use the model"}, true
	case "ResourceNotFoundException":
		return kind{fault.NotFound, "", "there is no such model"}, true
	case "ServiceQuotaExceededException":
		return kind{fault.Limit, "quota", "the account's quota for the model is used up"}, true
	}
	return kind{}, false
}

// failure gives err its code. The end of ctx stays what it is, with its cause; everything without an answer from the service counts
// as a connection that failed.
func failure(ctx context.Context, modelID string, err error) error {
	var coded *fault.Error
	if errors.As(err, &coded) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("ask model %s: %w (%w)", modelID, cause, ctx.Err())
	}
	k := kindOf(err)
	wrapped := fault.Wrap(k.code, err, "%s (%s)", k.says, modelID)
	if errors.As(wrapped, &coded) {
		return coded.Because(k.reason)
	}
	return wrapped
}

// kindOf judges any error of a call.
func kindOf(err error) kind {
	var api smithy.APIError
	var params *smithy.InvalidParamsError
	var encoding *smithy.SerializationError
	switch {
	case errors.As(err, &api):
		return kindOfException(api, err)
	case errors.As(err, &params), errors.As(err, &encoding):
		return kind{fault.Internal, "", "the request could not be made"}
	case statusOf(err) >= 400:
		return kindOfStatus(statusOf(err))
	}
	return kind{fault.Unavailable, "unreachable", "the model service could not be reached"}
}

func kindOfException(api smithy.APIError, err error) kind {
	k, known := kinds(api.ErrorCode())
	if !known {
		k = kindOfStatus(statusOf(err))
	}
	if k.code == fault.Invalid && tooLong(api.ErrorMessage()) {
		return kind{fault.Invalid, "context_full", "the conversation is too long for the model"}
	}
	return k
}

// statusOf is the HTTP status that err came with, 0 if none.
func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// kindOfStatus judges an exception of an unknown name by its HTTP status; in the middle of a stream there is none, and
// the answer is simply lost.
func kindOfStatus(status int) kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return kind{fault.Denied, "", "this deployment may not use the model"}
	case status == http.StatusNotFound:
		return kind{fault.NotFound, "", "there is no such model"}
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status == http.StatusFailedDependency:
		return kind{fault.Unavailable, "service_error", "the model service failed"}
	case status >= 400 && status < 500:
		return kind{fault.Invalid, "", "the model service refused the request"}
	}
	return kind{fault.Unavailable, "service_error", "the model service failed"}
}

// tooLong reports whether a refusal says that the request does not fit the model's context.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{
		"input is too long", "prompt is too long", "input tokens exceed", "exceed context limit", "context window", "context length", "too many input tokens",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
