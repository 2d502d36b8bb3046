package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// TestClientOfTheTypeScriptPackage talks as a client of the TypeScript package does, knows only that package's answers, and
// compares with what that package sent for the same three turns. The recorded tool is called lookup; this stack's agent has
// none of that name, so the model calls get_current_time under the recorded call id, and the name alone is put back.
func TestClientOfTheTypeScriptPackage(t *testing.T) {
	t.Parallel()
	const id = "11111111-1111-4111-8111-111111111111"
	words := bedrock.Say("2see ", "66re ", "caqe ")
	script := &bedrock.Script{Replies: []bedrock.Reply{
		words, words, bedrock.Calling("tooluse_bench1", "get_current_time", `{}`), words,
	}}
	s := start(t, cloud.Options{Model: script})
	p := s.connect("ada", "")
	var got []any
	for _, said := range []string{"Hello", "And again: é 😀", "use the tool"} {
		p.say(id, said)
		for _, raw := range p.turn().messages {
			got = append(got, known(t, raw))
		}
	}
	if diff := cmp.Diff(joined(recorded(t)), joined(got)); diff != "" {
		t.Errorf("messages (-recorded +got):\n%s", diff)
	}
	if n := len(script.Requests()); n != 4 {
		t.Errorf("%d model requests, want 4", n)
	}
	s.rest(t)
}

func recorded(t *testing.T) []any {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "package_wire.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Messages []any }
	if err := json.Unmarshal(body, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Messages) == 0 {
		t.Fatal("nothing is recorded")
	}
	return file.Messages
}

// known is a message without the fields that a client of the TypeScript package does not know.
func known(t *testing.T, raw string) any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	fields := map[any][]string{"stream_event": {"type", "event"}, "complete": {"type", "session_id"}, "error": {"type", "error", "message"}}
	out := map[string]any{}
	for _, f := range fields[m["type"]] {
		if m[f] != nil {
			out[f] = m[f]
		}
	}
	if use, ok := piece(out, "current_tool_use").(map[string]any); ok && use["name"] == "get_current_time" {
		use["name"] = "lookup"
	}
	return out
}

// piece gives a field of a message's event.
func piece(m any, field string) any {
	event, _ := m.(map[string]any)["event"].(map[string]any)
	return event[field]
}

// joined puts adjacent pieces of text together.
func joined(messages []any) []any {
	var out []any
	for _, m := range messages {
		data, isText := piece(m, "data").(string)
		if isText && len(out) > 0 {
			if before, ok := piece(out[len(out)-1], "data").(string); ok {
				out[len(out)-1] = map[string]any{"type": "stream_event", "event": map[string]any{"data": before + data}}
				continue
			}
		}
		out = append(out, m)
	}
	return out
}
