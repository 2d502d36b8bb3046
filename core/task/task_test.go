package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

func TestSweep(t *testing.T) {
	tests := []struct {
		state string
		want  task.Remedy
		what  string
	}{
		{"pending", task.Resend, "dueSk=5m0s"},
		{"pending, rejected too often", task.GiveUp,
			`status=FAILED error=dispatch_exhausted updatedAt=0s expiresAt=24h0m0s fence=1 failedBy=["d1"] completionOwed=1 dueSk=0s`},
		{"running", task.LeaveAlone, "dueSk=35s"},
		{"running, lease over", task.Resend, "dueSk=5m0s"},
		{"running, lease over, rejected too often", task.GiveUp,
			`status=FAILED error=dispatch_exhausted updatedAt=0s expiresAt=24h0m0s owner=- fence=2 leaseUntil=- failedBy=["d1"] completionOwed=2 dueSk=0s`},
		{"running, within the margin", task.LeaveAlone, "dueSk=0s"},
		{"running, rejected too often", task.LeaveAlone, "dueSk=35s"},
		{"bound", task.LeaveAlone, ""},
		{"completed, owed", task.Announce, "dueSk=5m0s"},
		{"completed", task.LeaveAlone, ""},
		{"failed, owed", task.Announce, "dueSk=5m0s"},
		{"failed, owed, rejected too often", task.Announce, "dueSk=5m0s"},
		{"given back", task.Resend, "dueSk=5m0s"},
		{"given back, rejected too often", task.GiveUp,
			`error=dispatch_exhausted updatedAt=0s expiresAt=24h0m0s fence=2 failedBy=["d1"] retryable=- completionOwed=2 dueSk=0s`},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			name, often := strings.CutSuffix(tt.state, ", rejected too often")
			r := named(t, name)
			if often {
				r.Rejects = task.MaxAttempts
			}
			remedy, c := r.Sweep(now, 5*time.Minute)
			got := ""
			if c.To.TaskID != "" {
				got = changes(c.From, c.To)
			}
			if remedy != tt.want || got != tt.what {
				t.Errorf("Sweep = %s, %s; want %s, %s", remedy, got, tt.want, tt.what)
			}
		})
	}
}

func named(t *testing.T, name string) task.Task {
	t.Helper()
	all := states()
	i := slices.IndexFunc(all, func(s state) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("there is no state %q", name)
	}
	return all[i].Task
}

// A due time that nothing stands behind any more is taken away.
func TestSweepOfADueTimeThatMeansNothing(t *testing.T) {
	for _, name := range []string{"bound", "completed", "failed", "cancelled", "running, the package's"} {
		remedy, c := due(named(t, name), time.Second).Sweep(now, time.Minute)
		if got := changes(c.From, c.To); remedy != task.LeaveAlone || got != "dueSk=-" {
			t.Errorf("%s: Sweep = %s, %s; want it left alone and not due", name, remedy, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour}
	for n, d := range want {
		if got := task.Backoff(int64(n)); got != d {
			t.Errorf("Backoff(%d) = %s, want %s", n, got, d)
		}
	}
	if low, high := task.Backoff(-5), task.Backoff(1<<62); low != 30*time.Second || high != time.Hour {
		t.Errorf("Backoff(-5), Backoff(2^62) = %s, %s; want 30s, 1h", low, high)
	}
}

func TestTheNewest32FailedDeliveriesAreKept(t *testing.T) {
	r := named(t, "failed")
	for n := 2; n <= 40; n++ {
		r = r.Announced().To
		r.CompletionOwed = 0
		r = r.Claim(request, detail, fmt.Sprint("d", n), "o", time.Minute, now).To
		before := slices.Clone(r.FailedBy)
		r = r.Finish(task.Result{Status: task.Failed, Error: "boom"}, now).To
		if len(before) != min(n-1, 32) {
			t.Fatalf("before failure %d: %d are kept", n, len(before))
		}
	}
	if len(r.FailedBy) != 32 || r.FailedBy[0] != "d9" || r.FailedBy[31] != "d40" || r.FailedFor("d8") || !r.FailedFor("d9") {
		t.Errorf("kept %q, want d9 to d40", r.FailedBy)
	}
}

// Failing shares no memory with the record it was made from.
func TestFailingLeavesTheOldListAlone(t *testing.T) {
	r := named(t, "running")
	r.FailedBy = append(make([]string, 0, 8), "d0")
	one := r.Finish(task.Result{Status: task.Failed}, now).To
	r.LastDelivery = "d9"
	two := r.Finish(task.Result{Status: task.Failed}, now).To
	if diff := cmp.Diff([][]string{{"d0", "d1"}, {"d0", "d9"}}, [][]string{one.FailedBy, two.FailedBy}); diff != "" {
		t.Errorf("failedBy (-want +got):\n%s", diff)
	}
}

// What the row says stays; what it does not say is filled in from the delivery.
func TestAClaimFillsIn(t *testing.T) {
	other := task.Request{TaskID: "t", Principal: task.User("intruder"), Request: "other", SessionID: "other", CreatedBy: "other"}
	got := named(t, "pending").Claim(other, `{"other":1}`, "d9", "o", time.Minute, now).To
	if got.Principal != request.Principal || got.Request != "do it" || got.SessionID != "s" || got.CreatedBy != "user-2" || got.Detail != `{"other":1}` {
		t.Errorf("claimed: %+v; want what the row said, and the detail as delivered", got)
	}
	got = task.Task{}.Claim(other, `{"other":1}`, "d9", "o", time.Minute, now).To
	if got.TaskID != "t" || got.Principal != other.Principal || got.Request != "other" || got.SessionID != "other" || got.CreatedBy != "other" || got.CreatedAt != ms(0) {
		t.Errorf("claimed from nothing: %+v; want what was delivered", got)
	}
}

func TestDelivery(t *testing.T) {
	trigger := &task.Trigger{EventID: "event"}
	tests := []struct {
		request task.Request
		want    string
	}{
		{task.Request{DeliveryID: "own", Trigger: trigger}, "own"},
		{task.Request{Trigger: trigger}, "event"},
		{task.Request{Trigger: &task.Trigger{}}, "envelope"},
		{task.Request{}, "envelope"},
	}
	for _, tt := range tests {
		if got := tt.request.Delivery("envelope"); got != tt.want {
			t.Errorf("Delivery = %q, want %q", got, tt.want)
		}
	}
}

func TestVisibleTo(t *testing.T) {
	tests := []struct {
		task task.Task
		sub  string
		want bool
	}{
		{task.Task{Principal: task.User("u")}, "u", true},
		{task.Task{Principal: task.User("u")}, "v", false},
		{task.Task{Principal: task.System("u")}, "u", false},
		{task.Task{Principal: task.System("x"), CreatedBy: "u"}, "u", true},
		{task.Task{Principal: task.System("x")}, "", false},
		{task.Task{}, "", false},
	}
	for _, tt := range tests {
		if got := tt.task.VisibleTo(tt.sub); got != tt.want {
			t.Errorf("VisibleTo(%q) of %v by %q = %v, want %v", tt.sub, tt.task.Principal, tt.task.CreatedBy, got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	if r := (task.Task{ExpiresAt: now.Unix()}); !r.Expired(now) || r.Expired(now.Add(-time.Second)) || (task.Task{}).Expired(now) {
		t.Error("a task is over at its second, and one without a time never")
	}
	for _, s := range states() {
		if got, want := s.Bound(), strings.HasPrefix(s.name, "bound"); got != want {
			t.Errorf("%s: Bound = %v, want %v", s.name, got, want)
		}
	}
	got := named(t, "completed").Result().Wire()
	if diff := cmp.Diff(contract.TaskResult{TaskID: "t", Status: "COMPLETED", Output: "out"}, got); diff != "" {
		t.Errorf("Wire (-want +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	number := func(f float64) func(*task.Request) { return func(r *task.Request) { r.Temperature = &f } }
	tests := []struct {
		name string
		edit func(*task.Request)
		want string // what the fault says; "": none
		code fault.Code
	}{
		{"full", func(*task.Request) {}, "", ""},
		{"only what it needs", func(r *task.Request) {
			*r = task.Request{TaskID: "t", Principal: task.System("x"), Request: "y"}
		}, "", ""},
		{"no request", func(r *task.Request) { r.Request = "" }, "request: must not be empty", fault.Invalid},
		{"request at the limit", func(r *task.Request) { r.Request = long(131072) }, "", ""},
		{"request over it", func(r *task.Request) { r.Request = long(131073) }, "request: 131073 bytes, the limit is 131072", fault.Invalid},
		{"no principal", func(r *task.Request) { r.Principal = task.Principal{} }, `principal.type: must be "user" or "system"`, fault.Invalid},
		{"a principal without an id", func(r *task.Request) { r.Principal.ID = "" }, "principal.id: must not be empty", fault.Invalid},
		{"no id", func(r *task.Request) { r.TaskID = "" }, "taskId: must not be empty", fault.Invalid},
		{"an id over the limit", func(r *task.Request) { r.TaskID = long(257) }, "taskId: 257 bytes", fault.Invalid},
		{"session id", func(r *task.Request) { r.SessionID = "a\n" }, "sessionId: must not contain", fault.Invalid},
		{"delivery id", func(r *task.Request) { r.DeliveryID = "a\n" }, "deliveryId: must not contain", fault.Invalid},
		{"creator", func(r *task.Request) { r.CreatedBy = "a\n" }, "createdBy: must not contain", fault.Invalid},
		{"root", func(r *task.Request) { r.RootID = "a\n" }, "rootId: must not contain", fault.Invalid},
		{"model", func(r *task.Request) { r.ModelID = "a\n" }, "modelId: must not contain", fault.Invalid},
		{"a blank request", func(r *task.Request) { r.Request = " \n" }, "request: must not be empty", fault.Invalid},
		{"tools", func(r *task.Request) { r.Tools = make([]string, 129) }, "tools: 129 names, the limit is 128", fault.Invalid},
		{"tokens", func(r *task.Request) { r.MaxTokens = -1 }, "maxTokens: must be from 1 to 1000000", fault.Invalid},
		{"too many tokens", func(r *task.Request) { r.MaxTokens = 1_000_001 }, "maxTokens: must be from 1 to 1000000", fault.Invalid},
		{"temperature", number(1), "", ""},
		{"temperature over 1", number(1.5), "temperature: must be from 0 to 1", fault.Invalid},
		{"temperature under 0", number(-1), "temperature: must be from 0 to 1", fault.Invalid},
		{"prompt over the limit", func(r *task.Request) { r.SystemPrompt = long(65537) }, "systemPrompt: 65537 bytes, the limit is 65536", fault.Invalid},
		{"depth at the limit", func(r *task.Request) { r.Depth = 8 }, "", ""},
		{"depth over it", func(r *task.Request) { r.Depth = 9 }, "depth: 9 tasks started one another, the limit is 8", fault.Limit},
		{"depth negative", func(r *task.Request) { r.Depth = -1 }, "depth: -1", fault.Limit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request
			r.RootID, r.ModelID = "root", "model"
			tt.edit(&r)
			err := r.Validate(8)
			if fault.CodeOf(err) != tt.code || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Validate = %v (%s), want %q (%s)", err, fault.CodeOf(err), tt.want, tt.code)
			}
		})
	}
}

// A handler claims a task, its run fails for good, and only another delivery may try again once the completion was told.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := task.Request{TaskID: "t-1", Principal: task.System("nightly"), Request: "Summarise the week.", DeliveryID: "monday"}
	t := task.New(r, "", now)
	fmt.Println(t.Status, t.Claimable("monday", now))

	t = t.Claim(r, "", "monday", "w-7", task.Lease, now).To
	fmt.Println(t.Status, "fence", t.Fence, t.Claimable("monday", now))

	t = t.Finish(task.Result{Status: task.Failed, Error: "no access"}, now).To
	fmt.Println(t.Status, t.Error, "owed", t.CompletionOwed)

	t = t.Announced().To
	fmt.Println("again:", t.Claimable("monday", now), "another delivery:", t.Claimable("tuesday", now))
	// Output:
	// PENDING true
	// RUNNING fence 1 false
	// FAILED no access owed 1
	// again: false another delivery: true
}
