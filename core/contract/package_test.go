package contract_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// What the TypeScript package sends over the WebSocket is read, and written again without a change.
func TestSocketMessagesOfThePackage(t *testing.T) {
	data, err := os.ReadFile("testdata/package_wire.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil || len(file.Messages) == 0 {
		t.Fatalf("%d messages, %v", len(file.Messages), err)
	}
	for _, want := range file.Messages {
		var m contract.ServerMessage
		if err := json.Unmarshal(want, &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(meaning(t, want), meaning(t, encode(t, m))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func meaning(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
