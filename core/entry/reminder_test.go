package entry_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	rules "github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestReminder: the sample is understood; by hand the next firing comes, and a refusal is an answer.
func TestReminder(t *testing.T) {
	s := stage.New(&fake.Model{})
	row, err := schedule.Remind("rem_0c3b5a7d-2e4f-4a6b-8c9d-1e3f5a7b9c0d", "s", stage.User, contract.NewReminder{Purpose: "p", Every: "1h", Prompt: "x"}, s.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	err = s.Edges.Table.Commit(ctx, store.NewState(rules.New("s", rules.Chat, stage.User, s.Clock.Now())))
	if err == nil {
		err = s.Edges.Table.Commit(ctx, store.NewReminder(row)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	var e contract.RawEvent
	sample(t, "fire-reminder", &e, "version", "account", "region", "resources")
	fire := s.FireReminder()
	fire.Off = true
	told := func(outcome string, sessions ...string) contract.ReminderFired {
		return contract.ReminderFired{ReminderID: row.ReminderID, Outcome: outcome, SessionIDs: append([]string{}, sessions...)}
	}
	gone := contract.ReminderFired{ReminderID: "rem_none", SessionIDs: []string{}, Error: "no such reminder", Code: "not_found"}
	tests := []struct {
		name, detail string
		want         contract.ReminderFired
	}{
		{"by the clock, which is off", string(e.Detail), told("off")},
		{"by hand, another time", `{"reminderId":"` + row.ReminderID + `","at":"2026-01-05T09:00:00.000Z","manual":true}`, told("stale")},
		{"by hand, the next", `{"reminderId":"` + row.ReminderID + `","manual":true}`, told("fired", "s")},
		{"by hand, none", `{"reminderId":"rem_none","manual":true}`, gone},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			e.Detail = json.RawMessage(tc.detail)
			got, err := entry.Reminder(newRig().Log, fire)(ctx, e)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v, answer (-want +got):\n%s", err, diff)
			}
		})
	}
	e.Detail = json.RawMessage(`[]`)
	if _, err := entry.Reminder(newRig().Log, fire)(ctx, e); !fault.Is(err, fault.Invalid) {
		t.Errorf("no detail = %v", err)
	}
}
