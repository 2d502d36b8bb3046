package rehearsal_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestSAMAcceptsTheTemplate(t *testing.T) {
	run(t, tidy(), samTool(t, "sam"), "validate", "--lint")
}

func TestCfnLintAcceptsTheTemplate(t *testing.T) {
	run(t, tidy(), samTool(t, "cfn-lint"), "--non-zero-exit-code", "informational", "template.yaml")
}

// TestExpansion holds what CloudFormation gets: every role, permission and route that SAM adds by itself is in the golden file.
func TestExpansion(t *testing.T) {
	golden(t, "expanded.json", expand(t))
}

var expanded []byte

// expand is what the SAM transform makes of the template.
func expand(t *testing.T) []byte {
	t.Helper()
	python := samTool(t, "python")
	if expanded == nil {
		expanded = run(t, tidy(), python, filepath.Join(project, "internal", "rehearsal", "testdata", "expand.py"),
			"template.yaml", "CognitoUserPoolId=us-east-1_AbCdEfGhI", "CognitoClientId=client")
	}
	return expanded
}

// role is an AWS::IAM::Role of the expanded template.
type role struct {
	Type       string
	Properties struct {
		ManagedPolicyArns []string
		Policies          []struct {
			PolicyName     string
			PolicyDocument struct{ Statement []statement }
		}
	}
}

type statement struct {
	Effect           string
	Action, Resource any // one or many
}

// many gives one or many as many.
func many(v any) []any {
	if all, ok := v.([]any); ok {
		return all
	}
	return []any{v}
}

func roles(t *testing.T) map[string]role {
	t.Helper()
	var template struct{ Resources map[string]json.RawMessage }
	if err := json.Unmarshal(expand(t), &template); err != nil {
		t.Fatal(err)
	}
	out := map[string]role{}
	for id, raw := range template.Resources {
		var r role
		if !strings.Contains(string(raw), `"AWS::IAM::Role"`) {
			continue
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if r.Type == "AWS::IAM::Role" {
			out[id] = r
		}
	}
	return out
}

// TestPlatformGrants: what roles hold beyond the policies of the template, for Lambda and Scheduler to work at all. None of it is
// asked for by the code, so it cannot be held against what the code uses: it stands in the golden file instead.
func TestPlatformGrants(t *testing.T) {
	var lines []string
	for id, r := range roles(t) {
		for _, arn := range r.Properties.ManagedPolicyArns {
			lines = append(lines, id+": "+arn)
		}
		for _, p := range r.Properties.Policies {
			if strings.HasPrefix(p.PolicyName, id+"Policy") { // the template's own
				continue
			}
			for _, s := range p.PolicyDocument.Statement {
				lines = append(lines, fmt.Sprintf("%s: %v on %s", id, s.Action, text(t, s.Resource)))
			}
		}
	}
	slices.Sort(lines)
	golden(t, "platform.txt", []byte(strings.Join(lines, "\n")+"\n"))
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestPoliciesReachTheRoles: the permissions that the local cloud holds each function to, and the tests hold against what is used,
// are those of the function's role: as many actions, on as many resources.
func TestPoliciesReachTheRoles(t *testing.T) {
	all := roles(t)
	for _, f := range stack(t).Functions {
		var want, got []string
		for _, s := range f.Policies {
			want = append(want, pairs(s.Actions, len(s.Resources))...)
		}
		id := f.LogicalID + "Role"
		for _, p := range all[id].Properties.Policies {
			for _, s := range p.PolicyDocument.Statement {
				if s.Effect == "Allow" && strings.HasPrefix(p.PolicyName, id+"Policy") {
					got = append(got, pairs(many(s.Action), len(many(s.Resource)))...)
				}
			}
		}
		slices.SortFunc(want, cmp.Compare[string])
		slices.SortFunc(got, cmp.Compare[string])
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-local cloud +role):\n%s", f.Name, diff)
		}
	}
}

// pairs names each action as often as there are resources.
func pairs[A any](actions []A, resources int) []string {
	var out []string
	for _, a := range actions {
		out = append(out, slices.Repeat([]string{fmt.Sprint(a)}, resources)...)
	}
	return out
}
