package lambda

import (
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
)

// record is what Lambda sends to a failure destination.
type record struct {
	Version         string          `json:"version"`
	Timestamp       string          `json:"timestamp"`
	RequestContext  requestContext  `json:"requestContext"`
	RequestPayload  json.RawMessage `json:"requestPayload"`
	ResponseContext *answerContext  `json:"responseContext,omitempty"`
	ResponsePayload json.RawMessage `json:"responsePayload,omitempty"`
}

type requestContext struct {
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"` // RetriesExhausted or EventAgeExceeded
	Invocations int    `json:"approximateInvokeCount"`
}

type answerContext struct {
	StatusCode int    `json:"statusCode"`
	Version    string `json:"executedVersion"`
	Error      string `json:"functionError"`
}

func failureRecord(it item, arn, condition string, r invoke.Result, now time.Time) []byte {
	out := record{
		Version: "1.0", Timestamp: now.UTC().Format("2006-01-02T15:04:05.000Z"),
		RequestContext: requestContext{RequestID: it.ID, FunctionARN: arn + ":$LATEST", Condition: condition, Invocations: it.Tries},
		RequestPayload: asJSON(it.Payload),
	}
	if r.FunctionError != "" {
		out.ResponseContext = &answerContext{StatusCode: 200, Version: "$LATEST", Error: "Unhandled"}
		out.ResponsePayload = asJSON(r.Payload)
	}
	body, err := json.Marshal(out)
	if err != nil { // cannot be: every part is valid JSON
		return []byte(`{}`)
	}
	return body
}

// asJSON is b itself when it is JSON, else a JSON text of it.
func asJSON(b []byte) json.RawMessage {
	if json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(string(b))
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}
