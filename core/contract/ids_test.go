package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func TestCheckID(t *testing.T) {
	tests := []struct {
		name, id      string
		want, session string // texts of the faults of CheckID and CheckSessionID
	}{
		{"uuid", "11111111-1111-4111-8111-111111111111", "", ""},
		{"one character", "a", "", ""},
		{"separators, blanks, accents, emoji", "a#b/c:d é 😀", "", ""},
		{"at the limit", strings.Repeat("é", 128), "", ""},
		{"over the limit, counted in bytes", strings.Repeat("é", 128) + "x", "id: 257 bytes, the limit is 256", "id: 257 bytes, the limit is 256"},
		{"empty", "", "id: must not be empty", "id: must not be empty"},
		{"newline", "a\nb", "id: must not contain control characters", "id: must not contain control characters"},
		{"nul", "\x00", "id: must not contain control characters", "id: must not contain control characters"},
		{"delete", "a\x7f", "id: must not contain control characters", "id: must not contain control characters"},
		{"a C1 control", "a\u0085", "id: must not contain control characters", "id: must not contain control characters"},
		{"no UTF-8", "a\xff", "id: must be valid UTF-8", "id: must be valid UTF-8"},
		{"a task's", "task-1", "", `id: must not start with "task-", which is kept for tasks`},
		{"almost a task's", "tasks-1", "", ""},
		{"the prefix inside", "x-task-1", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{invalid(t, contract.CheckID("id", tt.id)), invalid(t, contract.CheckSessionID("id", tt.id))}
			if diff := cmp.Diff([]string{tt.want, tt.session}, got); diff != "" {
				t.Errorf("CheckID, CheckSessionID (-want +got):\n%s", diff)
			}
		})
	}
}

// invalid gives the text of an Invalid, "" for no error.
func invalid(t *testing.T, err error) string {
	if err == nil {
		return ""
	}
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%v is %s, want Invalid", err, fault.CodeOf(err))
	}
	return err.Error()
}

func TestInstant(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	tests := []struct {
		name string
		at   time.Time
		want contract.Instant
	}{
		{"milliseconds always show", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "2026-01-01T00:00:00.000Z"},
		{"in UTC", time.Date(2026, 1, 1, 0, 30, 0, 0, berlin), "2025-12-31T23:30:00.000Z"},
		{"cut, not rounded", time.Date(2026, 1, 1, 0, 0, 0, 999_999_999, time.UTC), "2026-01-01T00:00:00.999Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := contract.At(tt.at)
			back, err := got.Time()
			if got != tt.want || err != nil || !back.Equal(tt.at.Truncate(time.Millisecond)) {
				t.Errorf("At = %s, read back as %v, %v; want %s", got, back, err, tt.want)
			}
		})
	}
}

func TestInstantsOfOthers(t *testing.T) {
	tests := []struct {
		text contract.Instant
		want int64 // ms; 0: refused
	}{
		{"2026-01-01T01:00:00+01:00", 1_767_225_600_000},
		{"2026-01-01T00:00:00Z", 1_767_225_600_000},
		{"2026-01-01T00:00:00.123456Z", 1_767_225_600_123},
		{"2026-01-01", 0},
		{"soon", 0},
		{"", 0},
	}
	for _, tt := range tests {
		at, err := tt.text.Time()
		if (err == nil) != (tt.want != 0) || err == nil && at.UnixMilli() != tt.want {
			t.Errorf("Time(%q) = %v, %v; want %d ms", tt.text, at, err, tt.want)
		}
		if data, _ := json.Marshal(tt.text); string(data) != `"`+string(tt.text)+`"` {
			t.Errorf("%q is encoded as %s, want it kept", tt.text, data)
		}
	}
}

func TestEnvelope(t *testing.T) {
	data := `{"version":"0","id":"e-1","detail-type":"Run Agent Turn","source":"readysetcloud.agent","account":"1","time":"2026-01-01T00:00:00Z",
		"region":"us-east-1","resources":[],"detail":{"sessionId":"s-1","later":true}}`
	var got contract.BusEvent[contract.RunTurn]
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	want := contract.BusEvent[contract.RunTurn]{ID: "e-1", Source: contract.Source, DetailType: contract.RunAgentTurn,
		Time: time.UnixMilli(1_767_225_600_000).UTC(), Detail: contract.RunTurn{SessionID: "s-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func Example() {
	body, _ := json.Marshal(contract.TurnStarted{TaskID: "t-1"})
	line, _ := json.Marshal(contract.SessionEvent{
		Type: contract.TurnStarted{}.EventType(), Index: 1, SessionID: "s-1", TurnID: "turn_1", At: contract.At(time.Unix(1_767_225_600, 0)), Data: body,
	})
	fmt.Println(string(line))
	fmt.Println(contract.CheckSessionID("sessionId", "task-7"))
	// Output:
	// {"type":"turn.started","index":1,"sessionId":"s-1","turnId":"turn_1","at":"2026-01-01T00:00:00.000Z","data":{"taskId":"t-1"}}
	// sessionId: must not start with "task-", which is kept for tasks
}
