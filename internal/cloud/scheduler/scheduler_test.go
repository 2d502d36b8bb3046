package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/cloud/scheduler"
)

const (
	busARN      = "arn:aws:events:us-east-1:000000000000:event-bus/default"
	functionARN = "arn:aws:lambda:us-east-1:000000000000:function:remind"
	roleARN     = "arn:aws:iam::000000000000:role/scheduler"
)

// rig is a scheduler with a clock that stands still until it is moved, and what it sent.
type rig struct {
	*sdk.Client
	s   *scheduler.Scheduler
	t   *testing.T
	cfg scheduler.Config

	mu      sync.Mutex
	now     time.Time
	sent    []string
	failing []string // error codes of the next puts; "error": the call fails
	letters []map[string]string
}

func start(t *testing.T, cfg scheduler.Config) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), cfg: cfg}
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	cfg := r.cfg
	if cfg.Stack == nil {
		cfg.Stack = &sam.Stack{Region: "us-east-1", Account: "000000000000"}
	}
	cfg.Manual, cfg.Invoker, cfg.Put, cfg.Groups = true, r, r.put, []string{"team"}
	cfg.Now = func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now }
	cfg.Backoff = func(int) time.Duration { return 0 }
	cfg.DeadLetter = func(_ string, body []byte, a map[string]string) error {
		a = maps.Clone(a)
		a["body"] = string(body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.letters = append(r.letters, a)
		return nil
	}
	s, err := scheduler.Open(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	r.t.Cleanup(func() { srv.Close(); s.Close() })
	r.s = s
	r.Client = sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: aws.String(srv.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("fn-test", "x", "")})
}

func (r *rig) Enqueue(_ context.Context, function, trigger string, payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, function+" | "+trigger+" | "+string(payload))
	return nil
}

func (r *rig) put(entries []bus.Entry) ([]bus.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failing) > 0 {
		code := r.failing[0]
		r.failing = r.failing[1:]
		if code == "error" {
			return nil, errors.New("bus away")
		}
		return []bus.Result{{ErrorCode: code, ErrorMessage: "no"}}, nil
	}
	e := entries[0]
	r.sent = append(r.sent, fmt.Sprintf("%s %s %s %s", e.Bus, e.Source, e.DetailType, e.Detail))
	return []bus.Result{{EventID: "1"}}, nil
}

// at moves the clock, fires what is due, and returns what was sent since.
func (r *rig) at(clock string) []string {
	r.t.Helper()
	now, err := time.Parse(time.DateTime, clock)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.now, r.sent = now, nil
	r.mu.Unlock()
	r.s.Tick(now)
	if err := r.s.Drain(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(r.sent)
	return r.sent
}

func event(name, expression string) *sdk.CreateScheduleInput {
	return &sdk.CreateScheduleInput{Name: &name, ScheduleExpression: &expression, FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		ActionAfterCompletion: types.ActionAfterCompletionDelete,
		Target: &types.Target{Arn: aws.String(busARN), RoleArn: aws.String(roleARN), Input: aws.String(`{"n":"` + name + `"}`),
			EventBridgeParameters: &types.EventBridgeParameters{DetailType: aws.String("Due"), Source: aws.String("app")}}}
}

func (r *rig) create(in *sdk.CreateScheduleInput) {
	r.t.Helper()
	if _, err := r.CreateSchedule(r.t.Context(), in); err != nil {
		r.t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code, message string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), message) {
		t.Errorf("error %v, want %s with %q", err, code, message)
	}
}

func TestOneTimeFiresOnceAndGoes(t *testing.T) {
	r := start(t, scheduler.Config{})
	r.create(event("once", "at(2026-01-01T12:05:00)"))
	if got := r.at("2026-01-01 12:04:59"); got != nil {
		t.Errorf("early: %v", got)
	}
	if diff := cmp.Diff([]string{`default app Due {"n":"once"}`}, r.at("2026-01-01 12:05:00")); diff != "" {
		t.Error(diff)
	}
	if got := r.at("2026-01-01 12:06:00"); got != nil {
		t.Errorf("again: %v", got)
	}
	_, err := r.GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: aws.String("once")})
	wantCode(t, err, "ResourceNotFoundException", "once")
}

func TestKeptAfterCompletion(t *testing.T) {
	r := start(t, scheduler.Config{Data: t.TempDir()})
	in := event("kept", "at(2026-01-01T12:05:00)")
	in.ActionAfterCompletion = types.ActionAfterCompletionNone
	r.create(in)
	if got := r.at("2026-01-01 12:05:30"); len(got) != 1 {
		t.Errorf("sent %v", got)
	}
	r.open()
	if got := r.at("2026-01-01 12:06:00"); got != nil {
		t.Errorf("again after a restart: %v", got)
	}
	if _, err := r.GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: aws.String("kept")}); err != nil {
		t.Error(err)
	}
}

func TestWhatFiresLocally(t *testing.T) {
	stack := &sam.Stack{Region: "us-east-1", Account: "000000000000", Schedules: []sam.Schedule{
		{Name: "sweep", Expression: "rate(1 minute)", Function: "recover", Recurring: true},
		{Name: "nightly", Expression: "cron(1 12 * * ? *)", Function: "report", Input: []byte(`{"at":"<aws.scheduler.scheduled-time>"}`), Recurring: true},
	}}
	for _, all := range []bool{false, true} {
		r := start(t, scheduler.Config{Stack: stack, FireSchedules: all})
		recurring := event("api-rate", "rate(1 minutes)")
		recurring.ActionAfterCompletion = types.ActionAfterCompletionNone
		r.create(recurring)
		r.create(event("api-once", "at(2026-01-01T12:01:00)"))
		if got := r.at("2026-01-01 12:00:59"); got != nil {
			t.Errorf("before the first period: %v", got)
		}
		var names []string
		for _, s := range r.at("2026-01-01 12:01:00") {
			names = append(names, strings.Fields(s)[0]+" "+strings.Fields(s)[3])
		}
		want := []string{`default {"n":"api-once"}`, "recover sweep"}
		if all {
			want = []string{`default {"n":"api-once"}`, `default {"n":"api-rate"}`, "recover sweep", "report nightly"}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("with FireSchedules %v: %s", all, diff)
		}
		if next := r.s.Upcoming()[0]; !next.Fires && all || next.At.IsZero() {
			t.Errorf("next %+v", next)
		}
		if all {
			if got := r.sent[3]; got != `report | schedule nightly | {"at":"2026-01-01T12:01:00Z"}` {
				t.Errorf("input %s", got)
			}
			if got := r.sent[2]; !strings.Contains(got, `"detail-type":"Scheduled Event"`) || !strings.Contains(got, `"time":"2026-01-01T12:01:00Z"`) {
				t.Errorf("own event %s", got)
			}
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	r := start(t, scheduler.Config{})
	tests := []struct {
		name, message string
		change        func(in *sdk.CreateScheduleInput)
	}{
		{"past", "in the past", func(in *sdk.CreateScheduleInput) { in.ScheduleExpression = aws.String("at(2026-01-01T12:00:00)") }},
		{"past in its zone", "in the past", func(in *sdk.CreateScheduleInput) {
			in.ScheduleExpression, in.ScheduleExpressionTimezone = aws.String("at(2026-01-01T12:30:00)"), aws.String("Europe/Zurich")
		}},
		{"offset inside", "without a zone", func(in *sdk.CreateScheduleInput) { in.ScheduleExpression = aws.String("at(2026-01-02T12:00:00Z)") }},
		{"zone", "Timezone", func(in *sdk.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Mars/Olympus") }},
		{"long name", "'Name'", func(in *sdk.CreateScheduleInput) { in.Name = aws.String(strings.Repeat("n", 65)) }},
		{"name with a colon", "'Name'", func(in *sdk.CreateScheduleInput) { in.Name = aws.String("a:b") }},
		{"name with an accent", "'Name'", func(in *sdk.CreateScheduleInput) { in.Name = aws.String("é") }},
		{"token", "'ClientToken'", func(in *sdk.CreateScheduleInput) { in.ClientToken = aws.String("a b") }},
		{"start", "StartDate", func(in *sdk.CreateScheduleInput) {
			in.ScheduleExpression, in.StartDate = aws.String("rate(5 minutes)"), aws.Time(time.Date(2026, 1, 1, 11, 54, 0, 0, time.UTC))
		}},
		{"end", "EndDate", func(in *sdk.CreateScheduleInput) {
			in.ScheduleExpression, in.EndDate = aws.String("rate(5 minutes)"), aws.Time(time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC))
		}},
		{"delete without an end", "needs an EndDate", func(in *sdk.CreateScheduleInput) { in.ScheduleExpression = aws.String("rate(5 minutes)") }},
		{"never", "never runs", func(in *sdk.CreateScheduleInput) {
			in.ScheduleExpression, in.ActionAfterCompletion = aws.String("cron(0 0 30 2 ? *)"), types.ActionAfterCompletionNone
		}},
		{"window", "MaximumWindowInMinutes", func(in *sdk.CreateScheduleInput) { in.FlexibleTimeWindow.Mode = types.FlexibleTimeWindowModeFlexible }},
		{"no parameters", "EventBridgeParameters must be provided", func(in *sdk.CreateScheduleInput) { in.Target.EventBridgeParameters = nil }},
		{"source", "aws.", func(in *sdk.CreateScheduleInput) { in.Target.EventBridgeParameters.Source = aws.String("aws.x") }},
		{"detail type", "between 1 and 128", func(in *sdk.CreateScheduleInput) {
			in.Target.EventBridgeParameters.DetailType = aws.String(strings.Repeat("x", 129))
		}},
		{"input", "valid JSON", func(in *sdk.CreateScheduleInput) { in.Target.Input = aws.String("hello") }},
		{"role", "RoleArn", func(in *sdk.CreateScheduleInput) { in.Target.RoleArn = aws.String("scheduler") }},
		{"target", "not in correct format", func(in *sdk.CreateScheduleInput) { in.Target.Arn = aws.String("default") }},
		{"large", "at most 262144 bytes", func(in *sdk.CreateScheduleInput) {
			in.Target.Input = aws.String(`{"a":"` + strings.Repeat("x", 256<<10) + `"}`)
		}},
		{"retries", "between 0 and 185", func(in *sdk.CreateScheduleInput) {
			in.Target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(186)}
		}},
		{"description", "512", func(in *sdk.CreateScheduleInput) { in.Description = aws.String(strings.Repeat("x", 513)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := event("ok", "at(2026-01-02T12:00:00)")
			tt.change(in)
			_, err := r.CreateSchedule(t.Context(), in)
			wantCode(t, err, "ValidationException", tt.message)
		})
	}
	in := event("ok", "at(2026-01-02T12:00:00)")
	in.GroupName = aws.String("nobody")
	_, err := r.CreateSchedule(t.Context(), in)
	wantCode(t, err, "ResourceNotFoundException", "nobody")
	r.create(event(strings.Repeat("n", 64), "at(2026-01-02T12:00:00)"))
}

func TestCreateUpdateDelete(t *testing.T) {
	r := start(t, scheduler.Config{Data: t.TempDir()})
	in := event("move", "at(2026-01-01T12:10:00)")
	in.ClientToken, in.Description = aws.String("t1"), aws.String("first")
	for range 2 { // a repetition with its token is the same request
		r.create(in)
	}
	other := event("move", "at(2026-01-01T12:11:00)")
	other.ClientToken = aws.String("t2")
	_, err := r.CreateSchedule(t.Context(), other)
	var taken *types.ConflictException
	if !errors.As(err, &taken) {
		t.Fatalf("second create: %v", err)
	}
	if _, err := r.UpdateSchedule(t.Context(), &sdk.UpdateScheduleInput{Name: in.Name, ScheduleExpression: aws.String("at(2026-01-01T12:20:00)"), FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target}); err != nil {
		t.Fatal(err)
	}
	got, err := r.GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: in.Name})
	if err != nil {
		t.Fatal(err)
	}
	if got.Description != nil || got.ActionAfterCompletion != types.ActionAfterCompletionNone || *got.Arn != "arn:aws:scheduler:us-east-1:000000000000:schedule/default/move" ||
		*got.ScheduleExpressionTimezone != "UTC" || !got.CreationDate.Equal(r.now) || *got.Target.EventBridgeParameters.Source != "app" {
		t.Errorf("an update replaces everything: %+v", got)
	}
	r.open() // without Close, as after kill -9
	if sent := r.at("2026-01-01 12:10:00"); sent != nil {
		t.Errorf("fired at its old time: %v", sent)
	}
	if _, err := r.DeleteSchedule(t.Context(), &sdk.DeleteScheduleInput{Name: in.Name}); err != nil {
		t.Fatal(err)
	}
	_, err = r.DeleteSchedule(t.Context(), &sdk.DeleteScheduleInput{Name: in.Name})
	wantCode(t, err, "ResourceNotFoundException", "move")
	_, err = r.UpdateSchedule(t.Context(), &sdk.UpdateScheduleInput{Name: in.Name, ScheduleExpression: aws.String("at(2026-01-01T12:20:00)"), FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target})
	wantCode(t, err, "ResourceNotFoundException", "move")
	if sent := r.at("2026-01-01 12:20:00"); sent != nil {
		t.Errorf("fired after its end: %v", sent)
	}
}

func TestDueDuringADowntimeFiresAtStart(t *testing.T) {
	r := start(t, scheduler.Config{Data: t.TempDir(), FireSchedules: true})
	r.create(event("owed", "at(2026-01-01T12:10:00)"))
	recurring := event("often", "rate(5 minutes)")
	recurring.EndDate = aws.Time(time.Date(2026, 1, 1, 13, 1, 0, 0, time.UTC))
	r.create(recurring)
	r.s.Close()
	r.mu.Lock()
	r.now = time.Date(2026, 1, 1, 12, 57, 0, 0, time.UTC)
	r.mu.Unlock()
	r.open()
	if diff := cmp.Diff([]string{`default app Due {"n":"owed"}`}, r.at("2026-01-01 12:57:01")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`default app Due {"n":"often"}`}, r.at("2026-01-01 13:00:10")); diff != "" {
		t.Error(diff)
	}
	if got := r.at("2026-01-01 13:05:00"); got != nil {
		t.Errorf("after its end: %v", got)
	}
	_, err := r.GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: aws.String("often")})
	wantCode(t, err, "ResourceNotFoundException", "often")
}

func TestRetriesAndDeadLetters(t *testing.T) {
	tests := []struct {
		name, code string
		fails      int
		sent       int
		want       map[string]string
	}{
		{"a retry helps", "InternalFailure", 2, 1, nil},
		{"the call fails", "error", 2, 1, nil},
		{"retries run out", "InternalFailure", 3, 0, map[string]string{"RETRY_ATTEMPTS": "2", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts"}},
		{"no retry helps", "MalformedDetail", 1, 0, map[string]string{"RETRY_ATTEMPTS": "0", "EXHAUSTED_RETRY_CONDITION": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, scheduler.Config{})
			in := event("once", "at(2026-01-01T12:05:00)")
			in.Target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(2)}
			in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: aws.String("arn:aws:sqs:us-east-1:000000000000:dead")}
			r.create(in)
			r.mu.Lock()
			r.failing = slices.Repeat([]string{tt.code}, tt.fails)
			r.mu.Unlock()
			if got := r.at("2026-01-01 12:05:00"); len(got) != tt.sent {
				t.Errorf("sent %v", got)
			}
			if tt.want == nil {
				if len(r.letters) > 0 {
					t.Errorf("letters %v", r.letters)
				}
				return
			}
			if len(r.letters) != 1 || r.letters[0]["body"] != `{"n":"once"}` || r.letters[0]["SCHEDULED_TIME"] != "2026-01-01T12:05:00Z" {
				t.Fatalf("letters %v", r.letters)
			}
			for k, v := range tt.want {
				if r.letters[0][k] != v {
					t.Errorf("%s = %q, want %q", k, r.letters[0][k], v)
				}
			}
		})
	}
}

func TestGroupsAndLists(t *testing.T) {
	r := start(t, scheduler.Config{Data: t.TempDir()})
	if _, err := r.CreateScheduleGroup(t.Context(), &sdk.CreateScheduleGroupInput{Name: aws.String("g1")}); err != nil {
		t.Fatal(err)
	}
	_, err := r.CreateScheduleGroup(t.Context(), &sdk.CreateScheduleGroupInput{Name: aws.String("g1")})
	wantCode(t, err, "ConflictException", "g1")
	for i := range 5 {
		in := event(fmt.Sprint("s", i), "at(2026-01-02T12:00:00)")
		in.GroupName = aws.String("g1")
		r.create(in)
	}
	r.create(event("s0", "at(2026-01-02T12:00:00)")) // another group: another schedule
	r.open()
	var names []string
	pages := sdk.NewListSchedulesPaginator(r.Client, &sdk.ListSchedulesInput{GroupName: aws.String("g1"), MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Schedules {
			names = append(names, *one.Name)
		}
	}
	if diff := cmp.Diff([]string{"s0", "s1", "s2", "s3", "s4"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := r.DeleteScheduleGroup(t.Context(), &sdk.DeleteScheduleGroupInput{Name: aws.String("g1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.DeleteScheduleGroup(t.Context(), &sdk.DeleteScheduleGroupInput{Name: aws.String("default")}); err == nil {
		t.Error("the default group was deleted")
	}
	r.open()
	all, err := r.ListSchedules(t.Context(), &sdk.ListSchedulesInput{})
	if err != nil || len(all.Schedules) != 1 || *all.Schedules[0].GroupName != "default" {
		t.Errorf("left %+v, %v", all, err)
	}
	groups, err := r.ListScheduleGroups(t.Context(), &sdk.ListScheduleGroupsInput{})
	if err != nil || len(groups.ScheduleGroups) != 2 {
		t.Errorf("groups %+v, %v", groups, err)
	}
}

func TestTheClockRunsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := &rig{t: t}
		s, err := scheduler.Open(scheduler.Config{Invoker: calls, Stack: &sam.Stack{Region: "us-east-1", Account: "000000000000",
			Schedules: []sam.Schedule{{Name: "sweep", Expression: "rate(1 minute)", Function: "recover", Recurring: true}}}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*time.Minute + 2*time.Second)
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(calls.sent) != 3 {
			t.Errorf("fired %d times in three minutes", len(calls.sent))
		}
	})
}

func TestFunctionTarget(t *testing.T) {
	r := start(t, scheduler.Config{})
	in := event("call", "at(2026-01-01T12:05:00)")
	in.Target = &types.Target{Arn: aws.String(functionARN), RoleArn: aws.String(roleARN), Input: aws.String(`{"arn":"<aws.scheduler.schedule-arn>","try":<aws.scheduler.attempt-number>}`)}
	r.create(in)
	want := `remind | schedule call | {"arn":"arn:aws:scheduler:us-east-1:000000000000:schedule/default/call","try":1}`
	if diff := cmp.Diff([]string{want}, r.at("2026-01-01 12:05:00")); diff != "" {
		t.Error(diff)
	}
}
