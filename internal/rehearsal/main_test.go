package rehearsal_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

var update = flag.Bool("update", false, "write the golden files anew")

// project is the root of the module, and scratch a folder for what the tests build.
var project, scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withFolders(m.Run))
}

func withFolders(run func() int) int {
	var err error
	if project, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	if scratch, err = os.MkdirTemp("", "steadfast-rehearsal-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	return run()
}

// tool gives the path that a variable of `make` names, or skips the test.
func tool(t *testing.T, variable, target string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set: run make %s", variable, target)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return path
}

// samTool is a program of the folder in which SAM is installed.
func samTool(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(tool(t, "STEADFAST_SAM", "test-aws"), "bin", name)
}

// tidy is an environment in which SAM asks nobody anything: no telemetry, no credentials of the developer, and nobody where AWS is.
func tidy(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	env = append(env, "SAM_CLI_TELEMETRY=0", "AWS_DEFAULT_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_MAX_ATTEMPTS=1", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	return append(env, more...)
}

// run runs a program in the project's folder and gives what it wrote to standard output. Any failure fails the test.
func run(t *testing.T, env []string, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var out, said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = project, env, &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(program), strings.Join(args, " "), err, out.Bytes(), said.Bytes())
	}
	return out.Bytes()
}

// stack is the template as the local cloud reads it.
func stack(t *testing.T) *sam.Stack {
	t.Helper()
	s, err := sam.Load(filepath.Join(project, "template.yaml"), sam.Inputs{Defaults: map[string]string{
		"CognitoUserPoolId": "us-east-1_AbCdEfGhI", "CognitoClientId": "client",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// architecture is this machine's, as the template's parameter names it.
func architecture(t *testing.T) string {
	t.Helper()
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "arm64"
	}
	t.Skipf("Lambda does not run on %s", runtime.GOARCH)
	return ""
}

// builds are the folders that SAM has built into, by architecture.
var builds = map[string]string{}

// build has SAM build every function for an architecture, once, as the deploy guide says, and gives the folder.
func build(t *testing.T, architecture string) string {
	t.Helper()
	if builds[architecture] == "" {
		dir := filepath.Join(scratch, architecture, "build")
		flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -trimpath -tags=lambda.norpc -ldflags=-s")
		run(t, tidy("GOFLAGS="+flags, "CGO_ENABLED=0"), samTool(t, "sam"), "build",
			"--build-dir", dir, "--parameter-overrides", "Architecture="+architecture)
		builds[architecture] = dir
	}
	return builds[architecture]
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is not what it was; when that is intended: make test-aws UPDATE=-update\n%s", name, firstDifference(want, got))
	}
}

func firstDifference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d: -%s +%s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("-%d lines +%d lines", len(w), len(g))
}
