package entry

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"
)

// Metrics writes counts as one line of CloudWatch's embedded metric format: one metric for each name, in the namespace Steadfast, with
// the function's full name as its dimension, so that two stacks in one account stay apart. Without counts nothing is written.
func Metrics(w io.Writer, now time.Time, function string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	type metric struct {
		Name string `json:"Name"`
		Unit string `json:"Unit"`
	}
	var metrics []metric
	line := map[string]any{"function": function}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		metrics = append(metrics, metric{name, "Count"})
		line[name] = counts[name]
	}
	line["_aws"] = map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Steadfast", "Dimensions": [][]string{{"function"}}, "Metrics": metrics,
		}},
	}
	_ = json.NewEncoder(w).Encode(line) // a metric that cannot be written must not fail the work
}
