package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

func schedule(name, expression string) *scheduler.CreateScheduleInput {
	return &scheduler.CreateScheduleInput{
		Name: &name, ScheduleExpression: &expression, FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff}, ActionAfterCompletion: types.ActionAfterCompletionDelete,
		Target: &types.Target{
			Arn: aws.String("arn:aws:events:us-east-1:000000000000:event-bus/default"), RoleArn: aws.String("arn:aws:iam::000000000000:role/r"),
			Input:                 aws.String(`{"at":"<aws.scheduler.scheduled-time>"}`),
			EventBridgeParameters: &types.EventBridgeParameters{DetailType: aws.String("Due"), Source: aws.String("toy")},
		},
	}
}

func TestP18SchedulesAreChecked(t *testing.T) {
	with := func(change func(*scheduler.CreateScheduleInput)) *scheduler.CreateScheduleInput {
		in := schedule("a", "at(2026-02-01T00:00:00)")
		change(in)
		return in
	}
	tests := []struct {
		name string
		in   *scheduler.CreateScheduleInput
		want string
	}{
		{"fine", schedule("a.b-c_D", "at(2026-02-01T00:00:00)"), ""},
		{"slash in the name", schedule("a/b", "at(2026-02-01T00:00:00)"), "ValidationException"},
		{"accent in the name", schedule("é", "at(2026-02-01T00:00:00)"), "ValidationException"},
		{"65 characters", schedule(strings.Repeat("a", 65), "at(2026-02-01T00:00:00)"), "ValidationException"},
		{"zone in the time", schedule("a", "at(2026-02-01T00:00:00Z)"), "ValidationException"},
		{"past", schedule("a", "at(2025-12-31T23:59:59)"), "ValidationException"},
		{"now", schedule("a", "at(2026-01-01T00:00:00)"), "ValidationException"},
		{"a date that never comes", schedule("a", "cron(0 0 30 2 ? *)"), "ValidationException"},
		{"recurring that deletes itself", schedule("a", "rate(1 hour)"), "ValidationException"},
		{"no window", with(func(in *scheduler.CreateScheduleInput) { in.FlexibleTimeWindow = nil }), "ValidationException"},
		{"no role", with(func(in *scheduler.CreateScheduleInput) { in.Target.RoleArn = nil }), "ValidationException"},
		{"input is no JSON", with(func(in *scheduler.CreateScheduleInput) { in.Target.Input = aws.String("x") }), "ValidationException"},
		{"unknown zone", with(func(in *scheduler.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Mars/Base") }), "ValidationException"},
		{"unknown group", with(func(in *scheduler.CreateScheduleInput) { in.GroupName = aws.String("other") }), "ResourceNotFoundException"},
		{"token with a slash", with(func(in *scheduler.CreateScheduleInput) { in.ClientToken = aws.String("a/b") }), "ValidationException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &fake.Scheduler{Groups: []string{"mine"}}
			if _, err := s.CreateSchedule(t.Context(), tt.in); codeOf(err) != tt.want {
				t.Errorf("CreateSchedule = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestScheduleLife(t *testing.T) {
	ctx, s := t.Context(), &fake.Scheduler{}
	in := schedule("a", "at(2026-02-01T00:00:00)")
	in.ClientToken = aws.String("t1")
	for range 2 { // the repeat has the same token
		if _, err := s.CreateSchedule(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	other := schedule("a", "at(2026-03-01T00:00:00)")
	if _, err := s.CreateSchedule(ctx, other); codeOf(err) != "ConflictException" {
		t.Errorf("the same name = %v, want ConflictException", err)
	}
	update := &scheduler.UpdateScheduleInput{Name: other.Name, ScheduleExpression: other.ScheduleExpression, FlexibleTimeWindow: other.FlexibleTimeWindow, Target: other.Target}
	if _, err := s.UpdateSchedule(ctx, update); err != nil {
		t.Fatal(err)
	}
	got, err := s.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: in.Name})
	if err != nil || *got.ScheduleExpression != "at(2026-03-01T00:00:00)" || got.ActionAfterCompletion != types.ActionAfterCompletionNone {
		t.Errorf("GetSchedule = %+v, %v, want the update and nothing of before", got, err)
	}
	list, err := s.ListSchedules(ctx, &scheduler.ListSchedulesInput{NamePrefix: aws.String("a")})
	if err != nil || len(list.Schedules) != 1 {
		t.Errorf("ListSchedules = %+v, %v", list, err)
	}
	for _, want := range []string{"", "ResourceNotFoundException"} {
		if _, err := s.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: in.Name}); codeOf(err) != want {
			t.Errorf("DeleteSchedule = %v, want %q", err, want)
		}
	}
	if _, err := s.UpdateSchedule(ctx, update); codeOf(err) != "ResourceNotFoundException" {
		t.Errorf("update of nothing = %v", err)
	}
}

func TestSchedulesFire(t *testing.T) {
	clock := &fake.Clock{}
	bus := &fake.Bus{Now: clock.Now}
	s := &fake.Scheduler{Now: clock.Now, Bus: bus}
	recurring := schedule("every", "rate(30 minutes)")
	recurring.ActionAfterCompletion = ""
	for _, in := range []*scheduler.CreateScheduleInput{schedule("once", "at(2026-01-01T00:45:00)"), recurring} {
		if _, err := s.CreateSchedule(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Tick(); got != nil {
		t.Errorf("at once = %v", got)
	}
	clock.Set(s.Due())
	clock.Advance(30 * time.Minute)
	var got []string
	for _, f := range s.Tick() {
		got = append(got, f.Name+" "+f.At.Format("15:04"))
	}
	if diff := cmp.Diff([]string{"every 00:30", "once 00:45", "every 01:00"}, got); diff != "" {
		t.Error(diff)
	}
	if want := `{"at":"2026-01-01T00:45:00Z"}`; string(bus.Of("Due")[1].Detail) != want {
		t.Errorf("detail = %s, want %s", bus.Of("Due")[1].Detail, want)
	}
	if diff := cmp.Diff([]string{"default/every"}, s.Names()); diff != "" {
		t.Errorf("schedules left (-want +got):\n%s", diff)
	}
}
