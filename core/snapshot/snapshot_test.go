package snapshot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

func said(text string) []model.Message { return []model.Message{model.Text(model.User, text)} }

func answered(text string) []model.Message { return []model.Message{model.Text(model.Assistant, text)} }

func calling(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Content = append(m.Content, model.Block{ToolUse: &model.ToolUse{ID: id, Name: "lookup", Input: json.RawMessage(`{}`)}})
	}
	return m
}

func results(ids ...string) model.Message {
	m := model.Message{Role: model.User}
	for _, id := range ids {
		part := model.ResultPart{Text: "result of " + id}
		m.Content = append(m.Content, model.Block{ToolResult: &model.ToolResult{ID: id, Status: model.Success, Content: []model.ResultPart{part}}})
	}
	return m
}

func TestAssemble(t *testing.T) {
	segments := []snapshot.Segment{
		{ID: "1", Messages: said("a"), State: json.RawMessage(`{"n":9007199254740993}`)},
		{ID: "2", Base: "1", Messages: answered("b")},
		{ID: "3", Base: "2", Messages: said("c"), State: json.RawMessage(`{}`)},
		{ID: "3x", Base: "2", Messages: said("a stale owner's"), State: json.RawMessage(`{"stale":true}`)},
		{ID: "4", Base: "3", Full: true, Messages: said("summary"), State: json.RawMessage(`{"kept":[]}`)},
		{ID: "5", Base: "4", Messages: answered("d")},
		{ID: "7", Base: "6", Messages: said("its base was never written")},
		{ID: "8", Base: "9"}, {ID: "9", Base: "8"},
		{ID: "10", Base: "latest", Messages: answered("on from another writer")},
		{ID: "latest", Full: true, Messages: said("theirs")},
	}
	tests := []struct {
		tip, texts, state string
		segments          int
	}{
		{"", "", "", 0},
		{"1", "a", `{"n":9007199254740993}`, 1},
		{"2", "a b", `{"n":9007199254740993}`, 2},
		{"3", "a b c", `{}`, 3},
		{"4", "summary", `{"kept":[]}`, 1},
		{"5", "summary d", `{"kept":[]}`, 2},
		{"10", "theirs on from another writer", "", 2},
	}
	for _, tt := range tests {
		t.Run("tip "+tt.tip, func(t *testing.T) {
			h, err := snapshot.Assemble(segments, tt.tip)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(h.Messages); got != tt.texts || string(h.State) != tt.state || h.Segments != tt.segments || h.Tip != tt.tip {
				t.Errorf("Assemble = %q, state %s, %d segments, tip %s, want %q, %s, %d, %s", got, h.State, h.Segments, h.Tip, tt.texts, tt.state, tt.segments, tt.tip)
			}
			if want := snapshot.Size(h.Messages...) + len(h.State); h.Bytes != want {
				t.Errorf("Bytes = %d, want %d", h.Bytes, want)
			}
		})
	}
	for _, tt := range []struct{ tip, want string }{{"7", "segment 6 is missing"}, {"0", "segment 0 is missing"}, {"8", "its own base"}} {
		if _, err := snapshot.Assemble(segments, tt.tip); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Assemble(%s) = %v, want internal with %q", tt.tip, err, tt.want)
		}
	}
}

func texts(messages []model.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.PlainText())
	}
	return strings.Join(all, " ")
}

func TestAppendEqualsAssemble(t *testing.T) {
	segments := []snapshot.Segment{
		{ID: "1", Messages: said("a"), State: json.RawMessage(`{"a":1}`)},
		{ID: "2", Base: "1", Messages: answered("b")},
		{ID: "3", Base: "2", Full: true, Messages: said("c"), State: json.RawMessage(`{}`)},
		{ID: "4", Base: "3", Messages: answered("d")},
	}
	var h snapshot.History
	for _, s := range segments {
		next, err := h.Append(s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := snapshot.Assemble(segments, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, next, cmpopts.IgnoreFields(want, "Segments"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Append(%s) (-assembled +appended):\n%s", s.ID, diff)
		}
		h = next
	}
	if _, err := h.Append(snapshot.Segment{ID: "5", Base: "3"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("Append on another base = %v, want conflict", err)
	}
	h.Messages = slices.Grow(h.Messages, 10)
	left, _ := h.Append(snapshot.Segment{ID: "5", Base: "4", Messages: said("left")})
	_, _ = h.Append(snapshot.Segment{ID: "5", Base: "4", Messages: said("right")})
	if got := texts(left.Messages); got != "c d left" {
		t.Errorf("history after a second append to the same one = %q, want it untouched", got)
	}
}

func TestP24SegmentsKeepWhatTheyWereGiven(t *testing.T) {
	state := `{"l":[],"o":{},"s":"","z":null,"n":9007199254740993,"f":0.1,"e":1e400,"nested":{"a":[{},[]]},"state":1,"ttl":"<&>"}`
	in := snapshot.Segment{ID: "2", Base: "1", Full: true, State: json.RawMessage(state), Messages: []model.Message{
		{Role: model.Assistant, Content: []model.Block{
			{ToolUse: &model.ToolUse{ID: "a", Name: "x", Input: json.RawMessage(state)}},
			{Reasoning: &model.Reasoning{Redacted: []byte{0, 255}}},
			{Raw: json.RawMessage(`{"image":{"bytes":"AA=="}}`)},
		}},
		{Role: model.User, Content: []model.Block{}},
	}}
	data, err := snapshot.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := snapshot.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("Decode(Encode(s)) (-in +out):\n%s", diff)
	}
	if data, err = snapshot.Encode(snapshot.Segment{ID: "1"}); err != nil || string(data) != `{"id":"1","messages":[]}` {
		t.Errorf("Encode of no messages = %s, %v", data, err)
	}
	if _, err := snapshot.Decode([]byte(`{"messages":7}`)); !fault.Is(err, fault.Internal) {
		t.Errorf("Decode of nonsense = %v, want internal", err)
	}
	if _, err := snapshot.Encode(snapshot.Segment{State: json.RawMessage(`{`)}); !fault.Is(err, fault.Internal) {
		t.Errorf("Encode of a cut state = %v, want internal", err)
	}
}

func TestP01ARestoredHistoryIsRepairedOnce(t *testing.T) {
	h, err := snapshot.Assemble([]snapshot.Segment{
		{ID: "1", Messages: said("hi")},
		{ID: "2", Base: "1", Messages: []model.Message{calling("a", "b")}},
	}, "2")
	if err != nil {
		t.Fatal(err)
	}
	fixed, changed := snapshot.Repair(h.Messages)
	last := fixed[len(fixed)-1]
	if !changed || len(last.Results()) != 2 || last.Results()[1].Status != model.Failure {
		t.Fatalf("Repair = %v, changed %v, want error results for both calls", fixed, changed)
	}
	saved, err := h.Append(snapshot.Segment{ID: "3", Base: "2", Full: true, Messages: fixed})
	if err != nil {
		t.Fatal(err)
	}
	next, err := saved.Append(snapshot.Segment{ID: "4", Base: "3", Messages: said("are you there?")})
	if err != nil {
		t.Fatal(err)
	}
	request, changed := snapshot.Repair(next.Messages)
	if changed {
		t.Error("the second restore changed the history again")
	}
	if last := request[len(request)-1]; len(request) != 3 || len(last.Results()) != 2 || last.PlainText() != "are you there?" {
		t.Errorf("messages of the next turn = %v, want the new text beside the results", request)
	}
}

func TestSizeIsNearTheJSON(t *testing.T) {
	messages := []model.Message{
		model.Text(model.User, strings.Repeat("word ", 100)), calling("a", "b"), results("a", "b"),
		{Role: model.Assistant, Content: []model.Block{
			{Reasoning: &model.Reasoning{Text: "hm", Signature: "sig"}}, {Reasoning: &model.Reasoning{Redacted: make([]byte, 300)}},
			{Raw: json.RawMessage(`{"image":{}}`)}, {CachePoint: true},
		}, Extra: map[string]json.RawMessage{"trackingId": json.RawMessage(`"x"`)}},
	}
	for i, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshot.Size(m); got < len(data)-40 || got > len(data)+80 {
			t.Errorf("Size of message %d = %d, its JSON has %d bytes", i, got, len(data))
		}
	}
	if got := testing.AllocsPerRun(10, func() { snapshot.Size(messages...) }); got != 0 {
		t.Errorf("Size allocates %v times, want 0", got)
	}
}
