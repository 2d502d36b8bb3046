package lambda

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Build is the beginning (Done false) or the end of one run of the Go compiler.
type Build struct {
	Functions []string
	Done      bool
	Took      time.Duration // at the end
	Err       error         // at the end, with the compiler's words
}

// binary is a built function.
type binary struct {
	path string
	hash string // of its content: equal for builds that made no difference
}

// builder keeps one binary per function and builds it again when the sources have changed.
type builder struct {
	ctx      context.Context // over when the host stops
	dir      string
	cache    string
	folders  map[string]string // function -> folder below dir
	progress func(Build)
	slots    chan struct{} // at most two compilers at once

	mu      sync.Mutex
	checked time.Time // when sources was taken
	sources string
	built   map[string]built
	failed  map[string]failed
	flights map[string]*flight
}

// built is a binary with the sources it was made from.
type built struct {
	binary
	sources string
}

// flight is a build under way.
type flight struct {
	done chan struct{}
	err  error
}

func newBuilder(ctx context.Context, c Config) (*builder, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	b := &builder{
		ctx: ctx, dir: dir, cache: c.Cache, folders: map[string]string{}, progress: c.Progress,
		slots: make(chan struct{}, 2), built: map[string]built{}, failed: map[string]failed{}, flights: map[string]*flight{},
	}
	for _, f := range c.Functions {
		b.folders[f.Name] = f.Dir
	}
	if b.progress == nil {
		b.progress = logBuilds(c.Log)
	}
	if b.cache == "" {
		if b.cache, err = defaultCache(dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for binaries: %w", err)
	}
	sweep(b.cache, time.Now().Add(-time.Hour))
	return b, nil
}

// sweep removes what builds that were killed have left. Younger folders may belong to another host's build.
func sweep(cache string, before time.Time) {
	left, _ := filepath.Glob(filepath.Join(cache, "build-*")) // the pattern is good
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(before) {
			_ = os.RemoveAll(path) // the next host tries again
		}
	}
}

func defaultCache(dir string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache: %w", err)
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(base, "steadfast", hex.EncodeToString(sum[:6])), nil
}

// binary gives the function's binary for the sources as they are now, built if need be. A build goes on when ctx is over.
func (b *builder) binary(ctx context.Context, function string) (binary, error) {
	for {
		bin, wait, err := b.look(function)
		if wait == nil {
			return bin, err
		}
		select {
		case <-wait.done:
			if wait.err != nil {
				return binary{}, wait.err
			}
		case <-ctx.Done():
			return binary{}, ctx.Err()
		}
	}
}

// look gives the binary if it is up to date, else the build to wait for, which it starts unless it is under way.
func (b *builder) look(function string) (binary, *flight, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.flights[function]; f != nil {
		return binary{}, f, nil
	}
	fresh, err := b.fresh(function)
	if err != nil || fresh {
		return b.built[function].binary, nil, err
	}
	if f := b.failed[function]; f.err != nil && f.sources == b.sources && time.Since(f.at) < failureCounts {
		return binary{}, nil, f.err
	}
	return binary{}, b.begin([]string{function}), nil
}

// refresh looks at the sources, at most once a second.
func (b *builder) refresh() error {
	if time.Since(b.checked) <= time.Second {
		return nil
	}
	sources, err := fingerprint(b.dir)
	if err == nil {
		b.sources, b.checked = sources, time.Now()
	}
	return err
}

// fresh looks at the sources, and at what is built, here or by an earlier host.
func (b *builder) fresh(function string) (bool, error) {
	if err := b.refresh(); err != nil {
		return false, err
	}
	if have := b.built[function]; have.sources == b.sources {
		if _, err := os.Stat(have.path); err == nil { // another host may have cleared it away
			return true, nil
		}
	}
	kept, err := b.kept(function)
	if err != nil || kept.sources != b.sources {
		return false, nil
	}
	b.built[function] = kept
	return true, nil
}

// begin starts one compiler for several functions. The lock is held.
func (b *builder) begin(functions []string) *flight {
	f := &flight{done: make(chan struct{})}
	for _, name := range functions {
		b.flights[name] = f
	}
	sources := b.sources
	go func() {
		made, err := b.compile(functions, sources)
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, name := range functions {
			delete(b.flights, name)
			delete(b.failed, name)
			if err == nil {
				b.built[name] = made[name]
			}
		}
		if err != nil && len(functions) == 1 { // of several nobody knows yet which one it is
			b.failed[functions[0]] = failed{err, sources, time.Now()}
		}
		f.err = err
		close(f.done)
	}()
	return f
}

// buildAll builds those of functions that are not up to date, with one compiler.
func (b *builder) buildAll(ctx context.Context, functions []string) error {
	b.mu.Lock()
	var stale []string
	for _, name := range functions {
		if b.folders[name] == "" {
			b.mu.Unlock()
			return fmt.Errorf("build %s: the template has no such function", name)
		}
		fresh, err := b.fresh(name)
		if err != nil {
			b.mu.Unlock()
			return err
		}
		if !fresh && b.flights[name] == nil {
			stale = append(stale, name)
		}
	}
	if len(stale) > 0 {
		b.begin(stale)
	}
	b.mu.Unlock()
	for _, name := range functions {
		if _, err := b.binary(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// kept reads what an earlier host left in the cache.
func (b *builder) kept(function string) (built, error) {
	note, err := os.ReadFile(b.note(function))
	if err != nil {
		return built{}, err
	}
	sources, hash, _ := strings.Cut(strings.TrimSpace(string(note)), " ")
	path := filepath.Join(b.cache, function+"-"+hash)
	if _, err := os.Stat(path); err != nil {
		return built{}, err
	}
	return built{binary{path: path, hash: hash}, sources}, nil
}

func (b *builder) note(function string) string { return filepath.Join(b.cache, function+".sources") }
