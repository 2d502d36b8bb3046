package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const beat = "---\ncron: \"0 9 * * MON\"\ntimezone: Europe/Berlin\n---\nBeat."

func TestSchedulesListAndCheck(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{"agent/schedules/beat.md": beat, "wrong/bad.md": "---\ncron: \"0 9 * *\"\n---\nGo.", "wrong/empty.md": "---\ncron: \"@daily\"\n---\n"})
	r := start("")
	r.run(t, 0, "schedules", "list")
	for _, text := range []string{"SCHEDULE      FROM     CRON", "beat          file     0 9 * * MON  Europe/Berlin", "friday-notes  handler  0 16 * * 5"} {
		if !strings.Contains(r.out.String(), text) {
			t.Errorf("no %q in:\n%s", text, r.out.String())
		}
	}
	r = start("")
	r.run(t, 0, "--json", "schedules", "list")
	var got struct{ Schedules []scheduleView }
	if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil {
		t.Fatal(err)
	}
	next, err := time.Parse(time.RFC3339, got.Schedules[0].Next)
	if err != nil || !next.After(time.Now()) || next.Weekday() != time.Monday || got.Schedules[0].Expressions[0] != "cron(0 9 ? * 2 *)" {
		t.Errorf("beat is %+v, %v", got.Schedules[0], err)
	}
	r = start("")
	r.run(t, 0, "schedules", "check")
	same(t, "check", r.out.String(), "schedules read: 2\n")
	r = start("")
	r.run(t, 1, "schedules", "check", "--dir", "wrong")
	for _, text := range []string{"bad.md: cron: \"0 9 * *\": five fields", "empty.md: there is no prompt"} {
		if !strings.Contains(r.err.String(), text) {
			t.Errorf("no %q in:\n%s", text, r.err.String())
		}
	}
	r = start("")
	r.run(t, 1, "schedules", "check", "--dir", "nowhere")
	same(t, "no folder", r.err.String(), "steadfast: there is no folder nowhere\n")
}

func TestSchedulesNext(t *testing.T) {
	start := at(t)
	skillFolder(t, map[string]string{"agent/schedules/beat.md": beat})
	r := start("")
	r.run(t, 0, "--json", "schedules", "next", "beat", "-n", "3")
	var got struct{ Times []time.Time }
	if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil || len(got.Times) != 3 || got.Times[0].Weekday() != time.Monday || !got.Times[0].Before(got.Times[1]) {
		t.Errorf("times %v, %v", got.Times, err)
	}
	r = start("")
	r.run(t, 0, "schedules", "next", "@hourly", "-n", "2", "--timezone", "Asia/Kolkata")
	if n := strings.Count(r.out.String(), ":00 IST"); n != 2 {
		t.Errorf("next of an expression:\n%s", r.out.String())
	}
	for _, args := range [][]string{{"nope"}, {"0 9 * *"}, {"@hourly", "-n", "0"}, {"@hourly", "--timezone", "Mars/Base"}, {"beat", "--timezone", "UTC"}} {
		r = start("")
		r.run(t, 1, append([]string{"schedules", "next"}, args...)...)
	}
}

// TestSchedulesRunIsForThisMachine: a deployed stack has no such route, and is not asked.
func TestSchedulesRunIsForThisMachine(t *testing.T) {
	r := at(t)("")
	r.run(t, 1, "--url", "https://api.example.com", "schedules", "run", "beat")
	if !strings.Contains(r.err.String(), "not on this machine") {
		t.Errorf("said %s", r.err.String())
	}
}
