package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// answer is what a function answered to the HTTP API.
type answer struct {
	status  int
	headers http.Header
	body    []byte
	ignored string // a part that format 2.0 does not know
}

// parseAnswer reads both shapes of format 2.0: an object with statusCode, or any other JSON, which is the body.
func parseAnswer(payload []byte) (answer, error) {
	if !json.Valid(payload) {
		return answer{}, fmt.Errorf("the answer is not JSON")
	}
	var o struct {
		StatusCode        json.RawMessage            `json:"statusCode"`
		Headers           map[string]json.RawMessage `json:"headers"`
		MultiValueHeaders map[string][]string        `json:"multiValueHeaders"`
		Cookies           []string                   `json:"cookies"`
		Body              *string                    `json:"body"`
		IsBase64Encoded   bool                       `json:"isBase64Encoded"`
	}
	if !hasStatus(payload) {
		return answer{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, payload, ""}, nil
	}
	if err := json.Unmarshal(payload, &o); err != nil {
		return answer{}, fmt.Errorf("the answer has a part of the wrong type: %w", err)
	}
	a := answer{headers: http.Header{}}
	if len(o.MultiValueHeaders) > 0 {
		a.ignored = "multiValueHeaders" // format 2.0: use headers and cookies
	}
	var err error
	if a.status, err = statusOf(o.StatusCode); err != nil {
		return answer{}, err
	}
	if err := a.setHeaders(o.Headers, o.Cookies); err != nil {
		return answer{}, err
	}
	if o.Body == nil {
		return a, nil
	}
	a.body = []byte(*o.Body)
	if o.IsBase64Encoded {
		if a.body, err = base64.StdEncoding.DecodeString(*o.Body); err != nil {
			return answer{}, fmt.Errorf("the body is not base64: %w", err)
		}
	}
	return a, nil
}

// hasStatus tells the two shapes apart.
func hasStatus(payload []byte) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(payload, &o) == nil && o["statusCode"] != nil
}

// statusOf reads a status code, which may be a number or a number in quotes.
func statusOf(raw json.RawMessage) (int, error) {
	status, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("statusCode %s is not a status from 200 to 599", raw)
	}
	return status, nil
}

// setHeaders takes over strings, numbers and booleans.
func (a *answer) setHeaders(headers map[string]json.RawMessage, cookies []string) error {
	for name, raw := range headers {
		v, ok := scalar(raw)
		if !ok {
			return fmt.Errorf("header %s is neither text, number nor boolean", name)
		}
		a.headers.Set(name, v)
	}
	for _, c := range cookies {
		a.headers.Add("Set-Cookie", c)
	}
	return nil
}

// scalar gives a string, number or boolean as text.
func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	var s string
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")) || raw[0] == '[' || raw[0] == '{':
		return "", false
	case json.Unmarshal(raw, &s) == nil:
		return s, true
	}
	return string(raw), true
}

// ownHeaders are set by the gateway or the connection, whatever the function says.
var ownHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Apigw-Requestid"}

// write sends the answer. With CORS configured, the function's own CORS headers are dropped, as API Gateway does.
func (a answer) write(w http.ResponseWriter, cors bool) {
	for name, values := range a.headers {
		if slices.Contains(ownHeaders, name) || cors && strings.HasPrefix(name, "Access-Control-") {
			continue
		}
		w.Header()[name] = values
	}
	if len(a.body) > 0 && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
