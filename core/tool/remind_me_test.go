package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// calendar notes what it is asked.
type calendar struct {
	created []schedule.NewReminder
	asked   []schedule.ReminderFilter
	refuse  error
}

func (c *calendar) Create(_ context.Context, n schedule.NewReminder) (contract.Reminder, error) {
	c.created = append(c.created, n)
	return contract.Reminder{ReminderID: "rem_1", NextFireAt: "2026-01-01T00:20:00.000Z", Purpose: n.Purpose}, c.refuse
}

func (c *calendar) List(_ context.Context, f schedule.ReminderFilter) ([]contract.Reminder, error) {
	c.asked = append(c.asked, f)
	return nil, c.refuse
}

func (c *calendar) Cancel(_ context.Context, f schedule.ReminderFilter) (int, error) {
	c.asked = append(c.asked, f)
	return 2, c.refuse
}

func TestRemindMe(t *testing.T) {
	tests := []struct {
		name, input, want string
		refuse            error
		off               bool
	}{
		{name: "create", input: `{"delay":"20m","prompt":"Stretch."}`, want: `{"reminderId":"rem_1","nextFireAt":"2026-01-01T00:20:00.000Z"}`},
		{name: "list", input: `{"action":"list"}`, want: `{"reminders":[]}`},
		{name: "cancel one", input: `{"action":"cancel","reminderId":"rem_1"}`, want: `{"cancelled":2}`},
		{name: "cancel what?", input: `{"action":"cancel"}`, want: "cancel: reminderId or purpose is due"},
		{name: "an action of its own", input: `{"action":"snooze"}`, want: `the input does not fit the tool remind_me: /properties/action: enum: snooze does not equal any of: [create list cancel]`},
		{name: "refused", input: `{"delay":"20m","prompt":"x"}`, refuse: fault.New(fault.Conflict, "a task session cannot receive follow-ups"), want: "a task session cannot receive follow-ups"},
		{name: "disabled", input: `{"delay":"20m","prompt":"x"}`, off: true, want: "reminders are disabled on this host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &calendar{refuse: tt.refuse}
			ctx := tool.Context{Context: t.Context(), ToolUseID: "call_1", Session: tool.Session{ID: "s1"}, Reminders: c}
			if tt.off {
				ctx.Reminders = nil
			}
			out, err := tool.RemindMe().Call(ctx, json.RawMessage(tt.input))
			got := fault.Public(err)
			if err == nil {
				raw, failed := json.Marshal(out)
				if failed != nil {
					t.Fatal(failed)
				}
				got = string(raw)
			}
			if got != tt.want {
				t.Errorf("remind_me(%s) = %s, want %s", tt.input, got, tt.want)
			}
		})
	}
}

func TestRemindMeKeepsToItsConversation(t *testing.T) {
	c := &calendar{}
	ctx := tool.Context{Context: t.Context(), ToolUseID: "call_1", Session: tool.Session{ID: "s1"}, Reminders: c}
	for _, input := range []string{
		`{"every":"1h","prompt":"Look.","until":"it is done","maxFires":3}`, `{"action":"list","purpose":"ci"}`, `{"action":"cancel","purpose":"ci"}`,
	} {
		if _, err := tool.RemindMe().Call(ctx, json.RawMessage(input)); err != nil {
			t.Fatal(err)
		}
	}
	want := calendar{
		created: []schedule.NewReminder{{SessionID: "s1", Key: "call_1", NewReminder: contract.NewReminder{
			Purpose: "user_follow_up", Every: "1h", Prompt: "Look.", Until: "it is done", MaxFires: 3,
		}}},
		asked: []schedule.ReminderFilter{{SessionID: "s1", Purpose: "ci"}, {SessionID: "s1", Purpose: "ci"}},
	}
	if diff := cmp.Diff(want, *c, cmp.AllowUnexported(calendar{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
