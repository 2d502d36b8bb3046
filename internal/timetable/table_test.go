package timetable_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fine is a definition that is taken.
func fine(change ...func(*timetable.Definition)) timetable.Definition {
	d := timetable.Definition{
		Name: "a.b-c_D", ScheduleExpression: "at(2026-02-01T00:00:00)", FlexibleTimeWindow: &timetable.Window{Mode: "OFF"},
		Target: &timetable.Target{
			Arn: "arn:aws:events:us-east-1:000000000000:event-bus/default", RoleArn: "arn:aws:iam::000000000000:role/r", Input: "{}",
			EventBridgeParameters: &timetable.EventBridgeParameters{DetailType: "Due", Source: "app"},
		},
	}
	for _, c := range change {
		c(&d)
	}
	return d
}

func TestP18WhatIsTaken(t *testing.T) {
	type def = timetable.Definition
	at := func(d time.Duration) *timetable.Epoch { return new(timetable.At(start.Add(d))) }
	tests := []struct {
		name   string
		change func(*def)
		want   string // in the message; "": it is taken
	}{
		{"fine", func(*def) {}, ""},
		{"64 characters", func(d *def) { d.Name = strings.Repeat("a", 64) }, ""},
		{"65 characters", func(d *def) { d.Name = strings.Repeat("a", 65) }, "'Name'"},
		{"slash in the name", func(d *def) { d.Name = "a/b" }, "'Name'"},
		{"colon in the group", func(d *def) { d.GroupName = "a:b" }, "'GroupName'"},
		{"no such group", func(d *def) { d.GroupName = "other" }, "Schedule group other does not exist"},
		{"slash in the token", func(d *def) { d.ClientToken = "a/b" }, "'ClientToken'"},
		{"unknown state", func(d *def) { d.State = "off" }, "'State'"},
		{"long description", func(d *def) { d.Description = strings.Repeat("é", 513) }, "'Description'"},
		{"largest input", func(d *def) { d.Target.Input = `{"a":"` + strings.Repeat("x", timetable.MaxInput-8) + `"}` }, ""},
		{"a byte more", func(d *def) { d.Target.Input = `{"a":"` + strings.Repeat("x", timetable.MaxInput-7) + `"}` }, "Input must have at most"},
		{"input is no object", func(d *def) { d.Target.Input = `[]` }, "JSON object"},
		{"no input", func(d *def) { d.Target.Input = "" }, "JSON object"},
		{"no role", func(d *def) { d.Target.RoleArn = "" }, "'Target.RoleArn'"},
		{"no target", func(d *def) { d.Target = nil }, "'Target'"},
		{"no window", func(d *def) { d.FlexibleTimeWindow = nil }, "'FlexibleTimeWindow'"},
		{"AWS's source", func(d *def) { d.Target.EventBridgeParameters.Source = "aws.s3" }, "Source"},
		{"186 retries", func(d *def) { d.Target.RetryPolicy = &timetable.RetryPolicy{MaximumRetryAttempts: new(186)} }, "185"},
		{"now", func(d *def) { d.ScheduleExpression = "at(2026-01-01T00:00:00)" }, "past"},
		{"in a second", func(d *def) { d.ScheduleExpression = "at(2026-01-01T00:00:01)" }, ""},
		{"unknown zone", func(d *def) { d.ScheduleExpressionTimezone = "Mars/Base" }, "Mars/Base"},
		{"no such date", func(d *def) { d.ScheduleExpression = "cron(0 0 30 2 ? *)" }, "cron(0 0 30 2 ? *)"},
		{"recurring that deletes itself", func(d *def) { d.ScheduleExpression, d.ActionAfterCompletion = "rate(1 hour)", "DELETE" }, "EndDate"},
		{"and has an end", func(d *def) {
			d.ScheduleExpression, d.ActionAfterCompletion, d.EndDate = "rate(1 hour)", "DELETE", at(3*time.Hour)
		}, ""},
		{"ends before it begins", func(d *def) {
			d.ScheduleExpression, d.StartDate, d.EndDate = "rate(1 hour)", at(2*time.Hour), at(time.Hour)
		}, "EndDate"},
		{"began long ago", func(d *def) { d.ScheduleExpression, d.StartDate = "rate(1 hour)", at(-6*time.Minute) }, "StartDate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := timetable.Table{HasGroup: func(name string) bool { return name == timetable.DefaultGroup }}
			_, _, err := table.Create(fine(tt.change), start)
			var refusal *timetable.Error
			if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &refusal) || !strings.Contains(refusal.Message, tt.want)) {
				t.Errorf("Create = %v, want %q", err, tt.want)
			}
			if taken := len(table.All()) == 1; taken != (tt.want == "") {
				t.Errorf("in the table: %t", taken)
			}
		})
	}
}

func TestConflict(t *testing.T) {
	with := func(token, expression string) timetable.Definition {
		return fine(func(d *timetable.Definition) { d.ClientToken, d.ScheduleExpression = token, expression })
	}
	const early, late = "at(2026-02-01T00:00:00)", "at(2026-03-01T00:00:00)"
	tests := []struct {
		name   string
		second timetable.Definition
		again  bool
		code   string
	}{
		{"the same call again", with("t1", early), true, ""},
		{"the same token for something else", with("t1", late), false, timetable.CodeConflict},
		{"another token", with("t2", early), false, timetable.CodeConflict},
		{"no token", with("", early), false, timetable.CodeConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var table timetable.Table
			first, _, err := table.Create(with("t1", early), start)
			if err != nil {
				t.Fatal(err)
			}
			_, again, err := table.Create(tt.second, start.Add(time.Minute))
			if again != tt.again || codeOf(err) != tt.code {
				t.Errorf("Create = %t, %v, want %t, %q", again, err, tt.again, tt.code)
			}
			if got, err := table.Find("", first.Name); err != nil || got != first {
				t.Errorf("the first is gone: %v", err)
			}
		})
	}
}

func codeOf(err error) string {
	var refusal *timetable.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func TestUpdate(t *testing.T) {
	var table timetable.Table
	if _, err := table.Update(fine(), start); codeOf(err) != timetable.CodeMissing {
		t.Errorf("Update of nothing = %v", err)
	}
	hourly := fine(func(d *timetable.Definition) { d.ScheduleExpression, d.Description = "rate(1 hour)", "old" })
	if _, _, err := table.Create(hourly, start); err != nil {
		t.Fatal(err)
	}
	hourly.Description = ""
	got, err := table.Update(hourly, start.Add(90*time.Minute))
	if err != nil || got.Description != "" || !got.Created.Equal(start) || !got.Next.Equal(start.Add(2*time.Hour)) {
		t.Errorf("Update = %+v, %v, want it to count from when it was made", got, err)
	}
}

// TestTimes: what a schedule fires at, and whether it is gone afterwards.
func TestTimes(t *testing.T) {
	epoch := func(d time.Duration) *timetable.Epoch { return new(timetable.At(start.Add(d))) }
	tests := []struct {
		name   string
		change func(*timetable.Definition)
		want   string
		gone   bool
	}{
		{"once", func(d *timetable.Definition) { d.ScheduleExpression = "at(2026-01-01T00:45:00)" }, "00:45", false},
		{"once, then gone", func(d *timetable.Definition) {
			d.ScheduleExpression, d.ActionAfterCompletion = "at(2026-01-01T00:45:00)", "DELETE"
		}, "00:45", true},
		{"disabled", func(d *timetable.Definition) {
			d.ScheduleExpression, d.State, d.ActionAfterCompletion = "at(2026-01-01T00:45:00)", "DISABLED", "DELETE"
		}, "", false},
		{"a rate counts from when it was made", func(d *timetable.Definition) { d.ScheduleExpression = "rate(1 hour)" }, "01:00 02:00 03:00", false},
		{"or begins at its start", func(d *timetable.Definition) {
			d.ScheduleExpression, d.StartDate = "rate(1 hour)", epoch(30*time.Minute)
		}, "00:30 01:30 02:30", false},
		{"until its end, then gone", func(d *timetable.Definition) {
			d.ScheduleExpression, d.EndDate, d.ActionAfterCompletion = "cron(0/30 * * * ? *)", epoch(time.Hour), "DELETE"
		}, "00:30 01:00", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var table timetable.Table
			s, _, err := table.Create(fine(tt.change), start)
			if err != nil {
				t.Fatal(err)
			}
			var fired []string
			for s.Enabled() && !s.Next.IsZero() && s.Next.Before(start.Add(3*time.Hour+time.Minute)) {
				fired = append(fired, s.Next.Format("15:04"))
				s.Fired(s.Next)
			}
			if diff := cmp.Diff(tt.want, strings.Join(fired, " ")); diff != "" || s.Completed() != tt.gone {
				t.Errorf("gone %t, want %t; firings (-want +got):\n%s", s.Completed(), tt.gone, diff)
			}
		})
	}
}

func TestFill(t *testing.T) {
	f := timetable.Firing{ARN: "arn:x", At: start.Add(time.Hour), Execution: "e1", Attempt: 2}
	got := f.Fill("<aws.scheduler.schedule-arn> <aws.scheduler.scheduled-time> <aws.scheduler.execution-id> <aws.scheduler.attempt-number> <aws.other>")
	if want := "arn:x 2026-01-01T01:00:00Z e1 2 <aws.other>"; got != want {
		t.Errorf("Fill = %q, want %q", got, want)
	}
}
