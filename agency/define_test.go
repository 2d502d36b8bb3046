package agency_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

func TestDefineListsEveryProblem(t *testing.T) {
	_, err := agency.Define(definition{
		Source: contract.Source, TaskCap: -1, TaskCapWindow: -1, Rules: []agency.Rule{{DetailType: "Opened", Kind: "review"}},
		CheckIn: &agency.CheckIn{Schedule: agency.CheckInSchedule{TimeZone: "Nowhere/Else", Slots: []agency.CheckInSlot{{Slot: "a"}}}},
	})
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("Define = %v, want Invalid", err)
	}
	for _, want := range []string{
		"a name is needed", "Profile is needed", "Tasks are needed", "shared service's", "a task cap of -1", "a task cap window of -1ns",
		"a Table or a Store is needed", "a Bus or a Dispatch is needed", "a Bus or a Complete is needed", "the rule of Opened to review has no handler",
		"the rule of Opened to review decides nothing", "check-ins have no handler", "check-ins need Agents", "Nowhere/Else",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// What is half filled in is refused, for as it stands nothing would ever happen, and nobody would know why.
func TestDefineRefusesWhatWouldDoNothing(t *testing.T) {
	slots := func(slots ...agency.CheckInSlot) func(*definition) {
		return func(d *definition) { d.CheckIn.Schedule = agency.CheckInSchedule{TimeZone: "UTC", Slots: slots} }
	}
	for _, tt := range []struct {
		name   string
		change func(*definition)
		want   string // "": it may be
	}{
		{"more promises", func(d *definition) { d.CommitmentLimits.Active = 10 }, "PerCounterpart:0"},
		{"more promises, the rest as usual", func(d *definition) {
			d.CommitmentLimits = agency.DefaultCommitmentLimits
			d.CommitmentLimits.Active = 10
		}, ""},
		{"more of two kinds", func(d *definition) { d.CommitmentLimits.Active, d.CommitmentLimits.PerCounterpart = 10, 10 }, "ChildTasks:0"},
		{"no promise", func(d *definition) {
			d.CommitmentLimits = agency.DefaultCommitmentLimits
			d.CommitmentLimits.Active = 0
		}, ""},
		{"a cooldown that has passed", func(d *definition) {
			d.CommitmentLimits = agency.DefaultCommitmentLimits
			d.CommitmentLimits.ReconsiderCooldown = -1
		}, "ReconsiderCooldown:-1ns"},
		{"more history", func(d *definition) { d.AgendaLimits.History = 50 }, "AgendaLimits {Active:0 History:50} pursue nothing"},
		{"no history", func(d *definition) { d.AgendaLimits.Active = 5 }, ""},
		{"no handler", func(d *definition) { d.Tasks["audit"] = nil }, `the handler of "audit" is nil`},
		{"slots without names", slots(agency.CheckInSlot{Hour: 9}), "a name of its own, not \"\""},
		{"slots with one name", slots(agency.CheckInSlot{Slot: "day", Hour: 9}, agency.CheckInSlot{Slot: "day", Hour: 14}), "a name of its own, not \"day\""},
		{"no time of day", slots(agency.CheckInSlot{Slot: "late", Hour: 24}), "late is at 24:00"},
		{"a cap beyond counting", func(d *definition) { d.TaskCap = 10_000 }, "at most 2000 can be counted"},
		{"no cap", func(d *definition) { d.TaskCap = agency.NoTaskCap }, ""},
		{"two slots", slots(agency.CheckInSlot{Slot: "early", Hour: 9, Minute: 30}, agency.CheckInSlot{Slot: "late", Hour: 23, Minute: 59}), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := agency.Define(newWorld(nil).definition(tt.change))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Define = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestIsRetryable(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"a throttle of a service", fmt.Errorf("call: %w", &smithy.GenericAPIError{Code: "ThrottlingException"}), true},
		{"a refusal of a service", &smithy.GenericAPIError{Code: "AccessDeniedException"}, false},
		{"a fault that passes", fault.New(fault.Unavailable, "x"), true},
		{"a fault that stays", fault.New(fault.Invalid, "x"), false},
		{"a deadline", context.DeadlineExceeded, true},
		{"a worker that ends", context.Canceled, true},
		{"a reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		{"a name for now unknown", &net.DNSError{IsTemporary: true}, true},
		{"an unknown name", &net.DNSError{IsNotFound: true}, false},
		{"any other", errors.New("x"), false},
	}
	for _, tt := range tests {
		if got := agency.IsRetryable(tt.err); got != tt.want {
			t.Errorf("%s: IsRetryable = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A panic of a handler or of an observation ends the task, not the process.
func TestPanicsAreFailures(t *testing.T) {
	isolated(t, func(d *definition) {
		d.Observe = func(*ctxOf) (agency.Observation[need], error) { panic("seen") }
	}, func(t *testing.T, w *world) {
		w.review = func(*ctxOf) error { panic("done") }
		got, err := w.agent.Deliver(t.Context(), request("t1", "ann", "review"), "")
		if err != nil || got.Status != task.Failed || !strings.Contains(got.Error, "panicked") {
			t.Errorf("Deliver = %+v, %v, want FAILED", got, err)
		}
		w.review = nothing
		if got, err := w.agent.Deliver(t.Context(), request("t2", "ann", "review"), ""); err != nil || got.Status != task.Completed {
			t.Errorf("Deliver = %+v, %v, want COMPLETED although nothing could be observed", got, err)
		}
	})
}

// An agent type on memory, its tasks delivered by hand.
func ExampleDefine() {
	now := time.Date(2026, 10, 7, 12, 0, 0, 0, time.UTC)
	var sent []agency.AgentTask
	type ctx = agency.Context[string, int, string]
	reviewer, err := agency.Define(agency.Definition[string, int, string]{
		Name: "reviewer", Store: &agency.MemoryStore{}, NoResponseDelays: true, Now: func() time.Time { return now },
		Dispatch: agency.DispatchFunc(func(_ context.Context, t agency.AgentTask) error { sent = append(sent, t); return nil }),
		Complete: func(_ context.Context, c agency.Completion) error {
			fmt.Println("told:", c.Kind, c.Task.Status, c.Task.Output)
			return nil
		},
		Profile: func(context.Context, string) (agency.Profile[string], error) {
			return agency.Profile[string]{Persona: "terse"}, nil
		},
		Rules: []agency.Rule{agency.On("Pull Request Opened", "review", func(_ context.Context, e agency.Event[struct{ PR int }]) (agency.Wake, error) {
			return agency.Wake{Agents: []string{"ann"}, Request: fmt.Sprintf("Review #%d.", e.Detail.PR), Payload: e.Detail}, nil
		})},
		Tasks: map[string]func(*ctx) (string, error){
			"review": agency.WithPayload(func(c *ctx, pr struct{ PR int }) (string, error) {
				outcome, err := c.Promise(agency.Promise[string]{
					Kind: "investigate", Counterpart: "zoe", Source: agency.Said{Channel: "pr", Ref: "c1"}, Intent: "the flaky test",
					ExpiresAt: c.Now.Add(time.Hour), Request: "Investigate.",
				})
				return fmt.Sprintf("%s review of #%d, promise %s", c.Persona, pr.PR, outcome), err
			}),
			"investigate": agency.WithCommitment(func(c *ctx, com agency.Commitment[string]) (string, error) {
				_, err := c.AdvanceCommitment(com.ID, agency.Closed{Status: agency.CommitmentFulfilled, Reason: "found"})
				return "looked at " + com.Intent, err
			}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := reviewer.Route(context.Background(), contract.RawEvent{ID: "evt-1", DetailType: "Pull Request Opened", Detail: []byte(`{"PR":7}`)})
	fmt.Println(decisions[0].Decision, decisions[0].AgentID, err)
	for len(sent) > 0 {
		t := sent[0]
		sent = sent[1:]
		if _, err := reviewer.Deliver(context.Background(), t.TaskRequest(), ""); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// requested ann <nil>
	// told: review COMPLETED terse review of #7, promise created
	// told: investigate COMPLETED looked at the flaky test
}
