package cloud_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestDispatchWithoutSchedules: a project without the function for schedules says so.
func TestDispatchWithoutSchedules(t *testing.T) {
	c := start(t, cloud.Options{})
	for path, want := range map[string]int{"/dev/schedules/x": 503, "/dev/schedules/": 404, "/dev/nothing": 404} {
		got := c.http("POST", path, "", "")
		if got.status != want || want == 503 && !strings.Contains(got.body, "no such function") {
			t.Errorf("%s = %+v, want %d", path, got, want)
		}
	}
}

// TestCustomAnswers: what a custom resource's function tells is taken, and a failure is shown.
func TestCustomAnswers(t *testing.T) {
	c := start(t, cloud.Options{})
	tests := []struct {
		method, body string
		status       int
		shown        bool
	}{
		{"PUT", `{"Status":"SUCCESS"}`, 200, false}, {"PUT", `{"Status":"FAILED","Reason":"no group"}`, 200, true}, {"POST", `{"Status":"SUCCESS"}`, 400, false}, {"PUT", `x`, 400, false},
	}
	for _, tc := range tests {
		before := strings.Count(c.out.String(), "a custom resource failed")
		if got := c.at(c.Info().AWS, tc.method, "/custom-resources/Thing", "", tc.body); got.status != tc.status {
			t.Errorf("%s %s = %+v, want %d", tc.method, tc.body, got, tc.status)
		}
		shown := strings.Count(c.out.String(), "a custom resource failed") > before
		if shown != tc.shown || shown && !strings.Contains(c.out.String(), "no group") {
			t.Errorf("%s: shown %t, want %t", tc.body, shown, tc.shown)
		}
	}
}
