package cloud

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
)

func TestRecent(t *testing.T) {
	large := json.RawMessage(`"` + strings.Repeat("x", recentBytes/4) + `"`)
	tests := []struct {
		name   string
		events int
		detail json.RawMessage
		want   int    // events that are left
		oldest string // of them
	}{
		{"none", 0, nil, 0, ""},
		{"few", 3, json.RawMessage(`{}`), 3, "1"},
		{"more than are kept", recentEvents + 5, json.RawMessage(`{}`), recentEvents, "6"},
		{"large ones", 6, large, 3, "4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r recent
			for i := range tt.events {
				r.add(bus.Event{ID: fmt.Sprint(i + 1), DetailType: []string{"even", "odd"}[(i+1)%2], Detail: tt.detail})
			}
			all := r.list("")
			if len(all) != tt.want || tt.want > 0 && all[0].ID != tt.oldest {
				t.Fatalf("list() gives %d events, %+v first, want %d, %q first", len(all), all[:min(1, len(all))], tt.want, tt.oldest)
			}
			if got := len(r.list("odd")) + len(r.list("even")); got != tt.want {
				t.Errorf("the two types have %d events together, want %d", got, tt.want)
			}
			for _, e := range r.list("odd") {
				if e.DetailType != "odd" {
					t.Errorf("list(odd) gives %+v", e)
				}
			}
		})
	}
}

func TestRecentKeepsOneHowLargeItMayBe(t *testing.T) {
	var r recent
	r.add(bus.Event{ID: "1", Detail: json.RawMessage(strings.Repeat("1", recentBytes+1))})
	if got := r.list(""); len(got) != 1 {
		t.Errorf("list() = %d events, want the one", len(got))
	}
}
