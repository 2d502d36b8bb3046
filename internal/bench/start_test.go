package bench_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// rounds is how often each function is started; the median counts.
const rounds = 9

const project = "../.."

// BenchmarkStart is what starting a function takes: from the first event at the AWS Lambda Runtime Interface Emulator, which then
// starts the process, to the answer; in ms, and as a ratio to the smallest function there is, started in turn with it. Zips
// are those of a deployment.
func BenchmarkStart(b *testing.B) {
	rie := os.Getenv("STEADFAST_RIE")
	if rie == "" {
		b.Skip("STEADFAST_RIE names no emulator: run make bench")
	}
	names := functions(b)
	dir, arm := b.TempDir(), b.TempDir()
	compile(b, dir, "", append(names, "floor"))
	compile(b, arm, "arm64", names)
	env := variables(b)
	took := map[string][]float64{}
	for range rounds {
		for _, name := range append(names, "floor") {
			took[name] = append(took[name], start(b, rie, filepath.Join(dir, name), event(b, name), env[name]))
		}
	}
	floor := median(took["floor"])
	for _, name := range append(names, "floor") {
		b.Run(name, func(b *testing.B) {
			ms := median(took[name])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms, "ms/start")
			b.ReportMetric(ms/floor, "of-floor")
			if name != "floor" {
				b.ReportMetric(zipped(b, filepath.Join(arm, name)), "zip-MB")
			}
		})
	}
}

func functions(b *testing.B) []string {
	b.Helper()
	mains, err := filepath.Glob(filepath.Join(project, "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		b.Fatalf("functions: %d, %v", len(mains), err)
	}
	var names []string
	for _, path := range mains {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

// compile builds functions as a deployment does.
func compile(b *testing.B, dir, arch string, names []string) {
	b.Helper()
	args := []string{"build", "-tags=lambda.norpc", "-ldflags=-s", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		if name == "floor" {
			args = append(args, "./internal/bench/floor")
			continue
		}
		args = append(args, "./functions/"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// variables gives the environment of every function over a local cloud, which lives as long as the bench.
func variables(b *testing.B) map[string][]string {
	b.Helper()
	c, err := cloud.Start(b.Context(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", AWSAddr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(b.Context()) })
	all := map[string][]string{}
	for id, vars := range c.Variables() {
		for name, value := range vars {
			all[kebab(id)] = append(all[kebab(id)], name+"="+value)
		}
	}
	return all
}

// kebab is the folder of the function with that logical id: RunTurn is run-turn.
func kebab(id string) string {
	var b strings.Builder
	id = strings.TrimSuffix(id, "Function")
	for i, r := range id {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

func event(b *testing.B, name string) []byte {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(project, "events", name+".json"))
	if os.IsNotExist(err) {
		return []byte("{}")
	}
	if err != nil {
		b.Fatal(err)
	}
	return bytes.ReplaceAll(data, []byte(`\"wait\": true`), []byte(`\"wait\": false`)) // nothing waits for a result here
}

// start gives the ms from an event to its answer.
func start(b *testing.B, rie, program string, event []byte, env []string) float64 {
	b.Helper()
	address := free(b)
	cmd := exec.Command(rie, "--log-level", "error", "--runtime-interface-emulator-address", address, "--runtime-api-address", free(b), program)
	cmd.Env = append(env, "HOME="+b.TempDir(), "PATH=/usr/bin:/bin", "AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_LAMBDA_FUNCTION_TIMEOUT=30")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the function ends with it
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	up(b, address)
	begun := time.Now()
	res, err := http.Post("http://"+address+"/2015-03-31/functions/function/invocations", "application/json", bytes.NewReader(event))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(begun).Microseconds()) / 1000
}

// up waits until somebody listens.
func up(b *testing.B, address string) {
	b.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			b.Fatal("the emulator does not listen: ", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func free(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func median(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// zipped is the size of a zip with that file alone, in MB.
func zipped(b *testing.B, path string) float64 {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create("bootstrap")
	if err == nil {
		_, err = io.Copy(w, f)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		b.Fatal(fmt.Errorf("zip %s: %w", path, err))
	}
	return float64(out.Len()) / 1e6
}
