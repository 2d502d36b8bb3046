package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
)

type answer struct {
	PID                  int
	Text, ID, ARN, Trace string
	Left                 int64
}

func decode(t *testing.T, r invoke.Result) answer {
	t.Helper()
	if r.FunctionError != "" {
		t.Fatalf("the function failed: %s %s", r.FunctionError, r.Payload)
	}
	var a answer
	if err := json.Unmarshal(r.Payload, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestInvoke(t *testing.T) {
	h := open(t, nil)
	first := decode(t, h.run("probe", `{"text":"hi"}`))
	if first.Text != "hi" || first.ARN != "arn:aws:lambda:us-east-1:000000000000:function:probe" || first.ID == "" {
		t.Errorf("answer = %+v", first)
	}
	if first.Left < 15_000 || first.Left > 20_000 {
		t.Errorf("%d ms were left of 20 s", first.Left)
	}
	if !strings.HasPrefix(first.Trace, "Root=1-") {
		t.Errorf("trace = %q", first.Trace)
	}
	second := decode(t, h.run("probe", `{"text":"again"}`))
	if second.PID != first.PID {
		t.Errorf("a second process ran it: %d, then %d", first.PID, second.PID)
	}
	if second.ID == first.ID {
		t.Errorf("both had the id %s", first.ID)
	}
	if n := h.lines("msg=invoked", "function=probe", "trigger=test", "ms=", "outcome=ok"); n != 2 {
		t.Errorf("%d lines for two invocations:\n%s", n, h.log)
	}
	if out := strings.ReplaceAll(h.output.String(), startWarning, ""); out != "" {
		t.Errorf("a quiet host printed %q", out)
	}
}

func TestFailures(t *testing.T) {
	h := open(t, nil)
	tests := []struct{ name, function, payload, kind, reportKind, message string }{
		{"error", "probe", `{"do":"fail","text":"no such row"}`, "Unhandled", "errorString", "no such row"},
		{"panic", "probe", `{"do":"panic","text":"ouch"}`, "Unhandled", "string", "ouch"},
		{"exit", "probe", `{"do":"exit"}`, "Runtime.ExitError", "Runtime.ExitError", "Runtime exited with error: exit status 7"},
		{"start", "stillborn", `{}`, "Runtime.ExitError", "Runtime.ExitError", "Runtime exited during start: exit status 3"},
		{"input", "probe", `{"ms":"x"}`, "Unhandled", "UnmarshalTypeError", "cannot unmarshal string"},
		{"too large", "probe", `{"do":"big","count":6291557}`, "Function.ResponseSizeTooLarge", "Function.ResponseSizeTooLarge", "6291556 bytes"},
		{"broken stream", "probe", `{"do":"broken"}`, "Unhandled", "errorString", "the source dried up"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := h.run(tc.function, tc.payload)
			message, kind := report(t, r)
			if r.FunctionError != tc.kind || kind != tc.reportKind || !strings.Contains(message, tc.message) {
				t.Errorf("= %s, %s %q, want %s, %s and %q", r.FunctionError, kind, message, tc.kind, tc.reportKind, tc.message)
			}
		})
	}
	eventually(t, "output of failed invocations", func() bool {
		out := h.output.String()
		return strings.Contains(out, "probe | about to fail\n") && strings.Contains(out, "probe | about to exit\n") &&
			strings.Contains(out, "stillborn | TABLE_NAME is missing\n")
	})
	if a := decode(t, h.run("probe", `{"text":"well"}`)); a.Text != "well" {
		t.Errorf("after the failures it answers %+v", a)
	}
}

func TestStreamedAnswer(t *testing.T) {
	h := open(t, nil)
	if r := h.run("probe", `{"do":"stream"}`); string(r.Payload) != `"streamed"` || r.FunctionError != "" {
		t.Errorf("= %q %s", r.Payload, r.FunctionError)
	}
}

func TestVerboseShowsEverything(t *testing.T) {
	h := open(t, func(c *lambda.Config) { c.Verbose = true })
	h.run("probe", `{"text":"loudly"}`)
	eventually(t, "the line", func() bool { return strings.Contains(h.output.String(), "probe | said loudly\n") })
}

// startWarning is what the probe warns of while it starts.
const startWarning = `probe | {"level":"WARN","msg":"a setting is old"}` + "\n"

// TestWarningsOfTheStartAreShown: also when all goes well, and no other line is.
func TestWarningsOfTheStartAreShown(t *testing.T) {
	h := open(t, nil)
	h.run("probe", `{"text":"quietly"}`)
	eventually(t, "the line", func() bool {
		return strings.Contains(h.output.String(), `probe | {"level":"WARN","msg":"a setting is old"}`)
	})
	if strings.Contains(h.output.String(), "quietly") {
		t.Errorf("printed: %s", h.output.String())
	}
}

func TestTimeoutKills(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	h := open(t, func(c *lambda.Config) { c.Functions[0].Timeout = time.Second })
	r := h.run("probe", fmt.Sprintf(`{"do":"sleep","ms":60000,"text":%q}`, mark))
	message, kind := report(t, r)
	if r.FunctionError != "Sandbox.Timedout" || kind != "Sandbox.Timedout" || !strings.HasSuffix(message, "Task timed out after 1.00 seconds") {
		t.Errorf("= %s, %s %q", r.FunctionError, kind, message)
	}
	if alive(t, content(mark)) {
		t.Error("its process is still there")
	}
}

func TestKill(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	h := open(t, nil)
	done := make(chan invoke.Result, 1)
	go func() {
		r, _ := h.Invoke(context.Background(), "probe", "test", []byte(fmt.Sprintf(`{"do":"sleep","ms":60000,"text":%q}`, mark)))
		done <- r
	}()
	eventually(t, "the function to run", func() bool { return content(mark) != "" })
	if n, err := h.Kill("probe"); n != 1 || err != nil {
		t.Errorf("Kill = %d, %v, want 1 process", n, err)
	}
	if message, kind := report(t, <-done); kind != "Runtime.ExitError" || !strings.HasSuffix(message, "signal: killed") {
		t.Errorf("the killed one answered %s %q", kind, message)
	}
	if n, err := h.Kill("probe"); n != 0 || err != nil {
		t.Errorf("second Kill = %d, %v, want none", n, err)
	}
	if _, err := h.Kill("nobody"); err == nil {
		t.Error("Kill of an unknown function went well")
	}
	decode(t, h.run("probe", `{}`))
}

func TestKilledWhileIdle(t *testing.T) {
	h := open(t, nil)
	first := decode(t, h.run("probe", `{}`))
	if _, err := h.Kill("probe"); err != nil {
		t.Fatal(err)
	}
	if second := decode(t, h.run("probe", `{}`)); second.PID == first.PID {
		t.Error("the dead process answered")
	}
}

func TestProcessesUnderLoad(t *testing.T) {
	h := open(t, func(c *lambda.Config) { c.MaxProcesses = 3 })
	pids := map[int]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			r, err := h.Invoke(t.Context(), "probe", "test", []byte(`{"do":"sleep","ms":50,"text":"/dev/null"}`))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			pids[decode(t, r).PID]++
		})
	}
	group.Wait()
	total := 0
	for _, n := range pids {
		total += n
	}
	if len(pids) > 3 || total != 12 {
		t.Errorf("12 invocations ran as %v, want at most 3 processes", pids)
	}
	if len(pids) < 2 {
		t.Errorf("12 invocations at once ran in %d process", len(pids))
	}
}

func TestCallerLeaves(t *testing.T) {
	dir := t.TempDir()
	running, waiting := filepath.Join(dir, "running"), filepath.Join(dir, "waiting")
	h := open(t, func(c *lambda.Config) { c.MaxProcesses = 1 })
	ctx, leave := context.WithCancel(context.Background())
	var group sync.WaitGroup
	invokeAs := func(do, mark string) {
		group.Go(func() {
			_, err := h.Invoke(ctx, "probe", "test", []byte(fmt.Sprintf(`{"do":%q,"text":%q}`, do, mark)))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s = %v, want canceled", mark, err)
			}
		})
	}
	invokeAs("hold", running)
	eventually(t, "the first to run", exists(running))
	invokeAs("touch", waiting)
	leave()
	group.Wait()
	write(t, running+".go", "")
	decode(t, h.run("probe", `{}`)) // the one process is free again: the first ran to its end
	if n := h.lines("msg=invoked", "outcome=ok"); n != 2 {
		t.Errorf("%d invocations ended well, want the first and the last:\n%s", n, h.log)
	}
	if exists(waiting)() {
		t.Error("an invocation ran though its caller had left before it began")
	}
}

func TestIdleProcessesEnd(t *testing.T) {
	h := open(t, func(c *lambda.Config) { c.IdleAfter = 20 * time.Millisecond })
	first := decode(t, h.run("probe", `{}`))
	eventually(t, "the idle process to end", func() bool { return !alive(t, fmt.Sprint(first.PID)) })
	if second := decode(t, h.run("probe", `{}`)); second.PID == first.PID {
		t.Error("the ended process answered")
	}
}

func TestUnknownFunctionAndLargePayload(t *testing.T) {
	h := open(t, nil)
	if _, err := h.Invoke(t.Context(), "nobody", "test", nil); err == nil || !strings.Contains(err.Error(), "invoke nobody: the template has no such function") {
		t.Errorf("Invoke = %v", err)
	}
	if err := h.Enqueue(t.Context(), "nobody", "test", nil); err == nil || !strings.Contains(err.Error(), "enqueue nobody") {
		t.Errorf("Enqueue = %v", err)
	}
	if _, err := h.Invoke(t.Context(), "probe", "test", make([]byte, lambda.MaxSync+1)); err == nil {
		t.Error("Invoke took a payload over the limit")
	}
	if err := h.Enqueue(t.Context(), "probe", "test", make([]byte, lambda.MaxAsync+1)); err == nil {
		t.Error("Enqueue took a payload over the limit")
	}
}

func TestStopRefusesAndWaits(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	h := open(t, nil)
	done := make(chan invoke.Result, 1)
	go func() {
		r, _ := h.Invoke(context.Background(), "probe", "test", []byte(fmt.Sprintf(`{"do":"sleep","ms":200,"text":%q}`, mark)))
		done <- r
	}()
	eventually(t, "the function to run", func() bool { return content(mark) != "" })
	if err := h.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	decode(t, <-done)
	if alive(t, content(mark)) {
		t.Error("its process outlived the host")
	}
	if _, err := h.Invoke(context.Background(), "probe", "test", nil); err == nil || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("Invoke after Stop = %v", err)
	}
}
