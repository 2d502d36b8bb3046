package steadfast_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDashboard: its body is JSON, and what it and the alarms show of turns is counted by a filter of the template.
func TestDashboard(t *testing.T) {
	text := read(t, "template.yaml")
	_, body, _ := strings.Cut(text, "DashboardBody: !Sub |\n")
	body, _, _ = strings.Cut(body, "\n\n")
	var board struct {
		Widgets []struct{ Properties struct{ Metrics [][]any } }
	}
	if err := json.Unmarshal([]byte(regexp.MustCompile(`\$\{[\w.:]+\}`).ReplaceAllString(body, "x")), &board); err != nil {
		t.Fatal(err)
	}
	var counted, shown []string
	for _, m := range regexp.MustCompile(`MetricName: (\w+), MetricValue`).FindAllStringSubmatch(text, -1) {
		counted = append(counted, m[1])
	}
	for _, w := range board.Widgets {
		of := ""
		for _, m := range w.Properties.Metrics {
			if m[0] != "." && m[0] != "..." {
				of = m[0].(string)
			}
			if of == "Steadfast/x" {
				shown = append(shown, m[1].(string))
			}
		}
	}
	for _, m := range regexp.MustCompile(`MetricName: (\w+)\}\n +Period`).FindAllStringSubmatch(text, -1) {
		shown = append(shown, m[1])
	}
	if len(board.Widgets) == 0 || len(shown) < len(counted) {
		t.Errorf("%d widgets show %v", len(board.Widgets), shown)
	}
	for _, name := range shown {
		if !slices.Contains(counted, name) {
			t.Errorf("nothing counts %s", name)
		}
	}
	for _, name := range counted {
		if !slices.Contains(shown, name) {
			t.Errorf("nothing shows %s", name)
		}
	}
}
