package cloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// TestDispatchWithoutSchedules: a project without the function for schedules says so.
func TestDispatchWithoutSchedules(t *testing.T) {
	c := start(t, cloud.Options{})
	for path, want := range map[string]int{"/dev/schedules/x": 503, "/dev/schedules/": 404, "/dev/nothing": 404, "/dev/reminders/x": 503} {
		got := c.http("POST", path, "", "")
		if got.status != want || want == 503 && !strings.Contains(got.body, "no such function") {
			t.Errorf("%s = %+v, want %d", path, got, want)
		}
	}
}

// TestReminders: those of all conversations, the next to fire first; without timers none is fired, unless it is by hand.
func TestReminders(t *testing.T) {
	c := start(t, cloud.Options{})
	if got := c.http("GET", "/dev/reminders", "", ""); got.status != 200 || strings.TrimSpace(got.body) != `{"reminders":[]}` {
		t.Errorf("none = %+v", got)
	}
	db := dynamodb.New(dynamodb.Options{BaseEndpoint: aws.String(c.Info().AWS), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	table := store.Table{Name: c.Info().Table, DynamoDB: db}
	owner := contract.Principal{Type: contract.UserPrincipal, ID: "u"}
	err := table.Commit(t.Context(), store.NewState(session.New("s", session.Chat, owner, time.Now())))
	for i, delay := range []contract.LooseText{"2h", "1h"} {
		row, wrong := schedule.Remind(fmt.Sprint("rem_", i), "s", owner, contract.NewReminder{Purpose: "p", Delay: delay, Prompt: "x"}, time.Now())
		err = errors.Join(err, wrong, table.Commit(t.Context(), store.NewReminder(row)...))
	}
	if err != nil {
		t.Fatal(err)
	}
	var list contract.Reminders
	if got := c.http("GET", "/dev/reminders", "", ""); json.Unmarshal([]byte(got.body), &list) != nil || len(list.Reminders) != 2 || list.Reminders[0].ReminderID != "rem_1" {
		t.Errorf("two = %+v", got)
	}
	put := bus.Bus{EventBridge: eventbridge.New(eventbridge.Options{BaseEndpoint: aws.String(c.Info().AWS), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})}
	for _, manual := range []bool{false, true} {
		if err := put.Publish(t.Context(), bus.Event{DetailType: contract.FireReminderType, Detail: contract.FireReminder{ReminderID: "rem_1", At: "2026-01-01T00:00:00.000Z", Manual: manual}}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(c.out.String(), "timers are off"); n != 1 {
			t.Errorf("by hand %t: told %d times that timers are off, want once", manual, n)
		}
	}
}

// TestCustomAnswers: what a custom resource's function tells is taken, and a failure is shown.
func TestCustomAnswers(t *testing.T) {
	c := start(t, cloud.Options{})
	tests := []struct {
		method, body string
		status       int
		shown        bool
	}{
		{"PUT", `{"Status":"SUCCESS"}`, 200, false}, {"PUT", `{"Status":"FAILED","Reason":"no group"}`, 200, true}, {"POST", `{"Status":"SUCCESS"}`, 400, false}, {"PUT", `x`, 400, false},
	}
	for _, tc := range tests {
		before := strings.Count(c.out.String(), "a custom resource failed")
		if got := c.at(c.Info().AWS, tc.method, "/custom-resources/Thing", "", tc.body); got.status != tc.status {
			t.Errorf("%s %s = %+v, want %d", tc.method, tc.body, got, tc.status)
		}
		shown := strings.Count(c.out.String(), "a custom resource failed") > before
		if shown != tc.shown || shown && !strings.Contains(c.out.String(), "no group") {
			t.Errorf("%s: shown %t, want %t", tc.body, shown, tc.shown)
		}
	}
}
