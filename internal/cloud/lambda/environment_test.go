package lambda_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
)

// alive tells whether a process of this number is there.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatalf("%q is no process id", pid)
	}
	if stat := content(fmt.Sprintf("/proc/%d/stat", n)); strings.Contains(stat, ") Z ") {
		return false // dead, and nobody has asked for its status
	}
	return syscall.Kill(n, 0) == nil
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_SHELL", "x")
	h := open(t, func(c *lambda.Config) {
		c.Endpoint = "http://127.0.0.1:4444"
		c.Env = map[string]map[string]string{"probe": {"OWN": "override"}}
	})
	var env []string
	if err := json.Unmarshal(h.run("probe", `{"do":"env"}`).Payload, &env); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"OWN=override", "OTHER=kept", "AWS_LAMBDA_FUNCTION_NAME=probe", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ENDPOINT_URL=http://127.0.0.1:4444", "AWS_ACCESS_KEY_ID=fn-probe", "TZ=:UTC",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %q in the environment", want)
		}
	}
	for _, have := range env {
		name, _, _ := strings.Cut(have, "=")
		if name == "SECRET_OF_THE_SHELL" || name == "AWS_SESSION_TOKEN" || name == "GOFLAGS" {
			t.Errorf("the function sees %s", name)
		}
	}
}
