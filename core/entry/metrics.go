package entry

import (
	"encoding/json"
	"io"
	"time"
)

// Metrics writes counts as one line of CloudWatch's embedded metric format, one metric for each name. Without counts nothing is
// written.
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
	for name, n := range counts {
		metrics = append(metrics, metric{name, "Count"})
		line[name] = n
	}
	line["_aws"] = map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Steadfast", "Dimensions": [][]string{{"function"}}, "Metrics": metrics,
		}},
	}
	_ = json.NewEncoder(w).Encode(line) // a metric that cannot be written must not fail the work
}
