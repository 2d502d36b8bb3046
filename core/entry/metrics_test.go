package entry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
)

func TestMetrics(t *testing.T) {
	var out bytes.Buffer
	entry.Metrics(&out, time.UnixMilli(1767607200123), "recover", map[string]int{"turns": 2})
	var got any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v in %q, want one line of JSON", err, out.String())
	}
	want := map[string]any{
		"function": "recover", "turns": 2.0,
		"_aws": map[string]any{
			"Timestamp": 1767607200123.0,
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace": "Steadfast", "Dimensions": []any{[]any{"function"}}, "Metrics": []any{map[string]any{"Name": "turns", "Unit": "Count"}},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMetricsOfNothing(t *testing.T) {
	var out bytes.Buffer
	entry.Metrics(&out, time.Now(), "recover", nil)
	if out.Len() > 0 {
		t.Errorf("wrote %q", out.String())
	}
	entry.Metrics(broken{}, time.Now(), "recover", map[string]int{"turns": 1}) // must not panic
}

// broken cannot be written to.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func ExampleMetrics() {
	entry.Metrics(os.Stdout, time.UnixMilli(0), "recover", map[string]int{"turns": 1})
	// Output:
	// {"_aws":{"CloudWatchMetrics":[{"Dimensions":[["function"]],"Metrics":[{"Name":"turns","Unit":"Count"}],"Namespace":"Steadfast"}],"Timestamp":0},"function":"recover","turns":1}
}
