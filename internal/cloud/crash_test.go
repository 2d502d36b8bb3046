package cloud_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
)

func TestFailuresEndInTheirQueue(t *testing.T) {
	data := t.TempDir()
	failing := cloud.Options{
		Data: data, RetryDelays: []time.Duration{time.Millisecond}, Env: map[string]map[string]string{"keep": {"FAIL": "1"}},
	}
	c := start(t, failing)
	if got := c.http("POST", "/notes", c.token("ada"), `{"id":"n1"}`); got.status != 202 {
		t.Fatalf("POST /notes = %+v", got)
	}
	failed := func(c *running) []queue.Message {
		return decode[map[string][]queue.Message](t, c.http("GET", "/_dev/failed", "", "").body)["steadfast-Failures"]
	}
	eventually(t, "the failed event in its queue", func() bool { return len(failed(c)) == 1 })
	if n := strings.Count(c.out.String(), "function=keep"); strings.Count(c.out.String(), "outcome=\"errorString: told to fail\"") != 3 {
		t.Errorf("%d lines about keep, want three failed tries:\n%s", n, c.out)
	}
	if !strings.Contains(c.out.String(), "keep | ") {
		t.Error("what a failing function printed is not shown")
	}
	c.stop()
	again := start(t, failing)
	messages := failed(again)
	if len(messages) != 1 || !strings.Contains(messages[0].Body, `"condition":"RetriesExhausted"`) {
		t.Errorf("after a restart the queue has %+v", messages)
	}
}

// TestCloudProcess is no test: it is the cloud that TestKillNine kills.
func TestCloudProcess(t *testing.T) {
	data := os.Getenv("TEST_CLOUD_DATA")
	if data == "" {
		t.Skip("run by TestKillNine")
	}
	c := start(t, cloud.Options{Data: data, Env: map[string]map[string]string{"keep": {"FAIL": "1"}}})
	line, err := json.Marshal(c.Info())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready", string(line))
	select {}
}

func TestKillNine(t *testing.T) {
	data := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCloudProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "TEST_CLOUD_DATA="+data, "TEST_CLOUD_PROJECT="+project)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	base := ""
	for scan := bufio.NewScanner(out); base == "" && scan.Scan(); {
		if line, ok := strings.CutPrefix(scan.Text(), "ready "); ok {
			base = decode[cloud.Info](t, line).HTTP
		}
	}
	if base == "" {
		t.Fatal("the cloud did not start")
	}
	dying := &running{t: t}
	token := decode[struct{ Token string }](t, dying.at(base, "POST", "/_dev/token", "", `{"user":"ada"}`).body).Token
	for i := range 3 {
		if got := dying.at(base, "POST", "/notes", token, fmt.Sprintf(`{"id":"n%d","text":"ada"}`, i)); got.status != 202 {
			t.Fatalf("POST /notes = %+v", got)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as said

	c := start(t, cloud.Options{Data: data, Addr: strings.TrimPrefix(base, "http://")})
	for i := range 3 {
		eventually(t, "an accepted note after the crash", c.note(fmt.Sprintf("n%d", i), token, "hello ada"))
	}
	eventually(t, "the queues to drain", func() bool { return c.http("GET", "/_dev/pending", "", "").body == "{\"pending\":0}\n" })
}
