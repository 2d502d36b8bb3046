package lambda

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// AccessKey is the access key id that a function signs its AWS calls with. It tells the local cloud who calls.
func AccessKey(function string) string { return "fn-" + function }

// Variables are those that the code of f reads: its own, where AWS is, and as whom to call it.
func (h *Host) Variables(f sam.Function) map[string]string {
	vars := map[string]string{}
	maps.Copy(vars, f.Env)
	maps.Copy(vars, h.config.Env[f.Name])
	maps.Copy(vars, map[string]string{
		"AWS_REGION":            h.config.Region,
		"AWS_DEFAULT_REGION":    h.config.Region,
		"AWS_ENDPOINT_URL":      h.config.Endpoint,
		"AWS_ACCESS_KEY_ID":     AccessKey(f.Name),
		"AWS_SECRET_ACCESS_KEY": "local",
	})
	return vars
}

// environment is all that a function sees: its own variables and those of Lambda, nothing of the developer's shell.
func (h *Host) environment(f sam.Function, token string) []string {
	env := h.Variables(f)
	maps.Copy(env, map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          h.runtime.address + "/" + token,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      token,
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"LAMBDA_TASK_ROOT":                h.scratch,
		"_HANDLER":                        "bootstrap",
		"_X_AMZN_TRACE_ID":                "",
		"HOME":                            h.scratch,
		"TMPDIR":                          h.scratch,
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"LANG":                            "en_US.UTF-8",
		"TZ":                              ":UTC",
	})
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// newScratch makes the folder that functions have as home and for temporary files.
func newScratch() (string, error) {
	dir, err := os.MkdirTemp("", "steadfast-functions-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the functions: %w", err)
	}
	return dir, nil
}

func removeScratch(dir string) { _ = os.RemoveAll(dir) }
