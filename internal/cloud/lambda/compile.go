package lambda

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// buildFlags are those of a deployment, but for the target: no RPC mode, and no C compiler needed. Symbols and version
// control stamps are left out, they cost time at every build.
func buildFlags() []string {
	return []string{"-tags=lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}
}

// compile runs the compiler once and moves what it made into the cache.
func (b *builder) compile(functions []string, sources string) (map[string]built, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-b.ctx.Done():
		return nil, errors.New("the local cloud is stopping")
	}
	began := time.Now()
	b.progress(Build{Functions: functions})
	made, err := b.compileNow(functions, sources)
	if err != nil && b.ctx.Err() != nil { // the compiler was ended
		err = fmt.Errorf("the local cloud is stopping: %w", context.Canceled)
	}
	b.progress(Build{Functions: functions, Done: true, Took: time.Since(began), Err: err})
	return made, err
}

func (b *builder) compileNow(functions []string, sources string) (map[string]built, error) {
	fresh, err := os.MkdirTemp(b.cache, "build-")
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", strings.Join(functions, ", "), err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	if err := b.runGo(fresh, functions); err != nil {
		return nil, err
	}
	made := map[string]built{}
	for _, name := range functions {
		if made[name], err = b.keep(filepath.Join(fresh, name), name, sources); err != nil {
			return nil, fmt.Errorf("build %s: %w", name, err)
		}
	}
	return made, nil
}

func (b *builder) runGo(into string, functions []string) error {
	program, err := goCommand()
	if err != nil {
		return fmt.Errorf("build %s: %w", strings.Join(functions, ", "), err)
	}
	args := append([]string{"build"}, buildFlags()...)
	args = append(args, "-o", into+string(filepath.Separator))
	for _, name := range functions {
		args = append(args, "./"+filepath.ToSlash(b.folders[name]))
	}
	cmd := exec.CommandContext(b.ctx, program, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", strings.Join(functions, ", "), err, tail(said.String(), 4000))
	}
	return nil
}

func goCommand() (string, error) {
	if program, err := exec.LookPath("go"); err == nil {
		return program, nil
	}
	const usual = "/usr/local/go/bin/go"
	if _, err := os.Stat(usual); err == nil {
		return usual, nil
	}
	return "", errors.New("the go command is needed to build the functions and is not on the PATH")
}

// tail gives the last part of s, at most about limit bytes, from the beginning of a line.
func tail(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) <= limit {
		return s
	}
	s = s[len(s)-limit:]
	return "...\n" + s[strings.IndexByte(s, '\n')+1:]
}

// keep moves a new binary into the cache under a name of its content, so that processes of the old one go on undisturbed,
// and notes which sources it came from.
func (b *builder) keep(path, function, sources string) (built, error) {
	hash, err := hashOf(path)
	if err != nil {
		return built{}, err
	}
	old, _ := b.kept(function)
	out := built{binary{path: filepath.Join(b.cache, function+"-"+hash), hash: hash}, sources}
	if err := os.Rename(path, out.path); err != nil {
		return built{}, err
	}
	if old.path != "" && old.path != out.path {
		defer func() { _ = os.Remove(old.path) }() // running processes keep it open
	}
	temporary := b.note(function) + "." + filepath.Base(filepath.Dir(path))
	if err := os.WriteFile(temporary, []byte(sources+" "+hash+"\n"), 0o644); err != nil {
		return built{}, err
	}
	return out, os.Rename(temporary, b.note(function))
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// logBuilds is the progress shown when nobody else shows it.
func logBuilds(log *slog.Logger) func(Build) {
	return func(b Build) {
		name := strings.Join(b.Functions, " ")
		if len(b.Functions) > 3 {
			name = fmt.Sprintf("%d functions", len(b.Functions))
		}
		switch {
		case !b.Done:
			log.Info("building", "function", name)
		case errors.Is(b.Err, context.Canceled):
		case b.Err == nil:
			log.Info("built", "function", name, "took", fmt.Sprintf("%.1fs", b.Took.Seconds()))
		default:
			log.Error("not built", "function", name, "error", b.Err.Error())
		}
	}
}
