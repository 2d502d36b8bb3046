package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// atOnce is a model that says 200 tokens without a pause.
type atOnce struct{}

func (atOnce) Respond(context.Context, bedrock.Request) iter.Seq2[bedrock.Part, error] {
	return func(yield func(bedrock.Part, error) bool) {
		for i := range 200 {
			if !yield(bedrock.Text(fmt.Sprintf("%4s ", strconv.FormatInt(int64(i)*7919+100, 36))), nil) {
				return
			}
		}
	}
}

// contender is the command of that name in the environment of a local cloud.
type contender struct {
	program string
	env     []string
}

func newContender(b *testing.B) contender {
	b.Helper()
	c, err := cloud.Start(b.Context(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", AWSAddr: "127.0.0.1:0", Model: atOnce{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(context.WithoutCancel(b.Context())) })
	out := contender{program: filepath.Join(b.TempDir(), "contender"), env: []string{"PATH=/usr/bin:/bin", "HOME=" + b.TempDir()}}
	for name, value := range c.Variables()["RunTurnFunction"] {
		if !strings.HasPrefix(name, "AWS_ACCESS") && !strings.HasPrefix(name, "AWS_S") { // a program outside of the stack has no role
			out.env = append(out.env, name+"="+value)
		}
	}
	out.env = append(out.env, "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512")
	cmd := exec.Command("go", "build", "-tags=lambda.norpc", "-ldflags=-s", "-o", out.program, "./internal/bench/contender")
	cmd.Dir, cmd.Env = project, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build the contender: %v\n%s", err, said)
	}
	return out
}

// run gives what the command reports last.
func (c contender) run(b *testing.B, into any, args ...string) {
	b.Helper()
	cmd := exec.Command(c.program, args...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	last, found := bytes.CutPrefix(lines[len(lines)-1], []byte("@@ "))
	if err != nil || !found {
		b.Fatalf("contender %v: %v\n%s", args, err, out)
	}
	if err := json.Unmarshal(last, into); err != nil {
		b.Fatal(err)
	}
}

// laps are measured rounds, in microseconds.
type laps struct {
	Wall  []float64 `json:"wall_us"`
	CPU   []float64 `json:"cpu_us"`
	First []float64 `json:"first_us"`
}

// BenchmarkProcess is a turn of 200 tokens in a process of its own, over the wire to a local table and model, beside the SDK's
// model call alone; medians of 200.
func BenchmarkProcess(b *testing.B) {
	c := newContender(b)
	for _, args := range [][]string{{"raw", "200"}, {"warm", "200", "60", "same"}, {"warm", "200", "60", "reload20"}, {"warm", "200", "60", "fresh"}} {
		b.Run(strings.Join(args, "-"), func(b *testing.B) {
			var l laps
			c.run(b, &l, args...)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(l.Wall), "wall-us")
			b.ReportMetric(median(l.CPU), "cpu-us")
			b.ReportMetric(median(l.First), "first-token-us")
		})
	}
}

// BenchmarkMemory is what a process holds of memory after 50 turns of one session.
func BenchmarkMemory(b *testing.B) {
	c := newContender(b)
	cmd := exec.Command(c.program, "session")
	cmd.Env = c.env
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	idle := 0.0
	for n := range 51 {
		if !lines.Scan() || strings.Contains(lines.Text(), `"error"`) {
			b.Fatalf("turn %d: %s", n, lines.Text())
		}
		if n == 0 {
			idle = resident(b, cmd.Process.Pid)
		}
		if _, err := in.Write([]byte("same\n")); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(idle, "MB-idle")
	b.ReportMetric(resident(b, cmd.Process.Pid), "MB-after-50")
}

// resident is a process's memory in MB, as the system counts it.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc: ", err)
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f", &kb); err == nil {
			return kb / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// BenchmarkClaims is tasks claimed and finished per second, one and 32 at a time, and as a ratio to the same two writes with the
// SDK alone: of-sdk by the clock, of-sdk-cpu by the processor time of the process, which neighbours on the machine disturb less. Each
// is the median of rounds in which both take turns.
func BenchmarkClaims(b *testing.B) {
	c := newContender(b)
	c.env = append(c.env, "AWS_ENDPOINT_URL_DYNAMODB="+tableAlone(b))
	for _, at := range []string{"1", "32"} {
		b.Run("at-a-time="+at, func(b *testing.B) {
			var perSecond, clock, processor []float64
			for n := range rounds {
				pair := []string{"claims", "sdk-claims"}
				if n%2 == 1 {
					slices.Reverse(pair)
				}
				took := map[string]claimed{}
				for _, command := range pair {
					took[command] = c.claims(b, command, at)
				}
				ours, sdk := took["claims"].First, took["sdk-claims"].First
				perSecond = append(perSecond, took["claims"].N/ours.Ms*1000)
				clock, processor = append(clock, sdk.Ms/ours.Ms), append(processor, sdk.CPUms/ours.CPUms)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(perSecond), "tasks/s")
			b.ReportMetric(median(clock), "of-sdk")
			b.ReportMetric(median(processor), "of-sdk-cpu")
		})
	}
}

// tableAlone is the template's table with no functions behind it: those of the cloud would tell the world of each task that is finished,
// by thousands while the next round is measured.
func tableAlone(b *testing.B) string {
	b.Helper()
	stack, err := sam.Load(filepath.Join(project, "template.yaml"), sam.Inputs{
		Parameters: map[string]string{"CognitoUserPoolId": "us-east-1_bench", "CognitoClientId": "bench"},
	})
	if err != nil {
		b.Fatal(err)
	}
	table, err := dynamo.Open(dynamo.Config{Tables: stack.Tables, Region: stack.Region, Account: stack.Account, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(table)
	b.Cleanup(func() { server.Close(); _ = table.Close() })
	return server.URL
}

// claimed is what the command says of its tasks.
type claimed struct {
	N     float64
	First struct {
		Ms, Won float64
		CPUms   float64 `json:"cpu_ms"`
	}
}

func (c contender) claims(b *testing.B, command, at string) claimed {
	b.Helper()
	var r claimed
	c.run(b, &r, command, "1000", at)
	if r.First.Won != r.N {
		b.Fatalf("%s: %v of %v claims won", command, r.First.Won, r.N)
	}
	return r
}
