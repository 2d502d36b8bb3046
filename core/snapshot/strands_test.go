package snapshot_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// meaning reads JSON with every digit.
func meaning(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func theirs(t *testing.T) ([]byte, snapshot.Strands) {
	t.Helper()
	data, err := os.ReadFile("testdata/strands.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.DecodeStrands(data)
	if err != nil {
		t.Fatal(err)
	}
	return data, s
}

func TestStrandsRoundTrip(t *testing.T) {
	data, s := theirs(t)
	if len(s.Messages) != 8 || s.SystemPrompt != "You are a helpful assistant." || s.Messages[5].Calls()[0].ID != "tooluse_bench1" {
		t.Fatalf("DecodeStrands = %+v", s)
	}
	if want := time.Date(2026, 11, 30, 12, 31, 18, 371e6, time.UTC); !s.CreatedAt.Equal(want) {
		t.Errorf("CreatedAt = %v, want %v", s.CreatedAt, want)
	}
	again, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(meaning(t, data), meaning(t, again)); diff != "" {
		t.Errorf("Encode(DecodeStrands(theirs)) (-theirs +ours):\n%s", diff)
	}
}

func TestAConversationMovesBothWays(t *testing.T) {
	_, s := theirs(t)
	h, err := snapshot.Assemble([]snapshot.Segment{
		s.Segment("latest"), {ID: "2", Base: "latest", Messages: said("and now?")}, {ID: "3", Base: "2", Messages: said("quick")},
		{ID: "4", Base: "3", Messages: answered("done"), State: json.RawMessage(`{"n":9007199254740993,"l":[],"e":1e400}`)},
	}, "4")
	if err != nil {
		t.Fatal(err)
	}
	if fixed, changed := snapshot.Repair(h.Messages); changed {
		t.Errorf("their history needed a repair: %v", fixed)
	}
	data, err := snapshot.Strands{
		Messages: h.Messages, State: h.State, SystemPrompt: "Be <brief>.", CreatedAt: time.Date(2026, 12, 1, 9, 0, 0, 5e6, time.FixedZone("", 3600)),
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := snapshot.DecodeStrands(data)
	if err != nil {
		t.Fatal(err)
	}
	if back.SystemPrompt != "Be <brief>." || !strings.Contains(string(data), `"createdAt":"2026-12-01T08:00:00.005Z"`) {
		t.Errorf("their snapshot of ours = %s", data)
	}
	if diff := cmp.Diff(meaning(t, []byte(`{"n":9007199254740993,"l":[],"e":1e400}`)), meaning(t, back.State)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got := len(back.Messages); got != 10 || back.Messages[8].PlainText() != "and now?quick" {
		t.Errorf("%d messages, the ninth %q: want 10, the two questions in one message", got, back.Messages[8].PlainText())
	}
	before, _ := json.Marshal(s.Messages)
	after, _ := json.Marshal(back.Messages[:8])
	if diff := cmp.Diff(meaning(t, before), meaning(t, after)); diff != "" {
		t.Errorf("their messages (-before +after):\n%s", diff)
	}
}

func TestDecodeStrandsIsTolerant(t *testing.T) {
	tests := []struct {
		name, data string
		want       snapshot.Strands
	}{
		{"empty", `{}`, snapshot.Strands{}},
		{"nulls", `{"data":{"messages":null,"state":null,"systemPrompt":null},"appData":null,"createdAt":"yesterday"}`, snapshot.Strands{}},
		{"unknown fields", `{"schemaVersion":"1.4","new":1,"data":{"new":[],"messages":[]},"appData":{"a":1}}`,
			snapshot.Strands{Messages: []model.Message{}, AppData: json.RawMessage(`{"a":1}`)}},
		{"a prompt of blocks", `{"data":{"systemPrompt":[{"text":"a"},{"cachePoint":{}},{"text":"b"}]}}`, snapshot.Strands{SystemPrompt: "ab"}},
		{"a prompt of another kind", `{"data":{"systemPrompt":7}}`, snapshot.Strands{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := snapshot.DecodeStrands([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("DecodeStrands (-want +got):\n%s", diff)
			}
		})
	}
	for _, data := range []string{``, `[]`, `{"schemaVersion":"2.0"}`, `{"data":{"messages":[7]}}`} {
		if _, err := snapshot.DecodeStrands([]byte(data)); !fault.Is(err, fault.Internal) {
			t.Errorf("DecodeStrands(%s) = %v, want internal", data, err)
		}
	}
}

func TestStrandsRefuseWhatItCannotHold(t *testing.T) {
	for _, state := range []string{`[]`, `7`, `null`, `{"a":`} {
		if _, err := (snapshot.Strands{State: json.RawMessage(state)}).Encode(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "state") {
			t.Errorf("Encode with state %s = %v, want invalid, naming state", state, err)
		}
	}
	if _, err := (snapshot.Strands{AppData: json.RawMessage(`[]`)}).Encode(); !fault.Is(err, fault.Invalid) {
		t.Errorf("Encode with a list as appData = %v, want invalid", err)
	}
}

func FuzzDecodeStrands(f *testing.F) {
	data, err := os.ReadFile("testdata/strands.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"data":{"messages":[{"content":"x"},{"role":"assistant","content":[{"toolUse":{}}]}],"state":{"a":1e400}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := snapshot.DecodeStrands(data)
		if err != nil {
			return
		}
		again, err := s.Encode()
		if fault.Is(err, fault.Invalid) {
			return
		}
		if err != nil {
			t.Fatalf("Encode(DecodeStrands(%s)) = %v", data, err)
		}
		back, err := snapshot.DecodeStrands(again)
		if err != nil {
			t.Fatalf("what Encode wrote cannot be read: %s: %v", again, err)
		}
		if _, changed := snapshot.Repair(back.Messages); changed {
			t.Fatalf("what Encode wrote is not sound: %s", again)
		}
	})
}
