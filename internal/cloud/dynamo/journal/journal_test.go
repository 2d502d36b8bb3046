package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
)

func open(t *testing.T, dir string) (*journal.Journal, []string) {
	t.Helper()
	var got []string
	j, err := journal.Open(dir, "x", func(r []byte) error { got = append(got, string(r)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, got
}

func write(t *testing.T, j *journal.Journal, records ...string) {
	t.Helper()
	for _, r := range records {
		if err := j.Wait(j.Append([]byte(r))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReplayWithoutClose(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, dir)
	write(t, j, "one", "two") // no Close: as after kill -9
	_, got := open(t, dir)
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDamage(t *testing.T) {
	tests := []struct {
		name    string
		damage  func(file []byte) []byte
		want    []string
		wantErr string
	}{
		{"torn last line is dropped", func(b []byte) []byte { return b[:len(b)-3] }, []string{"one", "two"}, ""},
		{"torn inside the checksum", func(b []byte) []byte { return append(b, "ab12"...) }, []string{"one", "two", "three"}, ""},
		{"only the newline is missing", func(b []byte) []byte { return b[:len(b)-1] }, []string{"one", "two"}, ""},
		{"zeros at the end", func(b []byte) []byte { return append(b, make([]byte, 100)...) }, []string{"one", "two", "three"}, ""},
		{"a bit in the middle", func(b []byte) []byte { b[9] ^= 1; return b }, nil, "damaged at line 1"},
		{"a bit in the last whole line", func(b []byte) []byte { b[len(b)-2] ^= 1; return b }, nil, "damaged at line 3"},
		{"a short line", func(b []byte) []byte { return append([]byte("xx\n"), b...) }, nil, "damaged at line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			j, _ := open(t, dir)
			write(t, j, "one", "two", "three")
			j.Close()
			path := filepath.Join(dir, "x.log")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.wantErr != "" {
				_, err := journal.Open(dir, "x", func([]byte) error { return nil })
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) || !strings.Contains(err.Error(), path) {
					t.Errorf("Open = %v, want %q and the path", err, tt.wantErr)
				}
				return
			}
			j, got := open(t, dir)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			write(t, j, "after")
			if _, got := open(t, dir); got[len(got)-1] != "after" || len(got) != len(tt.want)+1 {
				t.Errorf("after the repair: %q", got)
			}
		})
	}
}

func TestParallelWritersAndCompaction(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, dir)
	var mu sync.Mutex
	state := map[string]bool{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			key := fmt.Sprint("k", i)
			mu.Lock()
			state[key] = true
			pos := j.Append([]byte(key))
			if i%10 == 9 {
				if err := j.Compact(func(emit func([]byte) error) error {
					for k := range state {
						if err := emit([]byte(k)); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
			mu.Unlock()
			if err := j.Wait(pos); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, got := open(t, dir)
	seen := map[string]bool{}
	for _, k := range got {
		seen[k] = true
	}
	if diff := cmp.Diff(state, seen); diff != "" {
		t.Error(diff)
	}
}

func TestClosedAndNil(t *testing.T) {
	j, _ := open(t, t.TempDir())
	write(t, j, "one")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(j.Append([]byte("two"))); err == nil {
		t.Error("a record after Close was promised to be safe")
	}
	var none *journal.Journal
	if err := none.Wait(none.Append([]byte("x"))); err != nil || none.Large() || none.Close() != nil {
		t.Error("a nil journal must take everything")
	}
}
