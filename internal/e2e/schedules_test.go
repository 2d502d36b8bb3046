package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// alarm is a client of the cloud's scheduler.
func (s stack) alarm() *scheduler.Client {
	return scheduler.New(scheduler.Options{
		BaseEndpoint: &s.info.AWS, Region: s.info.Region, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
}

// alarmAt is a schedule's expression; "": there is none.
func (s stack) alarmAt(group, name string) string {
	s.t.Helper()
	got, err := s.alarm().GetSchedule(context.Background(), &scheduler.GetScheduleInput{GroupName: &group, Name: &name})
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return ""
	case err != nil:
		s.t.Fatal(err)
	}
	return aws.ToString(got.ScheduleExpression)
}

func (s stack) alarms(group string) []string {
	s.t.Helper()
	list, err := s.alarm().ListSchedules(context.Background(), &scheduler.ListSchedulesInput{GroupName: &group})
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, one := range list.Schedules {
		names = append(names, *one.Name)
	}
	slices.Sort(names)
	return names
}

// asked waits until the function has said what became of the n-th event.
func (s stack) asked(detailType, outcome string, n int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d times %s: %s", n, detailType, outcome), func() bool {
		return len(s.log.lines("asked for later", detailType, `"outcome":"`+outcome+`"`)) >= n
	})
}

// TestEventsLater: an app schedules an event, moves it, would keep it, cancels it; one whose time is past comes at once, and a task
// that is near at its second.
func TestEventsLater(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	event := func(extra string) string {
		return `{"name":"pr:1","event":{"detailType":"Thing Happened","detail":{"n":1}},` + extra + `}`
	}
	const name = "pr-1-" // and a hash
	waiting := func() string {
		for _, n := range s.alarms("steadfast") {
			if strings.HasPrefix(n, name) {
				return s.alarmAt("steadfast", n)
			}
		}
		return ""
	}
	s.put(t, contract.ScheduleEventType, event(`"at":"2027-01-01T12:00","timezone":"Europe/Berlin"`), 1)
	eventually(t, "the schedule", func() bool { return waiting() == "at(2027-01-01T11:00:00)" })
	second := time.Now().Unix()
	eventually(t, "the next second: the bus's clock shows no less", func() bool { return time.Now().Unix() > second })
	s.put(t, contract.ScheduleEventType, event(`"at":"2027-01-02T12:00:00+01:00"`), 1)
	eventually(t, "the schedule to be moved", func() bool { return waiting() == "at(2027-01-02T11:00:00)" })
	s.put(t, contract.ScheduleEventType, event(`"delay":0,"ifExists":"keep"`), 1)
	s.asked(contract.ScheduleEventType, "scheduled", 3) // the last one was there
	if waiting() != "at(2027-01-02T11:00:00)" || len(s.heard("Thing Happened")) != 0 {
		t.Errorf("one that was to be kept is %q, and %d came", waiting(), len(s.heard("Thing Happened")))
	}
	s.put(t, contract.CancelScheduledEventType, `{"name":"pr:1"}`, 1)
	s.asked(contract.CancelScheduledEventType, "cancelled", 1)
	if got := waiting(); got != "" {
		t.Errorf("cancelled, and %s", got)
	}
	s.put(t, contract.ScheduleEventType, `{"at":"2020-01-01","event":{"detailType":"Thing Happened","detail":{"n":2}}}`, 1)
	eventually(t, "the event of the past", func() bool { return len(s.heard("Thing Happened")) == 1 })
	s.put(t, contract.ScheduleEventType, `{"delay":"1h","event":{"detailType":"Schedule Event"}}`, 1)
	s.asked(contract.ScheduleEventType, "refused", 1)

	id, began := "later-"+uuid.NewString(), time.Now()
	s.put(t, contract.ScheduleEventType, fmt.Sprintf(`{"delay":"3s","event":{"detailType":"Run Agent Task","detail":{"taskId":%q,"principal":{"type":"system","id":"x"},"request":"say \"late\""}}}`, id), 1)
	eventually(t, "the task", func() bool { return len(s.completions(id)) == 1 })
	if took := time.Since(began); took < 2*time.Second || s.completions(id)[0]["output"] != "late" {
		t.Errorf("after %s: %v", took, s.completions(id))
	}
	if left := s.alarms("steadfast"); len(left) > 0 {
		t.Errorf("schedules left: %v", left)
	}
}

// dispatch fires a schedule by hand.
func (s stack) dispatch(id string) contract.ScheduleRan {
	s.t.Helper()
	var ran contract.ScheduleRan
	got := s.as("", "POST", "/dev/schedules/"+id, "")
	if err := json.Unmarshal([]byte(got.body), &ran); err != nil || got.status != 200 {
		s.t.Fatalf("%d %s, %v", got.status, got.body, err)
	}
	return ran
}

// TestSchedulesByHand: a file begins a session that ends by itself, a handler goes on in one conversation; also where schedules are off.
func TestSchedulesByHand(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Parameters: map[string]string{"SchedulesEnabled": "false"}})
	ran := s.dispatch("weekly-review")
	if len(ran.SessionIDs) != 1 {
		t.Fatalf("ran %+v", ran)
	}
	eventually(t, "session.completed", func() bool {
		story := s.story(t, ran.SessionIDs[0])
		return story[len(story)-1].Type == "session.completed"
	})
	first, second := s.dispatch("friday-notes"), s.dispatch("friday-notes")
	if diff := cmp.Diff(first, second); diff != "" || len(first.SessionIDs) != 1 || first.Error != "" {
		t.Errorf("%+v, and again (-first +second):\n%s", first, diff)
	}
	s.quiet()
	if n := len(of[contract.MessageReceived](t, s.story(t, first.SessionIDs[0]))); n < 1 {
		t.Errorf("%d messages in the conversation", n)
	}
	if got := s.as("", "POST", "/dev/schedules/nope", "").is(t, 404); got["code"] != "not_found" {
		t.Errorf("a schedule that is not there: %v", got)
	}
	s.put(t, contract.RunScheduleType, `{"scheduleId":"weekly-review","at":"2026-01-05T09:00:00Z"}`, 1)
	eventually(t, "schedules to be off", func() bool { return len(s.log.lines("schedules are off", "weekly-review")) == 1 })
	if rows := s.under(t, "SCHEDULE#weekly-review"); len(rows) != 1 {
		t.Errorf("firings %v, want the one by hand", rows)
	}
}

// TestSchedulesAreDeployed: the group of files is what the program has, after each deployment, and empty when the stack is deleted.
// A firing that is delivered twice is one session.
func TestSchedulesAreDeployed(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{FireSchedules: true})
	const group = "steadfast-files"
	want := []string{"file.friday-notes", "file.weekly-review"}
	ours := func() []string { // without those that the program has beside the examples
		return slices.DeleteFunc(s.alarms(group), func(name string) bool { return len(want) > 0 && !slices.Contains(want, name) })
	}
	eventually(t, "the schedules", func() bool { return cmp.Equal(want, ours()) })
	if got := s.alarmAt(group, "file.weekly-review"); got != "cron(0 9 ? * 2 *)" {
		t.Errorf("weekly-review is %s", got)
	}
	for _, request := range []string{"Update", "Delete"} {
		event := fmt.Sprintf(`{"RequestType":%q,"RequestId":"r","ResponseURL":"%s/custom-resources/SyncSchedules","LogicalResourceId":"SyncSchedules","StackId":"s","ResourceType":"Custom::Schedules"}`, request, s.info.AWS)
		if request == "Delete" {
			want = nil
		}
		if got := invoked(t, s, "sync-schedules", event); got != "null" {
			t.Errorf("%s answers %s", request, got)
		}
		if diff := cmp.Diff(want, ours()); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", request, diff)
		}
	}
	s.put(t, contract.RunScheduleType, `{"scheduleId":"weekly-review","at":"2026-01-05T09:00:00Z"}`, 5)
	const id = "schedule-weekly-review-20260105T090000.000"
	eventually(t, "the session to end", func() bool {
		story := s.story(t, id)
		return len(story) > 0 && story[len(story)-1].Type == "session.completed"
	})
	s.quiet()
	if n := len(of[contract.TurnStarted](t, s.story(t, id))); n != 1 {
		t.Errorf("%d turns, want one", n)
	}
}

// invoked has a function answer an event, as AWS's own services do.
func invoked(t *testing.T, s stack, function, event string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.info.AWS+"/2015-03-31/functions/"+function+"/invocations", strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	got := send(t, req)
	if got.status != 200 {
		t.Fatalf("invoke %s: %d %s", function, got.status, got.body)
	}
	return got.body
}
