package agency_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vector is an input and the answer the TypeScript package gave.
type vector struct {
	Name  string
	Tags  []string
	Input json.RawMessage
	Want  json.RawMessage
}

// skipped are the tags of cases that need not hold: likely defects of the package, order by locale, and text that is no UTF-8.
var skipped = []string{"quirk", "collation", "lone-surrogate"}

// conform runs every case of a file and counts. answer gives what this package says, in the form of the file.
func conform(t *testing.T, file string, answer func(t *testing.T, input json.RawMessage) any) {
	t.Helper()
	folder := os.Getenv("AGENCY_VECTORS")
	if folder == "" {
		folder = "testdata"
	}
	data, err := os.ReadFile(filepath.Join(folder, file))
	if os.IsNotExist(err) && folder != "testdata" && hasVectors(t, folder) {
		t.Skipf("%s has no %s", folder, file)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []vector }
	if err := json.Unmarshal(data, &all); err != nil || len(all.Cases) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(all.Cases), err)
	}
	ran, left := 0, map[string]int{}
	for _, c := range all.Cases {
		if i := slices.IndexFunc(skipped, func(tag string) bool { return slices.Contains(c.Tags, tag) }); i >= 0 {
			left[skipped[i]]++
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) { equalJSON(t, withoutUndelivered(t, c.Want), answer(t, c.Input)) })
	}
	t.Logf("%s: %d cases run, skipped %v", file, ran, left)
}

// hasVectors reports whether there is any file of cases in a folder: another folder may hold some of them only.
func hasVectors(t *testing.T, folder string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

// withoutUndelivered drops the package's documents of undelivered completions, which do not exist here: each stands on its own task.
func withoutUndelivered(t *testing.T, want json.RawMessage) json.RawMessage {
	t.Helper()
	all, isObject := plain(t, want).(object)
	documents, has := all["documents"].([]any)
	if !isObject || !has {
		return want
	}
	all["documents"] = slices.DeleteFunc(documents, func(d any) bool { return strings.HasSuffix(d.(object)["name"].(string), ".undelivered") })
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func equalJSON(t *testing.T, want json.RawMessage, got any) {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain(t, want), plain(t, data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func plain(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

func read[T any](t *testing.T, data json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

type object = map[string]any

// errorOf is an error in the form of the files.
func errorOf(err error) object {
	var s *scripted
	if errors.As(err, &s) {
		if s.bare != "" {
			return object{"name": nil, "message": s.bare}
		}
		return object{"name": orNull(s.Name), "message": s.Message}
	}
	return object{"name": "Error", "message": err.Error()}
}
