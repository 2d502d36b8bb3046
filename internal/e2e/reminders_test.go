package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// remind asks for a reminder over HTTP.
func (s stack) remind(user, id, body string) contract.Reminder {
	s.t.Helper()
	var r contract.Reminder
	got := s.as(user, "POST", "/agent/sessions/"+id+"/reminders", body)
	if err := json.Unmarshal([]byte(got.body), &r); err != nil || got.status != 201 {
		s.t.Fatalf("remind %s: %+v, %v", body, got, err)
	}
	return r
}

// fires fires a reminder by hand.
func (s stack) fires(id string) contract.ReminderFired {
	s.t.Helper()
	var fired contract.ReminderFired
	got := s.as("", "POST", "/dev/reminders/"+id, "")
	if err := json.Unmarshal([]byte(got.body), &fired); err != nil || got.status != 200 {
		s.t.Fatalf("fire %s: %+v, %v", id, got, err)
	}
	return fired
}

// reminded lists a session's reminders as "purpose status".
func (s stack) reminded(user, id, query string) (all []string) {
	s.t.Helper()
	var list contract.Reminders
	got := s.as(user, "GET", "/agent/sessions/"+id+"/reminders"+query, "")
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != 200 {
		s.t.Fatalf("list: %+v, %v", got, err)
	}
	for _, r := range list.Reminders {
		all = append(all, r.Purpose+" "+r.Status)
	}
	return all
}

// said lists the messages that a session's turns took.
func (s stack) said(id string) (all []string) {
	for _, m := range of[contract.MessageReceived](s.t, s.story(s.t, id)) {
		all = append(all, m.Text)
	}
	return all
}

// TestNewcomersReminder: who asks the chat to be reminded is reminded in the same conversation.
func TestNewcomersReminder(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{FireSchedules: true}), uuid.NewString()
	p := s.connect("ada", "")
	asked := time.Now()
	contains(t, "the answer", p.ask(id, "Please remind me in 3s to stretch.").text, "remind_me answered: ")
	if got := s.reminded("ada", id, "?purpose=user_follow_up"); !slices.Equal(got, []string{"user_follow_up active"}) {
		t.Errorf("reminders %v", got)
	}
	woken := p.turn()
	if took := time.Since(asked); woken.text != "It is time to stretch." || took < 3*time.Second {
		t.Errorf("after %s: %q", took, woken.text)
	}
	if got := s.said(id); len(got) != 2 || got[1] != `Say "It is time to stretch."` {
		t.Errorf("the conversation took %q", got)
	}
	contains(t, "what is far", p.ask(id, "remind me every 2h to drink").text, "nextFireAt")
	if left := s.alarms("steadfast"); len(left) != 1 {
		t.Errorf("alarms %v, want one", left)
	}
	s.quiet()
	if got := s.reminded("ada", id, ""); !slices.Equal(got, []string{"user_follow_up active", "user_follow_up done"}) {
		t.Errorf("reminders %v", got)
	}
	if got := s.as("ada", "DELETE", "/agent/sessions/"+id, ""); got.status != 204 {
		t.Fatalf("DELETE = %+v", got)
	}
	if left := s.alarms("steadfast"); len(left) > 0 {
		t.Errorf("alarms left after the conversation: %v", left)
	}
	s.onlyTombstone("after the deletion", id)
}

// TestReminders over HTTP: made once for each key, listed, cancelled one by one and by purpose; others are refused.
func TestReminders(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	s.connect("ada", "").ask(id, "hello")
	first := s.remind("ada", id, `{"purpose":"ci","every":"1h","prompt":"Look.","key":"k"}`)
	if again := s.remind("ada", id, `{"purpose":"ci","every":"1h","prompt":"Look.","key":"k"}`); again != first {
		t.Errorf("again %+v, want %+v", again, first)
	}
	other := s.remind("ada", id, `{"purpose":"ci","at":"2027-01-01T12:00","timezone":"Europe/Berlin","prompt":"Look."}`)
	if other.NextFireAt != "2027-01-01T11:00:00.000Z" {
		t.Errorf("at noon in Berlin: %+v", other)
	}
	s.remind("ada", id, `{"purpose":"tea","delay":"2h","prompt":"Tea."}`)
	now := s.remind("ada", id, `{"purpose":"now","delay":1,"prompt":"Now."}`) // its timer is off here
	if got := s.alarms("steadfast"); len(got) != 3 {
		t.Errorf("alarms %v", got)
	}
	path := "/agent/sessions/" + id + "/reminders"
	for _, refused := range []struct {
		user, method, path, body string
		status                   int
		code                     string
	}{
		{"bob", "POST", path, `{"purpose":"p","delay":"1h","prompt":"x"}`, 403, "denied"},
		{"bob", "GET", path, "", 403, "denied"},
		{"bob", "DELETE", path, "", 403, "denied"},
		{"bob", "DELETE", path + "/" + first.ReminderID, "", 403, "denied"},
		{"ada", "POST", path, `{"purpose":"p","prompt":"x"}`, 400, "invalid"},
		{"ada", "DELETE", path + "/rem_none", "", 404, "not_found"},
		{"ada", "GET", "/agent/sessions/" + uuid.NewString() + "/reminders", "", 404, "not_found"},
	} {
		if got := s.as(refused.user, refused.method, refused.path, refused.body); got.is(t, refused.status)["code"] != refused.code {
			t.Errorf("%s %s as %s = %+v, want %s", refused.method, refused.path, refused.user, got, refused.code)
		}
	}
	if got := s.as("ada", "DELETE", path+"/"+other.ReminderID, ""); got.status != 204 {
		t.Errorf("cancel one = %+v", got)
	}
	if got := s.as("ada", "DELETE", path+"?purpose=ci", "").is(t, 200); fmt.Sprint(got["cancelled"]) != "1" {
		t.Errorf("cancel a purpose = %v", got)
	}
	if got, want := s.reminded("ada", id, ""), []string{"now active", "tea active", "ci cancelled", "ci cancelled"}; !slices.Equal(got, want) {
		t.Errorf("reminders %v, want %v", got, want)
	}
	if fired := s.fires(now.ReminderID); fired.Outcome != "fired" || !slices.Equal(fired.SessionIDs, []string{id}) {
		t.Errorf("by hand %+v", fired)
	}
	eventually(t, "the prompt", func() bool { return slices.Contains(s.said(id), "Now.") })
	if got := s.as("", "POST", "/dev/reminders/"+now.ReminderID, "").is(t, 409); got["code"] != "reminder_ended" {
		t.Errorf("once more = %v", got)
	}
	if got := s.as("", "POST", "/dev/reminders/rem_none", "").is(t, 404); got["code"] != "not_found" {
		t.Errorf("one that is not there = %v", got)
	}
	contains(t, "all of them", s.as("", "GET", "/dev/reminders", "").body, first.ReminderID)
	s.quiet()
}

// TestReminderHandlers: a handler of the program decides, and goes on over restarts; its alarm is moved when it is fired by hand.
func TestReminderHandlers(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	s.connect("ada", "").ask(id, "hello")
	r := s.remind("ada", id, `{"purpose":"the oven","every":"1h","run":"thrice"}`)
	name := schedule.Name(schedule.Reminder, r.ReminderID)
	before := s.alarmAt("steadfast", name)
	for i, want := range []string{"delivered", "delivered", "stop"} {
		if i == 1 {
			if _, err := s.Kill("fire-reminder"); err != nil {
				t.Fatal(err)
			}
		}
		if fired := s.fires(r.ReminderID); fired.Action != want || fired.Error != "" {
			t.Errorf("firing %d = %+v, want %s", i+1, fired, want)
		}
		if after := s.alarmAt("steadfast", name); i == 0 && (after == before || after == "") {
			t.Errorf("the alarm is %q, as before", after)
		}
	}
	eventually(t, "three messages", func() bool { return strings.Count(strings.Join(s.said(id), "\n"), "the oven") == 3 })
	near := s.remind("ada", id, `{"purpose":"near","every":"1m","prompt":"Look."}`)
	s.set(t, key.Reminder(near.ReminderID), "attribute_exists(pk)", map[string]any{"nextFireAt": time.Now().UnixMilli()})
	s.fires(near.ReminderID) // the next is so near that no alarm is set
	if after := s.alarmAt("steadfast", schedule.Name(schedule.Reminder, near.ReminderID)); after != "" {
		t.Errorf("an alarm is set: %s", after)
	}
	refused := s.as("ada", "POST", "/agent/sessions/"+id+"/reminders", `{"purpose":"lost","every":"1h","run":"removed"}`).is(t, 400)
	contains(t, "a handler that there is not", fmt.Sprint(refused["message"]), "no handler of this name")
	lost := s.remind("ada", id, `{"purpose":"lost","every":"1h","run":"thrice"}`)
	s.set(t, key.Reminder(lost.ReminderID), "attribute_exists(pk)", map[string]any{"run": "removed"}) // as after a deployment
	if fired := s.fires(lost.ReminderID); fired.Outcome != "lost" {
		t.Errorf("a handler that is not there = %+v", fired)
	}
	contains(t, "the list", s.as("ada", "GET", "/agent/sessions/"+id+"/reminders?purpose=lost", "").body, `"reason":"handler_lost"`)
	s.quiet()
}

// TestRemindersOfNoConversation: one whose conversation is gone goes with its firings, by whoever finds it.
func TestRemindersOfNoConversation(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	left := func() schedule.ReminderRow {
		r, err := schedule.Remind("rem_"+uuid.NewString(), id, task.User(sub("ada")), contract.NewReminder{Purpose: "p", Every: "1h", Run: "thrice"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		row, err := attributevalue.MarshalMap(r)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range keyOf(key.Reminder(r.ReminderID)) {
			row[name] = value
		}
		s.insert(t, row)
		s.insert(t, keyOf(key.ReminderFiring(r.ReminderID, 1)))
		return r
	}
	one := left()
	if fired := s.fires(one.ReminderID); fired.Outcome != "lost" {
		t.Errorf("fired = %+v", fired)
	}
	if rows := s.under(t, "REMINDER#"+one.ReminderID); len(rows) > 0 {
		t.Errorf("left %v", rows)
	}
	s.connect("ada", "").ask(id, "hello")
	s.as("ada", "DELETE", "/agent/sessions/"+id, "")
	two := left()
	s.insert(t, keyOf(key.SessionReminder(id, two.ReminderID)))
	s.overdue(t, key.State(id), nil)
	s.sweep(t)
	s.onlyTombstone("after a sweep", id)
	if rows := s.under(t, "REMINDER#"+two.ReminderID); len(rows) > 0 {
		t.Errorf("left after a sweep %v", rows)
	}
}

// TestSchedulesThatRemind: a schedule's handler keeps one reminder in its own conversation.
func TestSchedulesThatRemind(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{})
	for range 2 {
		if ran := s.dispatch("friday-notes"); ran.Error != "" {
			t.Fatalf("ran %+v", ran)
		}
	}
	if got := s.alarms("steadfast"); len(got) != 1 {
		t.Errorf("alarms %v, want one", got)
	}
	s.quiet()
}

// TestWebhooksThatRemind: a channel has a conversation look again, once for each webhook, until its subject is over.
func TestWebhooksThatRemind(t *testing.T) {
	t.Parallel()
	s := start(t, cloud.Options{Parameters: map[string]string{"WebhookSecretParameter": hooksParameter}})
	for _, body := range []string{
		`{"id":"c-1","key":"pr:1","text":"PR 1 is open.","remind":"2h"}`, `{"id":"c-1","key":"pr:1","text":"PR 1 is open.","remind":"2h"}`,
		`{"id":"c-2","key":"pr:2","text":"PR 2 is open.","remind":"2h"}`, `{"id":"c-3","key":"pr:1","text":"PR 1 is merged.","closed":true}`,
	} {
		s.hook(body, s.sign(body, time.Now())).is(t, 202)
	}
	var list contract.Reminders
	if err := json.Unmarshal([]byte(s.as("", "GET", "/dev/reminders", "").body), &list); err != nil || len(list.Reminders) != 2 {
		t.Fatalf("reminders %+v, %v", list, err)
	}
	if open, over := list.Reminders[0], list.Reminders[1]; open.Status != "active" || over.Status != "cancelled" || open.SessionID == over.SessionID {
		t.Errorf("reminders %+v", list)
	}
	if got := s.alarms("steadfast"); len(got) != 1 {
		t.Errorf("alarms %v, want one", got)
	}
	s.quiet()
}

// TestRemindersAreOff: nobody is promised what will not come.
func TestRemindersAreOff(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{Parameters: map[string]string{"SchedulesEnabled": "false"}}), uuid.NewString()
	p := s.connect("ada", "")
	contains(t, "the answer", p.ask(id, "remind me in 1h to stretch").text, "reminders are disabled on this host")
	if got := s.as("ada", "POST", "/agent/sessions/"+id+"/reminders", `{"purpose":"p","delay":"1h","prompt":"x"}`).is(t, 409); got["code"] != "reminders_disabled" {
		t.Errorf("POST = %v", got)
	}
}

// TestRemindersFromTheCommandLine as docs/reminders.md has it.
func TestRemindersFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	sh := s.shell()
	sh.fine("", "chat", "--session", id, "hello")
	made := sh.object("reminders", "create", id, "Look at CI.", "--every", "30m", "--purpose", "ci")
	reminder := fmt.Sprint(made["reminderId"])
	for _, args := range [][]string{{"reminders", "list", id}, {"reminders", "list"}} {
		contains(t, strings.Join(args, " "), sh.fine("", args...).out, reminder+"  ci       active")
	}
	contains(t, "fire", sh.fine("", "reminders", "fire", reminder).out, "reminder "+reminder+": fired, in session "+id)
	contains(t, "cancel", sh.fine("", "reminders", "cancel", id, reminder).out, "is cancelled")
	contains(t, "list", sh.fine("", "reminders", "list", id).out, "ci       cancelled  -")
	s.quiet()
}
