package rehearsal_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// TestFunctionsUnderTheEmulator: what `sam build` made answers the sample events under the AWS Lambda Runtime Interface Emulator.
func TestFunctionsUnderTheEmulator(t *testing.T) {
	rie := tool(t, "STEADFAST_RIE", "test-aws")
	dir := build(t, architecture(t))
	d := startDev(t, "127.0.0.1")
	d.warm(t)
	play(t, d, emulator{rie, dir, d})
}

// emulator runs functions without a container, each in a process of its own.
type emulator struct {
	rie, dir string
	dev      *dev
}

func (e emulator) invoke(t *testing.T, f sam.Function, event string) []byte {
	t.Helper()
	address := free(t)
	cmd := exec.Command(e.rie, "--log-level", "error", "--runtime-interface-emulator-address", address, "--runtime-api-address", free(t),
		filepath.Join(e.dir, f.LogicalID, "bootstrap"))
	cmd.Dir, cmd.Env = t.TempDir(), e.environment(t, f)
	p, err := begin(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the emulator said:\n%s%s", &p.out, &p.said)
		}
	})
	return post(t, "http://"+address+"/2015-03-31/functions/function/invocations", read(t, event))
}

// environment is the function's, as the local cloud tells it, and what the emulator needs. Nothing comes from the shell.
func (e emulator) environment(t *testing.T, f sam.Function) []string {
	t.Helper()
	env := []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	for name, value := range e.dev.env[f.LogicalID] {
		env = append(env, name+"="+value)
	}
	return append(env, "AWS_LAMBDA_FUNCTION_NAME="+f.Name, "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%.0f", f.Timeout.Seconds()), "AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(f.Memory))
}

// free is an address of the loopback interface that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
