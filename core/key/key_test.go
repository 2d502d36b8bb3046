package key_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/key"
)

func TestEveryKey(t *testing.T) {
	tests := []struct {
		key    key.Key
		pk, sk string
		row    key.Row
	}{
		{key.Config("s"), "SESSION#s", "CONFIG", key.Row{Kind: "config", Parts: []string{"s"}}},
		{key.State("s"), "SESSION#s", "STATE", key.Row{Kind: "state", Parts: []string{"s"}}},
		{key.Snapshot("s", "x"), "SESSION#s", "SNAPSHOT#agent#agent#x", key.Row{Kind: "snapshot", Parts: []string{"s", "x"}}},
		{key.Latest("s"), "SESSION#s", "LATEST#agent#agent", key.Row{Kind: "latest", Parts: []string{"s"}}},
		{key.Manifest("s"), "SESSION#s", "MANIFEST#agent#agent", key.Row{Kind: "manifest", Parts: []string{"s"}}},
		{key.Event("s", 7), "SESSION#s", "EVENT#000000000007", key.Row{Kind: "event", Parts: []string{"s", "7"}}},
		{key.Inbox("s", 12), "SESSION#s", "INBOX#000000000012", key.Row{Kind: "inbox", Parts: []string{"s", "12"}}},
		{key.Delivery("s", "d#1"), "SESSION#s", "DELIVERY#d#1", key.Row{Kind: "delivery", Parts: []string{"s", "d#1"}}},
		{key.Subscriber("s", "c="), "SESSION#s", "SUB#c=", key.Row{Kind: "subscriber", Parts: []string{"s", "c="}}},
		{key.Approval("s", "a"), "SESSION#s", "APPROVAL#a", key.Row{Kind: "approval", Parts: []string{"s", "a"}}},
		{key.File("s", "a/b.txt"), "SESSION#s", "FILE#a/b.txt", key.Row{Kind: "file", Parts: []string{"s", "a/b.txt"}}},
		{key.SessionReminder("s", "r"), "SESSION#s", "REMINDER#r", key.Row{Kind: "session reminder", Parts: []string{"s", "r"}}},
		{key.Connection("c"), "CONNECTION#c", "CONNECTION", key.Row{Kind: "connection", Parts: []string{"c"}}},
		{key.Continuation("gh", "pr:1"), "CONTINUATION#gh#" + key.Hash("pr:1"), "SESSION", key.Row{Kind: "continuation", Parts: []string{"gh", key.Hash("pr:1")}}},
		{key.Listing("user", "u", 5, "s"), "PRINCIPAL#user#u", "SESSION#0000000000005#s", key.Row{Kind: "listing", Parts: []string{"user", "u", "5", "s"}}},
		{key.Skill("user", "u", "demo", "ab"), "PRINCIPAL#user#u", "SKILL#demo#ab", key.Row{Kind: "skill", Parts: []string{"user", "u", "demo", "ab"}}},
		{key.Skills("user", "u"), "PRINCIPAL#user#u", "SKILLS", key.Row{Kind: "skills", Parts: []string{"user", "u"}}},
		{key.SessionSkills("s"), "SESSION#s", "SKILLS", key.Row{Kind: "session skills", Parts: []string{"s"}}},
		{key.Memory("user", "u", "m"), "PRINCIPAL#user#u", "MEMORY#m", key.Row{Kind: "memory", Parts: []string{"user", "u", "m"}}},
		{key.Task("t"), "TASK#t", "STATUS", key.Row{Kind: "task", Parts: []string{"t"}}},
		{key.Dispatch("t"), "TASK#t", "DISPATCH", key.Row{Kind: "dispatch", Parts: []string{"t"}}},
		{key.AgentState("a", "agenda", ""), "AGENT#a", "STATE#agenda", key.Row{Kind: "agent state", Parts: []string{"a", "agenda", ""}}},
		{key.AgentState("a", "agenda", "x#y"), "AGENT#a", "STATE#agenda#x#y", key.Row{Kind: "agent state", Parts: []string{"a", "agenda", "x#y"}}},
		{key.Gate("", "a#k"), "TRIGGER#a#k", "GATE", key.Row{Kind: "gate", Parts: []string{"a#k"}}},
		{key.Gate("p", "a"), "TRIGGER#p#a", "GATE", key.Row{Kind: "gate", Parts: []string{"p#a"}}},
		{key.Pause("reviewer"), "AGENCY#reviewer", "PAUSE", key.Row{Kind: "pause", Parts: []string{"reviewer"}}},
		{key.Reminder("r"), "REMINDER#r", "REMINDER", key.Row{Kind: "reminder", Parts: []string{"r"}}},
		{key.ReminderFiring("r", 9), "REMINDER#r", "FIRED#0000000000009", key.Row{Kind: "reminder firing", Parts: []string{"r", "9"}}},
		{key.Firing("f", 0), "SCHEDULE#f", "FIRED#0000000000000", key.Row{Kind: "firing", Parts: []string{"f", "0"}}},
		{key.Budget("stack"), "BUDGET#stack", "BUDGET", key.Row{Kind: "budget", Parts: []string{"stack"}}},
		{key.BudgetWindow("stack", 3), "BUDGET#stack", "WINDOW#0000000000003", key.Row{Kind: "budget window", Parts: []string{"stack", "3"}}},
		{key.BudgetHold("stack", "c1"), "BUDGET#stack", "HOLD#c1", key.Row{Kind: "budget hold", Parts: []string{"stack", "c1"}}},
		{key.Slot("stack", 2), "SLOT#stack", "SLOT#000000000002", key.Row{Kind: "slot", Parts: []string{"stack", "2"}}},
		{key.Waiter("principal#user#u", 5, "s"), "SLOT#principal#user#u", "WAIT#0000000000005#s", key.Row{Kind: "waiter", Parts: []string{"principal#user#u", "5", "s"}}},
		{key.Part(key.Task("t"), 1), "TASK#t", "PART#STATUS#00000001", key.Row{Kind: "part", Parts: []string{"TASK#t", "STATUS", "1"}}},
		{key.Asked("a#b"), "SCHEDULED#" + key.Hash("a#b"), "ASKED", key.Row{Kind: "asked", Parts: []string{key.Hash("a#b")}}},
		{key.Detail("d"), "DETAIL#d", "DETAIL", key.Row{Kind: "detail", Parts: []string{"d"}}},
	}
	for _, tt := range tests {
		t.Run(tt.row.Kind, func(t *testing.T) {
			if diff := cmp.Diff(key.Key{PK: tt.pk, SK: tt.sk}, tt.key); diff != "" {
				t.Errorf("key (-want +got):\n%s", diff)
			}
			row, ok := key.Parse(tt.key)
			if diff := cmp.Diff(tt.row, row); diff != "" || !ok {
				t.Errorf("Parse = %v, %v (-want +got):\n%s", row, ok, diff)
			}
		})
	}
}

func TestParseRefusesWhatNoBuilderMakes(t *testing.T) {
	for _, k := range []key.Key{{}, {"SESSION", "CONFIG"}, {"TASK#t", "X"}, {"SESSION#s", "INBOX#x"}, {"PRINCIPAL#user", "SESSION#1#s"}, {"X#y", "STATUS"}} {
		if row, ok := key.Parse(k); ok {
			t.Errorf("Parse(%v) = %v, want none", k, row)
		}
	}
}

func TestDueSpreadsOverShards(t *testing.T) {
	seen := map[string]bool{}
	for i := range 1000 {
		seen[key.DuePK(key.SessionPK(fmt.Sprint(i)))] = true
	}
	if len(seen) != key.DueShards {
		t.Errorf("1000 sessions fall into %d shards, want %d", len(seen), key.DueShards)
	}
	if a, b := key.DueSK(999), key.DueSK(1_000_000_000_000); !(a < b) || len(a) != 13 || len(b) != 13 {
		t.Errorf("DueSK does not sort: %q, %q", a, b)
	}
}

// No id reaches another row: what is built parses back to the same kind and the same id.
func FuzzIDsStayInTheirRow(f *testing.F) {
	for _, id := range []string{"a", "a#b", "#", "PART#x#0001", "STATE", "SESSION#x", "é😀", "task-1", strings.Repeat("x", 256)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" {
			t.Skip()
		}
		builders := map[string]key.Key{
			"config": key.Config(id), "state": key.State(id), "latest": key.Latest(id), "task": key.Task(id), "dispatch": key.Dispatch(id),
			"connection": key.Connection(id), "reminder": key.Reminder(id), "detail": key.Detail(id), "pause": key.Pause(id), "gate": key.Gate("", id),
		}
		for kind, k := range builders {
			row, ok := key.Parse(k)
			if !ok || row.Kind != kind || row.Parts[0] != id {
				t.Errorf("Parse(%q) = %v, %v, want %s %q", k, row, ok, kind, id)
			}
		}
		second := map[string]key.Key{
			"snapshot": key.Snapshot("s", id), "delivery": key.Delivery("s", id), "subscriber": key.Subscriber("s", id),
			"approval": key.Approval("s", id), "file": key.File("s", id), "session reminder": key.SessionReminder("s", id),
		}
		for kind, k := range second {
			row, ok := key.Parse(k)
			if !ok || row.Kind != kind || row.Parts[0] != "s" || row.Parts[1] != id {
				t.Errorf("Parse(%q) = %v, %v, want %s %q", k, row, ok, kind, id)
			}
		}
		row, ok := key.Parse(key.Listing("user", id, 1, id))
		if !ok || row.Kind != "listing" || row.Parts[1] != id || row.Parts[3] != id {
			t.Errorf("Parse(listing %q) = %v, %v", id, row, ok)
		}
	})
}
