package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
)

// letters takes what finally failed.
type letters struct {
	mu     sync.Mutex
	bodies []string
	queues []string
	refuse int // that many times first
}

func (l *letters) take(queue string, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse > 0 {
		l.refuse--
		return errors.New("the queue is away")
	}
	l.bodies, l.queues = append(l.bodies, string(body)), append(l.queues, queue)
	return nil
}

func (l *letters) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.bodies)
}

const failuresARN = "arn:aws:sqs:us-east-1:000000000000:failures"

func (l *letters) into(c *lambda.Config) {
	c.DeadLetter = l.take
	c.Functions[0].Async.OnFailure = failuresARN
}

func (h *host) enqueue(payload string) {
	h.t.Helper()
	if err := h.Enqueue(h.t.Context(), "probe", "rule Test", []byte(payload)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) drained() bool { return h.Pending() == 0 }

func TestAsynchronousRetries(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	dead := &letters{}
	h := open(t, dead.into)
	h.enqueue(fmt.Sprintf(`{"do":"append","text":%q}`, mark))
	eventually(t, "the queue to drain", h.drained)
	if got := content(mark); got != "..." {
		t.Errorf("it ran %d times, want 3: two failures and a success", len(got))
	}
	if dead.count() != 0 {
		t.Errorf("a success reached the failure destination: %q", dead.bodies)
	}
	if h.lines("function=probe", `trigger="rule Test"`, "outcome=\"errorString: not yet\"") != 2 {
		t.Errorf("log:\n%s", h.log)
	}
}

func TestFailureDestination(t *testing.T) {
	dead := &letters{refuse: 1}
	h := open(t, dead.into)
	h.enqueue(`{"do":"fail","text":"never"}`)
	eventually(t, "the queue to drain", h.drained)
	if dead.count() != 1 || dead.queues[0] != failuresARN {
		t.Fatalf("failure destination has %q in %q, want one record", dead.bodies, dead.queues)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(dead.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	request := got["requestContext"].(map[string]any)
	delete(request, "requestId")
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", got["timestamp"].(string)); err != nil {
		t.Error(err)
	}
	delete(got, "timestamp")
	want := map[string]any{
		"version": "1.0",
		"requestContext": map[string]any{
			"functionArn": "arn:aws:lambda:us-east-1:000000000000:function:probe:$LATEST",
			"condition":   "RetriesExhausted", "approximateInvokeCount": 3.0,
		},
		"requestPayload":  map[string]any{"do": "fail", "text": "never"},
		"responseContext": map[string]any{"statusCode": 200.0, "executedVersion": "$LATEST", "functionError": "Unhandled"},
		"responsePayload": map[string]any{"errorMessage": "never", "errorType": "errorString"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestNoRetriesWhenNoneAreConfigured(t *testing.T) {
	dead := &letters{}
	h := open(t, func(c *lambda.Config) { dead.into(c); c.Functions[0].Async.MaxRetries = 0 })
	h.enqueue(`{"do":"fail","text":"once"}`)
	eventually(t, "the queue to drain", h.drained)
	if n := h.lines("msg=invoked"); n != 1 || dead.count() != 1 {
		t.Errorf("%d runs and %d records, want one of each", n, dead.count())
	}
}

func TestOldItemsAreGivenUp(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	dead := &letters{}
	h := open(t, func(c *lambda.Config) {
		dead.into(c)
		c.Functions[0].Async.MaxAge = 10 * time.Millisecond // over before the first retry
		c.RetryDelays = []time.Duration{20 * time.Millisecond}
	})
	h.enqueue(fmt.Sprintf(`{"do":"append","text":%q}`, mark))
	eventually(t, "the queue to drain", h.drained)
	if dead.count() != 1 || !strings.Contains(dead.bodies[0], `"condition":"EventAgeExceeded","approximateInvokeCount":`) {
		t.Errorf("failure destination has %q", dead.bodies)
	}
	if runs := len(content(mark)); runs > 1 {
		t.Errorf("it ran %d times, want no retry of what is too old", runs)
	}
}

func TestQueueSurvivesARestart(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	running, after := filepath.Join(dir, "running"), filepath.Join(dir, "after")
	onDisk := func(c *lambda.Config) { c.Data = data; c.MaxProcesses = 1 }
	h := open(t, onDisk)
	h.enqueue(fmt.Sprintf(`{"do":"sleep","ms":60000,"text":%q}`, running))
	eventually(t, "the first to run", func() bool { return content(running) != "" })
	h.enqueue(fmt.Sprintf(`{"do":"touch","text":%q}`, after)) // has no process
	impatient, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Stop(impatient); err == nil {
		t.Error("Stop said that nothing ran")
	}
	if h.Pending() != 2 {
		t.Fatalf("%d items are left, want both", h.Pending())
	}
	if err := os.Remove(running); err != nil {
		t.Fatal(err)
	}
	h = open(t, func(c *lambda.Config) { onDisk(c); c.MaxProcesses = 2; c.Functions[0].Async.MaxRetries = 0 })
	eventually(t, "both to run again", func() bool { return content(running) != "" && exists(after)() })
	eventually(t, "the second to be forgotten", func() bool { return h.Pending() == 1 })
	if _, err := h.Kill("probe"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the queue to drain", h.drained)
}

// TestBuildFailureDoesNotUseUpTries: what was enqueued waits, and runs when the function builds again. The compiler's words are told
// once, not with each look.
func TestBuildFailureDoesNotUseUpTries(t *testing.T) {
	dir := copyProject(t)
	mark := filepath.Join(t.TempDir(), "mark")
	main := filepath.Join(dir, "functions", "probe", "main.go")
	good := content(main)
	write(t, main, good+"\nfunc broken( {\n")
	h := open(t, func(c *lambda.Config) { c.Dir, c.Cache = dir, t.TempDir(); c.Functions[0].Async.MaxRetries = 0 })
	h.enqueue(fmt.Sprintf(`{"do":"touch","text":%q}`, mark))
	eventually(t, "the failed build", func() bool { return h.lines(`msg="not built"`, "syntax error") > 0 })
	eventually(t, "a line that it waits", func() bool { return h.lines("msg=waits", "function=probe") > 0 })
	write(t, main, good)
	eventually(t, "the run after the repair", exists(mark))
	if told, waits := h.lines(`msg="not built"`), h.lines("msg=waits"); told != 1 || waits != 1 {
		t.Errorf("told %d times that it does not build and %d times that it waits, want once each:\n%s", told, waits, h.log)
	}
}

func TestDamagedQueueIsOneClearError(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "lambda.log"), "no checksum\nand more\n")
	_, err := lambda.Open(lambda.Config{Dir: ".", Cache: cache, Data: data})
	if err == nil || !strings.Contains(err.Error(), "open the queue of invocations") || !strings.Contains(err.Error(), "lambda.log") {
		t.Errorf("Open = %v, want an error that names the file", err)
	}
}

func TestDrainingHostKeepsWhatComes(t *testing.T) {
	data, mark := t.TempDir(), filepath.Join(t.TempDir(), "mark")
	h := open(t, func(c *lambda.Config) { c.Data = data })
	if err := h.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.enqueue(fmt.Sprintf(`{"do":"touch","text":%q}`, mark))
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if exists(mark)() {
		t.Error("a draining host began an invocation")
	}
	if err := h.Enqueue(t.Context(), "probe", "test", []byte("{}")); err == nil {
		t.Error("a stopped host said that it kept an invocation")
	}
	h = open(t, func(c *lambda.Config) { c.Data = data })
	eventually(t, "the kept one to run", exists(mark))
	eventually(t, "the queue to drain", h.drained)
}
