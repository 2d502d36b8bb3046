package snapshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// tell gives messages as short lines.
func tell(messages []model.Message) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role)
		for _, b := range m.Content {
			switch {
			case b.ToolUse != nil:
				line += " call " + b.ToolUse.ID
			case b.ToolResult != nil:
				line += " result " + b.ToolResult.ID
			default:
				line += " " + strings.Join(strings.Fields(b.Text), " ")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// keeping keeps the results with these ids and the texts that begin with "keep".
func keeping(ids ...string) snapshot.Keeper {
	return func(messages []model.Message, _ int) (places []snapshot.Place) {
		for i, m := range messages {
			for j, b := range m.Content {
				if strings.HasPrefix(b.Text, "keep") || b.ToolResult != nil && strings.Contains(" "+strings.Join(ids, " ")+" ", " "+b.ToolResult.ID+" ") {
					places = append(places, snapshot.Place{Message: i, Block: j})
				}
			}
		}
		return places
	}
}

func TestP09Compact(t *testing.T) {
	both := []model.Message{{Role: model.User, Content: append(results("x").Content, results("c1").Content...)}}
	tests := []struct {
		name     string
		messages []model.Message
		bytes    int
		keep     snapshot.Keeper
		summary  string
		want     []string
	}{
		{"a chat", chat(6), 540, nil, " so far ", []string{
			"user <summary_of_earlier_messages> so far </summary_of_earlier_messages> q4", "assistant a4", "user q5", "assistant a5"}},
		{"a chat, nothing known", chat(6), 540, nil, "", []string{
			"user (earlier messages were left out) q4", "assistant a4", "user q5", "assistant a5"}},
		{"a long run of calls keeps its task", longTask(12), 1200, nil, "S", []string{
			"user <summary_of_earlier_messages> S </summary_of_earlier_messages> the task", "assistant call c10", "user result c10", "assistant call c11", "user result c11"}},
		{"what the user said in the middle of the run stays", append(append(longTask(2), said("quickly")...), longTask(14)[5:]...), 1200, nil, "S", []string{
			"user <summary_of_earlier_messages> S </summary_of_earlier_messages> the task quickly", "assistant call c12", "user result c12", "assistant call c13", "user result c13"}},
		{"a result that stays, with its call, not with the other one", append(append(append(append(said("hi"), calling("x", "c1")), both...), answered("ok")...), chat(6)...), 500, keeping("x"), "S", []string{
			"user <summary_of_earlier_messages> S </summary_of_earlier_messages>", "assistant call x", "user result x q5", "assistant a5"}},
		{"a text that stays", append(append(said("keep this"), answered("yes")...), chat(6)...), 500, keeping(), "S", []string{
			"user <summary_of_earlier_messages> S </summary_of_earlier_messages> keep this q4", "assistant a4", "user q5", "assistant a5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := snapshot.Compact(tt.messages, tt.bytes, tt.keep)
			if !ok {
				t.Fatalf("Compact of %d bytes to %d: nothing to do", snapshot.Size(tt.messages...), tt.bytes)
			}
			got := c.With(tt.summary)
			if diff := cmp.Diff(tt.want, tell(got)); diff != "" {
				t.Errorf("With (-want +got):\n%s", diff)
			}
			if !snapshot.Shortened(got) || snapshot.Shortened(tt.messages) {
				t.Error("it does not show that messages were left out, or did before")
			}
			if fixed, changed := snapshot.Repair(got); changed {
				t.Errorf("not sound: %v becomes %v", tell(got), tell(fixed))
			}
		})
	}
}

func TestCompactLeavesAloneWhatCannotGain(t *testing.T) {
	long := model.Text(model.User, strings.Repeat("long ", 1000))
	for name, messages := range map[string][]model.Message{
		"nothing": nil, "short enough": chat(2), "one question": {long}, "a question after little": append(chat(1), long), "kept": append(said("keep "+long.PlainText()), chat(1)...),
	} {
		if c, ok := snapshot.Compact(messages, 1000, keeping()); ok {
			t.Errorf("%s: Compact gives %v", name, tell(c.With("")))
		}
	}
}

// TestCompactCutsLongResults: where the newest messages alone are too long, results lose their middle, the oldest first.
func TestCompactCutsLongResults(t *testing.T) {
	whole := strings.Repeat("ä", 20_000) + "END"
	messages := longTask(3)
	for i, id := range []string{"c0", "c1", "c2"} {
		r := results(id)
		r.Content[0].ToolResult.Content[0] = []model.ResultPart{{Text: whole}, {JSON: json.RawMessage(`{"all":"` + whole + `"}`)}, {Text: "short"}}[i]
		messages[2*i+2] = r
	}
	messages = append(append(said("q"), calling("c0", "c1", "c2")), model.Message{Role: model.User, Content: []model.Block{messages[2].Content[0], messages[4].Content[0], messages[6].Content[0]}})
	before, _ := json.Marshal(messages)

	c, ok := snapshot.Compact(messages, 50_000, nil)
	if !ok || len(c.Dropped) != 0 {
		t.Fatalf("Compact = %v, dropped %v", ok, tell(c.Dropped))
	}
	got := c.With("")
	parts := got[2].Results()
	first, second := parts[0].Content[0].Text, string(parts[1].Content[0].JSON)
	if len(first) > 2100 || !strings.HasPrefix(first, "ä") || !strings.HasSuffix(first, "END") || !strings.Contains(first, "ä (...) ä") {
		t.Errorf("the first result is %q", first)
	}
	if !strings.Contains(second, whole) || parts[2].Content[0].Text != "short" {
		t.Error("results were cut that fit")
	}
	if size := snapshot.Size(got...); size > 50_000 {
		t.Errorf("%d bytes are left of %d", size, 50_000)
	}
	if after, _ := json.Marshal(messages); string(after) != string(before) {
		t.Error("the input was changed")
	}
	if c, ok = snapshot.Compact(messages, 10_000, keeping("c0")); ok && c.With("")[2].Results()[0].Content[0].Text != whole {
		t.Error("a result that stays was cut")
	}
}

// TestP09CompactedHistoriesAreSound: whatever there was, what is left is sound, holds what stays and the newest message, and is
// not made shorter again and again.
func TestP09CompactedHistoriesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		if rapid.Bool().Draw(t, "with a text that stays") {
			at := rapid.IntRange(0, len(history)).Draw(t, "at")
			history = append(history[:at:at], append(said("keep me"), history[at:]...)...)
		}
		bytes := rapid.IntRange(1, 3000).Draw(t, "bytes")
		keep := keeping("a", "b")
		whole, _ := snapshot.Repair(history)
		c, ok := snapshot.Compact(history, bytes, keep)
		if !ok {
			return
		}
		got := c.With("sum")
		if fixed, changed := snapshot.Repair(got); changed || len(fixed) != len(got) || got[0].Role != model.User {
			t.Fatalf("not sound: %v becomes %v", tell(got), tell(fixed))
		}
		if diff := cmp.Diff(staying(whole, keep), staying(got, keep), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("what stays (-before +after):\n%s", diff)
		}
		newest := func(messages []model.Message) string { l := tell(messages); return l[len(l)-1] }
		if was, is := newest(whole), newest(got); was != is && !strings.HasSuffix(is, strings.TrimPrefix(was, "user")) {
			t.Fatalf("the newest message was %q, is %q", was, is)
		}
		for n := 0; ok; n++ {
			if n == 10 {
				t.Fatalf("is made shorter without end: %v", tell(got))
			}
			if c, ok = snapshot.Compact(got, bytes, keep); ok {
				got = c.With("sum")
			}
		}
	})
}

// staying gives what keep names.
func staying(messages []model.Message, keep snapshot.Keeper) []string {
	var all []string
	for _, p := range keep(messages, 0) {
		all = append(all, fmt.Sprint(tell([]model.Message{{Role: model.User, Content: messages[p.Message].Content[p.Block : p.Block+1]}})))
	}
	return all
}

func TestTranscript(t *testing.T) {
	messages := append(append(longTask(1), answered("It is "+strings.Repeat("very ", 2000)+"big.")...), said("Thanks.")...)
	messages[2].Content[0].ToolResult.Content = append(messages[2].Content[0].ToolResult.Content,
		model.ResultPart{JSON: json.RawMessage(`{"n":1}`)}, model.ResultPart{Raw: json.RawMessage(`{"image":{}}`)})
	c, ok := snapshot.Compact(chat(6), 540, nil)
	if !ok {
		t.Fatal("nothing was dropped")
	}
	got := snapshot.Transcript(append(c.With("The user asked four questions."), messages...), 100_000)
	for _, want := range []string{
		"Before: The user asked four questions.", "User: q4", "Assistant: a4", "User: the task", "Call of lookup: {}",
		`Result (success): result of c0 {"n":1} (media)`, "Assistant: It is very", " (...) ", "big.\n\nUser: Thanks.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if len(got) > 6000 || strings.Contains(got, "summary_of") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if short := snapshot.Transcript(messages, 200); len(short) > 220 || !strings.HasPrefix(short, "User: the task") || !strings.HasSuffix(short, "Thanks.") {
		t.Errorf("of 200 bytes: %q", short)
	}
}
