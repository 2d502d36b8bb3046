package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// service is a fake bus that notes of each call which events it carried, by their field n.
type service struct {
	fake.Bus
	calls [][]int
}

func (s *service) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, o ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	var numbers []int
	for _, e := range in.Entries {
		numbers = append(numbers, numberOf([]byte(*e.Detail)))
	}
	s.calls = append(s.calls, numbers)
	return s.Bus.PutEvents(ctx, in, o...)
}

func numberOf(detail []byte) int {
	var d struct{ N int }
	if err := json.Unmarshal(detail, &d); err != nil {
		panic(err)
	}
	return d.N
}

func (s *service) accepted() []int {
	var numbers []int
	for _, e := range s.Events() {
		numbers = append(numbers, numberOf(e.Detail))
	}
	slices.Sort(numbers)
	return numbers
}

func numbered(from, to int) []bus.Event {
	var events []bus.Event
	for n := from; n <= to; n++ {
		events = append(events, bus.Event{DetailType: "Thing Happened", Detail: map[string]int{"n": n}})
	}
	return events
}

func upTo(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// failing refuses event n so many times with code.
func failing(n, times int, code string) func(fake.Event) string {
	return func(e fake.Event) string {
		if numberOf(e.Detail) == n && times > 0 {
			times--
			return code
		}
		return ""
	}
}

func TestP17OnlyFailedEntriesAreSentAgain(t *testing.T) {
	tests := []struct {
		name     string
		fail     func(fake.Event) string
		calls    [][]int
		accepted []int
		code     fault.Code
		reason   string
	}{
		{"all taken", nil, [][]int{upTo(10), {11, 12}}, upTo(12), "", ""},
		{"number 4 throttled once", failing(4, 1, "ThrottlingException"), [][]int{upTo(10), {4}, {11, 12}}, upTo(12), "", ""},
		{"number 4 fails three times", failing(4, 3, "InternalFailure"), [][]int{upTo(10), {4}, {4}, {4}, {11, 12}}, upTo(12), "", ""},
		{"number 4 never gets through", failing(4, 99, "ThrottlingException"), [][]int{upTo(10), {4}, {4}, {4}},
			[]int{1, 2, 3, 5, 6, 7, 8, 9, 10}, fault.Unavailable, ""},
		{"number 4 is rejected: the others are not kept back", failing(4, 99, "MalformedDetail"), [][]int{upTo(10), {11, 12}},
			[]int{1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12}, fault.Invalid, bus.Rejected},
		{"an unknown code rejects", failing(12, 99, "SomethingNew"), [][]int{upTo(10), {11, 12}}, upTo(11), fault.Invalid, bus.Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				s.FailEntry = tt.fail
				err := bus.Bus{EventBridge: s}.Publish(t.Context(), numbered(1, 12)...)
				if fault.CodeOf(err) != tt.code || fault.ReasonOf(err) != tt.reason {
					t.Errorf("Publish = %v (%s, %q), want %q, %q", err, fault.CodeOf(err), fault.ReasonOf(err), tt.code, tt.reason)
				}
				if diff := cmp.Diff(tt.calls, s.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.accepted, s.accepted()); diff != "" {
					t.Errorf("accepted (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A rejected entry beside a throttled one: the throttled one is still sent again, and the answer is that one can never be taken.
func TestRejectedAndThrottledInOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		throttle := failing(2, 1, "ThrottlingException")
		s.FailEntry = func(e fake.Event) string {
			if numberOf(e.Detail) == 1 {
				return "MalformedDetail"
			}
			return throttle(e)
		}
		err := bus.Bus{EventBridge: s}.Publish(t.Context(), numbered(1, 3)...)
		if fault.ReasonOf(err) != bus.Rejected {
			t.Errorf("Publish = %v, want rejected", err)
		}
		if diff := cmp.Diff([][]int{{1, 2, 3}, {2}}, s.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestCallThatFailsAsAWhole(t *testing.T) {
	for _, cause := range []error{fake.ErrThrottled, fake.ErrLost} {
		s := &service{}
		s.World = &fake.World{}
		s.World.FailNext("bus.PutEvents", cause)
		err := bus.Bus{EventBridge: s}.Publish(t.Context(), numbered(1, 12)...)
		if !fault.Retryable(err) || len(s.calls) != 1 {
			t.Errorf("%v: Publish = %v after %d calls, want Unavailable after 1", cause, err, len(s.calls))
		}
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the invocation ends")
		s := &service{}
		s.FailEntry = func(fake.Event) string { cancel(gone); return "ThrottlingException" }
		err := bus.Bus{EventBridge: s}.Publish(ctx, numbered(1, 1)...)
		if !errors.Is(err, gone) || !fault.Retryable(err) || len(s.calls) != 1 {
			t.Errorf("Publish = %v after %d calls, want Unavailable because of the context after 1", err, len(s.calls))
		}
	})
}

func TestBatchesStayWithinOneMegabyte(t *testing.T) {
	s := &service{}
	var events []bus.Event
	for n := range 9 {
		events = append(events, bus.Event{DetailType: "Big", Detail: map[string]any{"n": n, "text": strings.Repeat("x", 190_000)}})
	}
	if err := (bus.Bus{EventBridge: s}).Publish(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}}, s.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNothingToPublishIsNoCall(t *testing.T) {
	s := &service{}
	if err := (bus.Bus{EventBridge: s}).Publish(t.Context()); err != nil || len(s.calls) != 0 {
		t.Errorf("Publish() = %v after %d calls, want none", err, len(s.calls))
	}
}

func TestADetailThatIsNoJSON(t *testing.T) {
	s := &service{}
	err := bus.Bus{EventBridge: s}.Publish(t.Context(), bus.Event{DetailType: "Odd", Detail: func() {}})
	if !fault.Is(err, fault.Internal) || len(s.calls) != 0 {
		t.Errorf("Publish = %v after %d calls, want Internal before any", err, len(s.calls))
	}
}

func TestNamesAndDefaults(t *testing.T) {
	tests := []struct {
		env          string // EVENT_BUS_NAME
		bus          bus.Bus
		name, source string
	}{
		{"", bus.Bus{}, "default", "readysetcloud.agent"},
		{"theirs", bus.Bus{}, "theirs", "readysetcloud.agent"},
		{"theirs", bus.Bus{Name: "mine", Source: "acme.agents"}, "mine", "acme.agents"},
	}
	for _, tt := range tests {
		t.Setenv("EVENT_BUS_NAME", tt.env)
		s := &fake.Bus{}
		tt.bus.EventBridge = s
		if err := tt.bus.RunTurn(t.Context(), "s-1"); err != nil {
			t.Fatal(err)
		}
		if e := s.Events()[0]; e.Bus != tt.name || e.Source != tt.source || e.DetailType != contract.RunAgentTurn {
			t.Errorf("on %q from %q: %q; want on %q from %q", e.Bus, e.Source, e.DetailType, tt.name, tt.source)
		}
	}
}

func TestWhatIsAskedAndTold(t *testing.T) {
	s := &fake.Bus{}
	b := bus.Bus{EventBridge: s}
	ctx := t.Context()
	taskID, err1 := b.RequestTask(ctx, task.Request{TaskID: "t-1", Principal: task.User("u"), Request: "do it", Tools: []string{}})
	sessionID, err2 := b.RequestSession(ctx, session.Config{SessionID: "s-1", UserID: "u", Title: "Demo"})
	err3 := b.EmitTaskCompleted(ctx, task.Task{TaskID: "t-1", Status: task.Failed, Error: "boom", Principal: task.System("x")})
	deliveryID, err4 := b.SendMessage(ctx, "hooks", task.System("x"), contract.Message{ContinuationToken: "pr:1", Text: "Why?", DeliveryID: "d-1", Files: map[string]string{"a": "b"}})
	if err := errors.Join(err1, err2, err3, err4, b.RunTurn(ctx, "s-1")); err != nil || taskID != "t-1" || sessionID != "s-1" || deliveryID != "d-1" {
		t.Fatalf("ids %q, %q, error %v", taskID, sessionID, err)
	}
	want := []string{
		`Run Agent Task {"taskId":"t-1","principal":{"type":"user","id":"u"},"request":"do it","tools":[]}`,
		`Create Agent Session {"sessionId":"s-1","userId":"u","title":"Demo"}`,
		`Agent Task Completed {"taskId":"t-1","status":"FAILED","error":"boom","principal":{"type":"system","id":"x"}}`,
		`Send Agent Message {"channel":"hooks","continuationToken":"pr:1","message":"Why?","principal":{"type":"system","id":"x"},"deliveryId":"d-1","files":{"a":"b"}}`,
		`Run Agent Turn {"sessionId":"s-1"}`,
	}
	var got []string
	for _, e := range s.Events() {
		got = append(got, fmt.Sprintf("%s %s", e.DetailType, e.Detail))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestIDsAreMadeWhenMissing(t *testing.T) {
	b := bus.Bus{EventBridge: &fake.Bus{}}
	first, err1 := b.RequestTask(t.Context(), task.Request{Request: "x"})
	second, err2 := b.RequestSession(t.Context(), session.Config{})
	if err := errors.Join(err1, err2); err != nil || len(first) != 36 || len(second) != 36 || first == second {
		t.Errorf("ids %q and %q, error %v; want two UUIDs", first, second, err)
	}
	if strings.HasPrefix(second, contract.TaskSessionPrefix) {
		t.Errorf("a session got the id %q", second)
	}
}
