package lambda_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
)

func copyProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "project"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// builds counts what the compiler was asked for.
type builds struct {
	mu   sync.Mutex
	seen []lambda.Build
}

func (b *builds) note(one lambda.Build) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.Done {
		b.seen = append(b.seen, one)
	}
}

func (b *builds) all() []lambda.Build {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]lambda.Build(nil), b.seen...)
}

func TestRebuildOnChange(t *testing.T) {
	dir, seen := copyProject(t), &builds{}
	h := open(t, func(c *lambda.Config) { c.Dir, c.Cache, c.Progress = dir, t.TempDir(), seen.note })
	says := func(want string) func() bool {
		return func() bool { return string(h.run("greet", "{}").Payload) == want }
	}
	if !says(`"hello world"`)() {
		t.Fatalf("greet does not say hello world")
	}
	write(t, filepath.Join(dir, "word", "names", "first.txt"), "ada")
	eventually(t, "the changed embedded file", says(`"hello ada"`))
	source := filepath.Join(dir, "word", "word.go")
	write(t, source, strings.Replace(content(source), `"hello"`, `"good day"`, 1))
	eventually(t, "the changed package", says(`"good day ada"`))
	if n := len(seen.all()); n != 3 {
		t.Errorf("%d builds, want 3", n)
	}
}

func TestBuildFailureIsOneClearError(t *testing.T) {
	dir, seen := copyProject(t), &builds{}
	h := open(t, func(c *lambda.Config) { c.Dir, c.Cache, c.Progress = dir, t.TempDir(), seen.note })
	source := filepath.Join(dir, "word", "word.go")
	good := content(source)
	write(t, source, good+"\nvar Broken int = \"text\"\n")
	for range 2 {
		_, err := h.Invoke(t.Context(), "greet", "test", []byte("{}"))
		if err == nil || !strings.HasPrefix(err.Error(), "invoke greet: build greet: exit status 1") || !strings.Contains(err.Error(), "word.go:14") {
			t.Fatalf("Invoke = %v, want the compiler's words", err)
		}
	}
	if n := len(seen.all()); n != 1 {
		t.Errorf("%d builds for two tries on the same sources, want 1", n)
	}
	if err := h.Broken()["greet"]; err == nil || !strings.Contains(err.Error(), "word.go:14") || len(h.Broken()) != 1 {
		t.Errorf("Broken = %v, want greet with the compiler's words", h.Broken())
	}
	write(t, source, good)
	eventually(t, "that what did not build is no longer there", func() bool { return len(h.Broken()) == 0 })
	eventually(t, "the repaired build", func() bool {
		r, err := h.Invoke(t.Context(), "greet", "test", []byte("{}"))
		return err == nil && string(r.Payload) == `"hello world"`
	})
	if len(h.Broken()) != 0 || len(h.Building()) != 0 {
		t.Errorf("Broken = %v, Building = %v after the repair", h.Broken(), h.Building())
	}
}

func TestOneBuildForManyCallers(t *testing.T) {
	seen := &builds{}
	h := open(t, func(c *lambda.Config) { c.Cache, c.Progress = t.TempDir(), seen.note })
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { h.run("greet", "{}") })
	}
	group.Wait()
	if n := len(seen.all()); n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
}

func TestBuildAllAtOnceAndKeepForTheNextHost(t *testing.T) {
	seen, folder := &builds{}, t.TempDir()
	keep := func(c *lambda.Config) { c.Cache, c.Progress = folder, seen.note }
	h := open(t, keep)
	if err := h.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := seen.all(); len(got) != 1 || len(got[0].Functions) != 3 || got[0].Err != nil || got[0].Took <= 0 {
		t.Errorf("builds = %+v, want one of three functions", got)
	}
	next := open(t, keep)
	if err := next.Build(t.Context(), "greet", "probe"); err != nil {
		t.Fatal(err)
	}
	next.run("greet", "{}")
	if n := len(seen.all()); n != 1 {
		t.Errorf("%d builds, want the first host's one", n)
	}
	if err := next.Build(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "build nobody") {
		t.Errorf("Build = %v, want an error that names the function", err)
	}
}

func TestPrepareOnlyBuilds(t *testing.T) {
	seen := &builds{}
	h := open(t, func(c *lambda.Config) { c.Cache, c.Progress = t.TempDir(), seen.note })
	if err := h.Prepare(t.Context(), "greet"); err != nil {
		t.Fatal(err)
	}
	if len(seen.all()) != 1 || h.lines("msg=invoked") != 0 {
		t.Errorf("%d builds and %d invocations, want one and none", len(seen.all()), h.lines("msg=invoked"))
	}
	if err := h.Prepare(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "prepare nobody") {
		t.Errorf("Prepare = %v, want an error that names the function", err)
	}
}

func TestLeftoversOfKilledBuildsAreRemoved(t *testing.T) {
	folder := t.TempDir()
	old, young := filepath.Join(folder, "build-old"), filepath.Join(folder, "build-young")
	for _, path := range []string{old, young} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	open(t, func(c *lambda.Config) { c.Cache = folder })
	if exists(old)() || !exists(young)() {
		t.Errorf("old is there: %v, young is there: %v", exists(old)(), exists(young)())
	}
}
