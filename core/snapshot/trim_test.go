package snapshot_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// longTask is one prompt and n calls with their results.
func longTask(n int) []model.Message {
	messages := said("the task")
	for i := range n {
		id := fmt.Sprint("c", i)
		messages = append(messages, calling(id), results(id))
	}
	return messages
}

func chat(n int) []model.Message {
	var messages []model.Message
	for i := range n {
		messages = append(messages, said(fmt.Sprint("q", i))...)
		messages = append(messages, answered(fmt.Sprint("a", i))...)
	}
	return messages
}

func TestP09Trim(t *testing.T) {
	note := model.Text(model.User, "(earlier messages were left out)")
	task := longTask(30)
	tests := []struct {
		name     string
		messages []model.Message
		limits   snapshot.Limits
		want     []model.Message
	}{
		{"nothing", nil, snapshot.Limits{Messages: 1}, nil},
		{"no limits", chat(3), snapshot.Limits{}, chat(3)},
		{"within the limit", chat(3), snapshot.Limits{Messages: 6}, chat(3)},
		{"odd window over a chat", chat(4), snapshot.Limits{Messages: 5}, chat(4)[4:]},
		{"even window over a chat", chat(4), snapshot.Limits{Messages: 6}, chat(4)[2:]},
		{"the newest exchange stays", chat(4), snapshot.Limits{Messages: 1}, chat(4)[6:]},
		{"a long run of calls", task, snapshot.Limits{Messages: 10}, append([]model.Message{note}, task[53:]...)},
		{"a long run of calls, prompt kept", task, snapshot.Limits{Messages: 10, KeepPrompt: true}, append(said("the task"), task[53:]...)},
		{"prompt kept in a chat", chat(4), snapshot.Limits{Messages: 4, KeepPrompt: true}, append(said("q0"), chat(4)[5:]...)},
		{"prompt alone", said("the task"), snapshot.Limits{Bytes: 1, KeepPrompt: true}, said("the task")},
		{"prompt and the newest call", task, snapshot.Limits{Bytes: 1, KeepPrompt: true}, append(said("the task"), task[59:]...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := snapshot.Trim(tt.messages, tt.limits)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Trim (-want +got):\n%s", diff)
			}
		})
	}
	bytes := snapshot.Size(task...) / 3
	if got := snapshot.Size(snapshot.Trim(task, snapshot.Limits{Bytes: bytes, KeepPrompt: true})...); got > bytes || got < bytes/2 {
		t.Errorf("Trim to %d bytes left %d", bytes, got)
	}
}

func TestCutGivesWhatIsLeftOut(t *testing.T) {
	task := longTask(30)
	for _, keep := range []bool{false, true} {
		dropped, kept := snapshot.Cut(task, snapshot.Limits{Messages: 11, KeepPrompt: keep})
		want := task[:51]
		if keep {
			want = task[1:51]
		}
		if diff := cmp.Diff(want, dropped); diff != "" {
			t.Errorf("KeepPrompt %v: dropped (-want +got):\n%s", keep, diff)
		}
		if diff := cmp.Diff(task[51:], kept[1:]); diff != "" {
			t.Errorf("KeepPrompt %v: kept (-want +got):\n%s", keep, diff)
		}
	}
}

// anyHistory draws chats with calls, some of it broken as by careless writers.
func anyHistory() *rapid.Generator[[]model.Message] {
	block := rapid.Custom(func(t *rapid.T) model.Block {
		id := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "id")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return calling(id).Content[0]
		case 1:
			return results(id).Content[0]
		case 2:
			return model.Block{Raw: json.RawMessage(`{"image":{}}`)}
		}
		return model.Block{Text: rapid.SampledFrom([]string{"", " ", "words", "many words that take some room"}).Draw(t, "text")}
	})
	wild := rapid.Custom(func(t *rapid.T) []model.Message {
		role := rapid.SampledFrom([]model.Role{model.User, model.Assistant, ""}).Draw(t, "role")
		return []model.Message{{Role: role, Content: rapid.SliceOfN(block, 0, 3).Draw(t, "content")}}
	})
	sound := rapid.SampledFrom([][]model.Message{
		chat(1), chat(2), longTask(1), longTask(5)[1:], said("again"), {calling("a", "b"), results("b", "a")}, {calling("x")},
	})
	return rapid.Custom(func(t *rapid.T) []model.Message {
		var all []model.Message
		for _, piece := range rapid.SliceOfN(rapid.OneOf(wild, sound, sound), 0, 20).Draw(t, "pieces") {
			all = append(all, piece...)
		}
		return all
	})
}

func TestP09TrimmedHistoriesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		limits := snapshot.Limits{
			Messages: rapid.IntRange(0, 30).Draw(t, "messages"), Bytes: rapid.IntRange(0, 2000).Draw(t, "bytes"),
			KeepPrompt: rapid.Bool().Draw(t, "keep"),
		}
		whole, _ := snapshot.Repair(history)
		dropped, kept := snapshot.Cut(history, limits)

		if again, changed := snapshot.Repair(kept); changed || len(again) != len(kept) {
			t.Fatalf("a trimmed history is not sound: %v becomes %v", kept, again)
		}
		if len(history) > 0 && (len(kept) == 0 || kept[0].Role != model.User) {
			t.Fatalf("trimmed to %v, want the user first", kept)
		}
		if limits.KeepPrompt && len(whole) > 0 && cmp.Diff(whole[0], kept[0], cmpopts.EquateEmpty()) != "" {
			t.Fatalf("the prompt %v became %v", whole[0], kept[0])
		}
		if len(dropped) == 0 && len(kept) != len(whole) {
			t.Fatalf("%d of %d messages kept, none dropped", len(kept), len(whole))
		}
		if len(kept) > 0 && cmp.Diff(whole[len(whole)-1], kept[len(kept)-1], cmpopts.EquateEmpty()) != "" {
			t.Fatalf("the newest message %v became %v", whole[len(whole)-1], kept[len(kept)-1])
		}
		wantWithin(t, kept, limits)
		if diff := cmp.Diff(kept, snapshot.Trim(kept, limits), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Trim is not idempotent (-once +twice):\n%s", diff)
		}
	})
}

// wantWithin wants kept within limits, or nothing in it that could be dropped: after its first message no second place to start.
func wantWithin(t *rapid.T, kept []model.Message, limits snapshot.Limits) {
	if (limits.Messages == 0 || len(kept) <= limits.Messages) && (limits.Bytes == 0 || snapshot.Size(kept...) <= limits.Bytes) {
		return
	}
	places := 0
	for _, m := range kept[min(1, len(kept)):] {
		switch {
		case m.Role == model.Assistant && (limits.KeepPrompt || len(m.Calls()) > 0), m.Role == model.User && !limits.KeepPrompt && len(m.Results()) == 0:
			places++
		}
	}
	startsInRun := len(kept) > 1 && (limits.KeepPrompt || len(kept[1].Calls()) > 0)
	if places > 1 || places == 1 && !startsInRun {
		t.Fatalf("%d messages of %d bytes are over %+v, and could start later: %v", len(kept), snapshot.Size(kept...), limits, kept)
	}
}
