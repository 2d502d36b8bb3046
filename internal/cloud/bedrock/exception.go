package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is an exception of the service. As a Part of a script it is yielded as an error.
type Error struct {
	Type    string // "ThrottlingException" and so on
	Message string
}

// Error is type and message.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Status gives the HTTP status of the exception: 400 for one that is not known.
func (e *Error) Status() int {
	switch e.Type {
	case "ThrottlingException", "ModelNotReadyException":
		return http.StatusTooManyRequests
	case "ModelTimeoutException":
		return http.StatusRequestTimeout
	case "ModelErrorException", "ModelStreamErrorException":
		return http.StatusFailedDependency
	case "AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException":
		return http.StatusForbidden
	case "ResourceNotFoundException", "UnknownOperationException":
		return http.StatusNotFound
	case "InternalServerException":
		return http.StatusInternalServerError
	case "ServiceUnavailableException":
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// member is the exception's name inside an event stream.
func (e *Error) member() string { return strings.ToLower(e.Type[:1]) + e.Type[1:] }

func (e *Error) body() []byte {
	body, _ := json.Marshal(map[string]string{"message": e.Message}) // two strings always encode
	return body
}

// invalid makes a ValidationException.
func invalid(format string, args ...any) *Error {
	return &Error{Type: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

// asError makes any error an exception.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) && e.Type != "" {
		return e
	}
	return &Error{Type: "InternalServerException", Message: err.Error()}
}

func writeError(w http.ResponseWriter, e *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", e.Type)
	w.WriteHeader(e.Status())
	_, _ = w.Write(e.body()) // the client may be gone: there is nobody left to tell
}
