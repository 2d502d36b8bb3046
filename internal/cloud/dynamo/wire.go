package dynamo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// apiError is an answer other than success. Fields are members besides the message.
type apiError struct {
	Code, Message string
	Fields        map[string]any
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

func validation(format string, args ...any) error {
	return &apiError{Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

// decodeError tells a value that DynamoDB refuses from JSON that has not the form of a request.
func decodeError(err error) error {
	var fault value.Fault
	if errors.As(err, &fault) {
		return validation("%s", string(fault))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return validation("the local DynamoDB does not offer the parameter %s", field)
	}
	return &apiError{Code: "SerializationException", Message: err.Error()}
}

// asAPIError gives every error its wire form: faults of values and expressions are validation errors, others internal.
func asAPIError(err error) *apiError {
	var api *apiError
	if errors.As(err, &api) {
		return api
	}
	var fault value.Fault
	if errors.As(err, &fault) {
		return &apiError{Code: "ValidationException", Message: string(fault)}
	}
	return &apiError{Code: "InternalServerError", Message: err.Error()}
}

func isInternal(err error) bool { return asAPIError(err).Code == "InternalServerError" }

func (e *apiError) qualified() string {
	switch e.Code {
	case "ValidationException":
		return "com.amazon.coral.validate#" + e.Code
	case "SerializationException", "UnknownOperationException":
		return "com.amazon.coral.service#" + e.Code
	}
	return "com.amazonaws.dynamodb.v20120810#" + e.Code
}

func (e *apiError) body() map[string]any {
	out := map[string]any{"__type": e.qualified(), "message": e.Message}
	if e.Code == "TransactionCanceledException" {
		out = map[string]any{"__type": e.qualified(), "Message": e.Message}
	}
	for k, v := range e.Fields {
		out[k] = v
	}
	return out
}

// answer writes the result, or the error, with the checksum that DynamoDB clients verify.
func answer(w http.ResponseWriter, out any, err error) {
	status := http.StatusOK
	if err != nil {
		e := asAPIError(err)
		out, status = e.body(), http.StatusBadRequest
		if isInternal(err) {
			status = http.StatusInternalServerError
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	h := w.Header()
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(b)), 10))
	h.Set("X-Amzn-Requestid", uuid.NewString())
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client is gone: nothing to tell it
}
