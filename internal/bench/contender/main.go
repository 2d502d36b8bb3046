// contender runs the turn engine, the tasks and the bare SDK under a benchmark's clock, in one process and on the caller's own
// table: the small contract that lets a harness measure several implementations in one run. It reads the usual AWS environment,
// TABLE_NAME and BEDROCK_MODEL_ID, and reports by lines "@@ {json}" on standard error; times are milliseconds since 1970. It
// deploys nothing and is no part of the product.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"
)

// request is the same conversation text for every contender: 40 bytes.
const request = "Tell me something about topic number 17."

const usage = `usage: contender COMMAND
  cold-chat | cold-task | cold-light    one operation, then exit
  session                               a turn for each line on stdin: same, reload or fresh
  warm N M MODE                         M unmeasured turns, then N measured: same, reload20 or fresh
  raw N                                 N model calls with the SDK alone
  claims N C                            claim and finish N tasks, C at a time, then deliver all of them again
  sdk-claims N C                        the same two writes for each task with the SDK alone`

func main() {
	started := time.Now()
	stop := profile(os.Getenv("CPU_PROFILE"))
	err := run(context.Background(), started, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "contender:", err)
		os.Exit(1)
	}
}

// profile writes where the time goes to a file, if one is named.
func profile(file string) (stop func()) {
	if file == "" {
		return func() {}
	}
	f, err := os.Create(file)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "contender: no profile:", err)
		return func() {}
	}
	return func() { pprof.StopCPUProfile(); f.Close() }
}

func run(ctx context.Context, started time.Time, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	switch args[0] {
	case "cold-chat", "cold-task", "cold-light":
		return cold(ctx, started, args[0])
	case "session":
		return session(ctx, os.Stdin)
	case "warm":
		if n, err := numbers(args[1:], 2); err == nil && len(args) == 4 {
			return warm(ctx, n[0], n[1], args[3])
		}
	case "raw":
		if n, err := numbers(args[1:], 1); err == nil {
			return raw(ctx, n[0])
		}
	case "claims", "sdk-claims":
		if n, err := numbers(args[1:], 2); err == nil {
			return claims(ctx, args[0], n[0], n[1])
		}
	}
	return fmt.Errorf("not understood: %q\n%s", args, usage)
}

// numbers reads the first n arguments.
func numbers(args []string, n int) ([]int, error) {
	if len(args) < n {
		return nil, fmt.Errorf("%d numbers are missing", n-len(args))
	}
	all := make([]int, n)
	for i := range all {
		var err error
		if all[i], err = strconv.Atoi(args[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// emit reports one line.
func emit(line any) error {
	data, err := json.Marshal(line)
	if err == nil {
		_, err = fmt.Fprintf(os.Stderr, "@@ %s\n", data)
	}
	return err
}

// mark is a moment of a run that is reported as it comes.
type mark struct {
	Mark  string  `json:"mark"`
	T     float64 `json:"t,omitempty"` // ms since 1970
	CPUms float64 `json:"cpu_ms,omitempty"`
}

func at(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// cpu is what the process has used so far.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// laps are measured rounds, in microseconds.
type laps struct {
	Wall  []int64 `json:"wall_us"`
	CPU   []int64 `json:"cpu_us"`
	First []int64 `json:"first_us"` // until the first token was there
}

// measure runs f n times after some unmeasured rounds. f tells when the first token was there.
func measure(n, unmeasured int, f func() (first time.Time, err error)) (laps, error) {
	var l laps
	for i := range n + unmeasured {
		used, begun := cpu(), time.Now()
		first, err := f()
		if err != nil {
			return l, err
		}
		if i >= unmeasured {
			l.First = append(l.First, first.Sub(begun).Microseconds())
			l.Wall = append(l.Wall, time.Since(begun).Microseconds())
			l.CPU = append(l.CPU, (cpu() - used).Microseconds())
		}
	}
	return l, nil
}
