package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	apitypes "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func publish(t *testing.T, b *fake.Bus, entries ...ebtypes.PutEventsRequestEntry) (*eventbridge.PutEventsOutput, error) {
	t.Helper()
	return b.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries})
}

func TestBusEntries(t *testing.T) {
	from := func(source string) ebtypes.PutEventsRequestEntry {
		e := entry("A", "{}")
		e.Source = &source
		return e
	}
	tests := []struct {
		name  string
		entry ebtypes.PutEventsRequestEntry
		want  string
	}{
		{"fine", entry("A", `{"a":1}`), ""},
		{"detail is no object", entry("A", `[1]`), "MalformedDetail"},
		{"detail is null", entry("A", `null`), "MalformedDetail"},
		{"detail is no JSON", entry("A", `{`), "MalformedDetail"},
		{"128 characters", entry(strings.Repeat("é", 128), `{}`), ""},
		{"129 characters", entry(strings.Repeat("é", 129), `{}`), "InvalidArgument"},
		{"no source", from(""), "InvalidArgument"},
		{"source of AWS", from("aws.ec2"), "NotAuthorizedForSourceException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := publish(t, &fake.Bus{}, entry("First", "{}"), tt.entry)
			if err != nil {
				t.Fatal(err)
			}
			if got := aws.ToString(out.Entries[1].ErrorCode); got != tt.want || out.Entries[0].EventId == nil {
				t.Errorf("entry = %q, want %q; the first must be accepted", got, tt.want)
			}
			if failed := tt.want != ""; failed != (out.FailedEntryCount == 1) {
				t.Errorf("FailedEntryCount = %d", out.FailedEntryCount)
			}
		})
	}
}

func TestBusCalls(t *testing.T) {
	eleven := make([]ebtypes.PutEventsRequestEntry, 11)
	for i := range eleven {
		eleven[i] = entry("A", "{}")
	}
	large := `{"x":"` + strings.Repeat("x", 600*1024) + `"}`
	for name, entries := range map[string][]ebtypes.PutEventsRequestEntry{"none": nil, "eleven": eleven, "over 1 MB": {entry("A", large), entry("A", large)}} {
		if _, err := publish(t, &fake.Bus{}, entries...); codeOf(err) != "ValidationException" {
			t.Errorf("%s = %v, want ValidationException", name, err)
		}
	}
}

func TestP17BusFaults(t *testing.T) {
	throttled := 0
	b := &fake.Bus{Names: []string{"default"}, FailEntry: func(e fake.Event) string {
		if e.DetailType == "Throttled" && throttled == 0 {
			throttled++
			return "ThrottlingException"
		}
		return ""
	}}
	out, err := publish(t, b, entry("A", "{}"), entry("Throttled", "{}"))
	if err != nil || out.FailedEntryCount != 1 || aws.ToString(out.Entries[1].ErrorCode) != "ThrottlingException" {
		t.Fatalf("PutEvents = %+v, %v, want entry 1 throttled", out, err)
	}
	if out, _ = publish(t, b, entry("Throttled", "{}")); out.FailedEntryCount != 0 {
		t.Errorf("again = %+v, want success", out)
	}
	elsewhere := entry("B", "{}")
	elsewhere.EventBusName = aws.String("typo")
	if out, _ = publish(t, b, elsewhere); out.FailedEntryCount != 0 || len(b.Lost()) != 1 || len(b.Of("B")) != 0 {
		t.Errorf("an unknown bus = %+v, lost %v, want success and nothing delivered", out, b.Lost())
	}
}

func TestDrain(t *testing.T) {
	w := &fake.World{}
	b := &fake.Bus{
		World:     w,
		Duplicate: func(e fake.Event) int { return map[string]int{"Twice": 1}[e.DetailType] },
		Drop:      func(e fake.Event) bool { return e.DetailType == "Dropped" },
		Order:     func(x, y fake.Event) int { return strings.Compare(y.DetailType, x.DetailType) },
	}
	if _, err := publish(t, b, entry("Once", "{}"), entry("Twice", "{}"), entry("Dropped", "{}"), entry("Fails", "{}")); err != nil {
		t.Fatal(err)
	}
	w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Worker: "delivery-1", Mode: fake.KillAfter})
	var seen []string
	count, err := b.Drain(t.Context(), func(ctx context.Context, e fake.Event) error {
		seen = append(seen, fake.WorkerName(ctx)+" "+e.DetailType)
		switch e.DetailType {
		case "Twice":
			_, err := b.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{entry("Follows", "{}")}})
			return err
		case "Fails":
			return errors.New("no")
		}
		return nil
	})
	// The first delivery of Twice dies after it put its event, so it is delivered again, after its duplicate.
	want := []string{
		"delivery-1 Twice", "delivery-2 Twice", "delivery-3 Twice", "delivery-4 Once", "delivery-5 Follows",
		"delivery-6 Follows", "delivery-7 Follows", "delivery-8 Fails", "delivery-9 Fails", "delivery-10 Fails",
	}
	if diff := cmp.Diff(want, seen); diff != "" || err != nil || count != len(want) {
		t.Errorf("Drain = %d, %v; deliveries (-want +got):\n%s", count, err, diff)
	}
	if len(b.DeadLetters()) != 1 || len(b.Waiting()) != 0 {
		t.Errorf("dead letters = %v, waiting = %v", b.DeadLetters(), b.Waiting())
	}
}

func TestEventAsAFunctionGetsIt(t *testing.T) {
	b := &fake.Bus{}
	if _, err := publish(t, b, entry("A", `{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	want := `{"version":"0","id":"00000000-0000-4000-8000-000000000001","detail-type":"A","source":"toy","account":"000000000000",` +
		`"time":"2026-01-01T00:00:00Z","region":"us-east-1","resources":[],"detail":{"a":1}}`
	if got := string(b.Events()[0].JSON()); got != want {
		t.Errorf("JSON() = %s, want %s", got, want)
	}
}

func post(ctx context.Context, c *fake.Connections, id, data string) error {
	_, err := c.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: &id, Data: []byte(data)})
	return err
}

func TestConnections(t *testing.T) {
	w := &fake.World{}
	c := &fake.Connections{World: w}
	c.Open("c1", "c2")
	if err := errors.Join(post(t.Context(), c, "c1", "a"), post(t.Context(), c, "c1", "b"), post(t.Context(), c, "c2", "c")); err != nil {
		t.Fatal(err)
	}
	c.Close("c1")
	var gone *apitypes.GoneException
	if err := post(t.Context(), c, "c1", "late"); !errors.As(err, &gone) || status(err) != http.StatusGone {
		t.Errorf("closed = %v", err)
	}
	c.Bare = true
	if err := post(t.Context(), c, "never", "x"); errors.As(err, &gone) || status(err) != http.StatusGone {
		t.Errorf("bare 410 = %v, want the status alone", err)
	}
	if err := post(t.Context(), c, "c2", strings.Repeat("x", fake.MaxFrameBytes+1)); status(err) != http.StatusRequestEntityTooLarge {
		t.Errorf("over a frame = %v", err)
	}
	w.FailNext("conn.", fake.ErrThrottled)
	if err := post(t.Context(), c, "c2", "x"); status(err) != http.StatusTooManyRequests {
		t.Errorf("throttled = %v", err)
	}
	c.Forbidden = true
	if err := post(t.Context(), c, "c2", "x"); status(err) != http.StatusForbidden {
		t.Errorf("forbidden = %v", err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, [][]string{c.Posts("c1"), c.Posts("c2")}); diff != "" {
		t.Error(diff)
	}
}

func status(err error) int {
	var r *smithyhttp.ResponseError
	if !errors.As(err, &r) {
		return 0
	}
	return r.HTTPStatusCode()
}

func TestConnectionDelaysAndOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fake.Connections{Delay: func(string) time.Duration { return time.Second }}
		c.Open("c")
		began := time.Now()
		go func() { _ = post(t.Context(), c, "c", "first") }()
		synctest.Wait()
		if err := post(t.Context(), c, "c", "second"); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second || c.Overlaps() != 1 {
			t.Errorf("took %v with %d overlaps, want 1s and 1", took, c.Overlaps())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := post(ctx, c, "c", "given up"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up = %v", err)
		}
		if got := c.Posts("c"); len(got) != 2 {
			t.Errorf("posts = %v, want two", got)
		}
	})
}

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
	if err != nil || *got.ScheduleExpression != "at(2026-03-01T00:00:00)" || got.ActionAfterCompletion != "" {
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

func request(text string) model.Request {
	return model.Request{Messages: []model.Message{model.Text(model.User, text)}}
}

// listen writes what a stream gives, an error as its code.
func listen(ctx context.Context, m *fake.Model, req model.Request) string {
	var out []string
	for e, err := range m.Stream(ctx, req) {
		switch e := e.(type) {
		case model.TextDelta:
			out = append(out, e.Text)
		case model.ToolStart:
			out = append(out, "call "+e.Name)
		case model.ToolInput:
			out = append(out, e.JSON)
		case model.Stop:
			out = append(out, "("+string(e.Reason)+")")
		}
		switch {
		case errors.Is(err, fake.ErrKilled):
			out = append(out, "killed")
		case err != nil:
			out = append(out, "error "+string(fault.CodeOf(err)))
		}
	}
	return strings.Join(out, " ")
}

func TestModel(t *testing.T) {
	call := model.ToolUse{ID: "t1", Name: "look", Input: json.RawMessage(`{"a":1}`)}
	say := fake.Say("one", "two", "three")
	tests := []struct {
		name string
		turn fake.Turn
		want string
	}{
		{"text in pieces", say, "one two three (end_turn)"},
		{"a call", fake.Calls("let me", call), `let me call look {"a ":1} (tool_use)`},
		{"parallel calls", fake.Calls("", call, call), `call look {"a ":1} call look {"a ":1} (tool_use)`},
		{"a call and another reason", fake.Calls("", call).Stopping(model.EndTurn), `call look {"a ":1} (end_turn)`},
		{"silent close", say.Cut(2), "one two"},
		{"error after a piece", say.Failing(1, fault.New(fault.Unavailable, "throttled")), "one error unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &fake.Model{Script: []fake.Turn{tt.turn}}
			if got := listen(t.Context(), m, request("hi")); got != tt.want {
				t.Errorf("stream = %s, want %s", got, tt.want)
			}
			if got := listen(t.Context(), m, request("more")); got != "error internal" {
				t.Errorf("past the script = %s", got)
			}
			if len(m.Requests()) != 2 || m.Requests()[1].Messages[0].PlainText() != "more" {
				t.Errorf("requests = %v", m.Requests())
			}
		})
	}
}

func TestModelIsStrict(t *testing.T) {
	m := &fake.Model{Answer: func(r model.Request) fake.Turn { return fake.Say("you said " + r.Messages[0].PlainText()) }}
	if got := listen(t.Context(), m, request("hi")); got != "you said hi (end_turn)" {
		t.Errorf("stream = %s", got)
	}
	if got := listen(t.Context(), m, request("  ")); got != "error invalid" || len(m.Refused()) != 1 {
		t.Errorf("a blank message = %s, refused %v", got, m.Refused())
	}
}

func TestModelDisturbed(t *testing.T) {
	w := &fake.World{}
	m := &fake.Model{World: w, Answer: func(model.Request) fake.Turn { return fake.Say("one", "two", "three") }}
	w.LoseAnswer(1)
	if got := listen(t.Context(), m, request("hi")); got != "one two three error unavailable" {
		t.Errorf("lost = %s, want the stream to break off", got)
	}
	w.FailAt(2, fake.ErrThrottled)
	if got := listen(t.Context(), m, request("hi")); got != "error unavailable" {
		t.Errorf("throttled = %s", got)
	}
	w.KillAfter(3)
	if got := listen(fake.WithWorker(t.Context(), "w"), m, request("hi")); got != "one two three killed" {
		t.Errorf("killed = %s", got)
	}
}

func TestModelWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		m := &fake.Model{Script: []fake.Turn{fake.Say("one", "two").Pausing(time.Second).Waiting(1, until)}}
		var got string
		go func() { got = listen(t.Context(), m, request("hi")) }()
		time.Sleep(time.Hour)
		began := time.Now()
		close(until)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if got != "one two (end_turn)" || time.Since(began) != 4*time.Second {
			t.Errorf("stream = %q after %v", got, time.Since(began))
		}
	})
}

func TestClock(t *testing.T) {
	c := &fake.Clock{}
	if c.Now() != fake.Start() || c.Advance(time.Hour) != fake.Start().Add(time.Hour) {
		t.Errorf("Now = %v", c.Now())
	}
	synctest.Test(t, func(t *testing.T) {
		c := &fake.Clock{Follow: true}
		c.Set(fake.Start().Add(time.Minute))
		time.Sleep(time.Second)
		if got := c.Now().Sub(fake.Start()); got != time.Minute+time.Second {
			t.Errorf("a following clock moved %v", got)
		}
	})
}
