package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// texts is a string or a list of them, as IAM allows in many places.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// verdict is an authorizer's answer.
type verdict struct {
	PrincipalID string                     `json:"principalId"`
	Context     map[string]json.RawMessage `json:"context"`
	Policy      struct {
		Statement []statement
	} `json:"policyDocument"`
}

type statement struct {
	Effect           string
	Action, Resource texts
}

// judge reads an authorizer's answer for the resource arn. It says whether the caller may pass and what later events
// tell of it; the error is for an answer that API Gateway could not use.
func judge(payload []byte, arn string) (bool, map[string]string, error) {
	var v verdict
	if len(payload) > MaxAuthorizer {
		return false, nil, fmt.Errorf("the authorizer's answer is longer than %d bytes", MaxAuthorizer)
	}
	if err := json.Unmarshal(payload, &v); err != nil {
		return false, nil, fmt.Errorf("the authorizer's answer is not a policy: %w", err)
	}
	if v.PrincipalID == "" || len(v.Policy.Statement) == 0 {
		return false, nil, errors.New("the authorizer's answer lacks principalId or a statement")
	}
	context := map[string]string{"principalId": v.PrincipalID}
	for name, raw := range v.Context {
		text, ok := scalar(raw)
		if !ok {
			return false, nil, fmt.Errorf("the authorizer's context value %s is neither text, number nor boolean", name)
		}
		context[name] = text
	}
	return allows(v.Policy.Statement, arn), context, nil
}

// allows applies IAM's rule: a Deny that fits ends it, an Allow that fits is needed.
func allows(statements []statement, arn string) bool {
	allowed := false
	for _, s := range statements {
		if !s.covers(arn) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		allowed = allowed || s.Effect == "Allow"
	}
	return allowed
}

func (s statement) covers(arn string) bool {
	action, resource := false, false
	for _, a := range s.Action {
		action = action || wild(strings.ToLower(a), "execute-api:invoke")
	}
	for _, r := range s.Resource {
		resource = resource || wild(r, arn)
	}
	return action && resource
}

// wild matches text with a pattern of IAM: * is any run of characters, ? any one.
func wild(pattern, text string) bool {
	expr := regexp.QuoteMeta(pattern)
	expr = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(expr)
	return regexp.MustCompile("(?s)^" + expr + "$").MatchString(text)
}

// saysUnauthorized reports whether a failed authorizer's error object asks for a 401: the one failure that counts as
// the caller's.
func saysUnauthorized(payload []byte) bool {
	var e struct {
		Message string `json:"errorMessage"`
	}
	return json.Unmarshal(payload, &e) == nil && e.Message == "Unauthorized"
}
