package rehearsal_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits on the zip of a function, in bytes. A cold start reads it all.
const (
	light = 4_500_000
	heavy = 8_000_000 // of a function that runs turns
)

// TestZips: what `sam build` makes for the architecture that deploys by default is one file that starts, and small.
func TestZips(t *testing.T) {
	dir := build(t, "arm64")
	for _, f := range stack(t).Functions {
		files, err := filepath.Glob(filepath.Join(dir, f.LogicalID, "*"))
		if err != nil || len(files) != 1 || filepath.Base(files[0]) != "bootstrap" {
			t.Errorf("%s is built to %v, %v, want bootstrap alone", f.Name, files, err)
			continue
		}
		limit := int64(light)
		if f.Name == "run-turn" || f.Name == "call-tool" || f.Name == "run-schedule" || strings.HasPrefix(f.Name, "agency-") {
			limit = heavy
		}
		size := zipped(t, files[0])
		t.Logf("%-26s %5.2f MB of %.1f MB", f.Name, float64(size)/1e6, float64(limit)/1e6)
		if size > limit {
			t.Errorf("the zip of %s has %d bytes, over %d", f.Name, size, limit)
		}
	}
}

// zipped is the size of a zip with that file alone.
func zipped(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var count counter
	z := zip.NewWriter(&count)
	w, err := z.Create(filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, f); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(count)
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
