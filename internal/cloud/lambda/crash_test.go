package lambda_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
)

// TestHostProcess is no test: it is the host that TestKillNineOfTheHost kills.
func TestHostProcess(t *testing.T) {
	data, mark := os.Getenv("TEST_HOST_DATA"), os.Getenv("TEST_HOST_MARK")
	if data == "" {
		t.Skip("run by TestKillNineOfTheHost")
	}
	h := open(t, func(c *lambda.Config) { c.Data, c.Cache = data, os.Getenv("TEST_HOST_CACHE") })
	h.enqueue(fmt.Sprintf(`{"do":"sleep","ms":60000,"text":%q}`, mark))
	h.enqueue(fmt.Sprintf(`{"do":"touch","text":%q}`, mark+".second"))
	fmt.Println("accepted")
	select {}
}

func TestKillNineOfTheHost(t *testing.T) {
	data, mark := t.TempDir(), filepath.Join(t.TempDir(), "mark")
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "TEST_HOST_DATA="+data, "TEST_HOST_MARK="+mark, "TEST_HOST_CACHE="+cache)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for scan := bufio.NewScanner(out); scan.Scan() && !strings.Contains(scan.Text(), "accepted"); {
	}
	eventually(t, "the function to run", func() bool { return content(mark) != "" })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as said
	pid := content(mark)
	if killedWithParent {
		eventually(t, "the function to die with its host", func() bool { return !alive(t, pid) })
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	h := open(t, func(c *lambda.Config) { c.Data = data; c.Functions[0].Async.MaxRetries = 0 })
	eventually(t, "both invocations to run in the next host", func() bool { return content(mark) != "" && exists(mark+".second")() })
	if _, err := h.Kill("probe"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the queue to drain", h.drained)
}
