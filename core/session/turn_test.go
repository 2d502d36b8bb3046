package session_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/session"
)

// waiting makes inbox rows from one number to another, each of so many bytes.
func waiting(from, to int64, bytes int) []session.Waiting {
	var list []session.Waiting
	for n := from; n <= to; n++ {
		list = append(list, session.Waiting{Number: n, Bytes: bytes})
	}
	return list
}

func ofTask(n int64) session.Waiting {
	return session.Waiting{Number: n, Bytes: 10, Task: &session.TaskRef{ID: fmt.Sprint("t", n), Fence: 1}}
}

func TestPlan(t *testing.T) {
	const kb = 1024
	tests := []struct {
		name            string
		taken, admitted int64
		stopSeq         int64
		inbox           []session.Waiting
		taskOver        bool
		want            session.Opening
		opens           bool
	}{
		{"one message", 2, 3, 0, waiting(3, 3, 10), false, session.Opening{From: 2, Cancelled: 2, To: 3}, true},
		{"all that wait, in order", 0, 5, 0, waiting(1, 5, 10), false, session.Opening{From: 0, Cancelled: 0, To: 5}, true},
		{"not those admitted after the state was read", 0, 2, 0, waiting(1, 5, 10), false, session.Opening{From: 0, Cancelled: 0, To: 2}, true},
		{"eighty", 0, 200, 0, waiting(1, 200, 10), false, session.Opening{From: 0, Cancelled: 0, To: 80}, true},
		{"eighty after others", 7, 200, 0, waiting(8, 200, 10), false, session.Opening{From: 7, Cancelled: 7, To: 87}, true},
		{"a megabyte", 0, 9, 0, waiting(1, 9, 256*kb), false, session.Opening{From: 0, Cancelled: 0, To: 4}, true},
		{"a byte over a megabyte", 0, 9, 0, waiting(1, 9, 256*kb+1), false, session.Opening{From: 0, Cancelled: 0, To: 3}, true},
		{"the first alone, however large", 0, 9, 0, waiting(1, 9, 2048*kb), false, session.Opening{From: 0, Cancelled: 0, To: 1}, true},
		{"up to a task's", 0, 4, 0, append(waiting(1, 2, 10), ofTask(3), session.Waiting{Number: 4}), false, session.Opening{From: 0, Cancelled: 0, To: 2}, true},
		{"a task's alone", 0, 3, 0, append([]session.Waiting{ofTask(1)}, waiting(2, 3, 10)...), false,
			session.Opening{From: 0, Cancelled: 0, To: 1, Task: ofTask(1).Task}, true},
		{"two tasks' one after the other", 0, 2, 0, []session.Waiting{ofTask(1), ofTask(2)}, false, session.Opening{From: 0, Cancelled: 0, To: 1, Task: ofTask(1).Task}, true},
		{"a task's that is over", 0, 2, 0, append([]session.Waiting{ofTask(1)}, waiting(2, 2, 10)...), true,
			session.Opening{From: 0, Cancelled: 1, To: 1, Task: ofTask(1).Task}, false},
		{"a task's that was stopped", 0, 2, 1, append([]session.Waiting{ofTask(1)}, waiting(2, 2, 10)...), false,
			session.Opening{From: 0, Cancelled: 1, To: 1, Task: ofTask(1).Task}, false},
		{"a stop of what came before", 2, 4, 2, waiting(3, 4, 10), false, session.Opening{From: 2, Cancelled: 2, To: 4}, true},
		{"a stop of some", 0, 5, 3, waiting(1, 5, 10), false, session.Opening{From: 0, Cancelled: 3, To: 5}, true},
		{"a stop of all", 0, 5, 5, waiting(1, 5, 10), false, session.Opening{From: 0, Cancelled: 5, To: 5}, false},
		{"a stop of more than fits", 0, 200, 150, waiting(1, 200, 10), false, session.Opening{From: 0, Cancelled: 80, To: 80}, false},
		{"a stop that covers a task's behind", 0, 3, 3, append(waiting(1, 2, 10), ofTask(3)), false, session.Opening{From: 0, Cancelled: 2, To: 2}, false},
		{"a gap later ends it", 0, 4, 0, append(waiting(1, 2, 10), waiting(4, 4, 10)...), false, session.Opening{From: 0, Cancelled: 0, To: 2}, true},
		{"over says nothing of a message", 0, 1, 0, waiting(1, 1, 10), true, session.Opening{From: 0, Cancelled: 0, To: 1}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := session.State{SessionID: "s", Phase: session.Idle, Taken: tt.taken, Admitted: tt.admitted, StopSeq: tt.stopSeq}
			got, err := s.Plan(tt.inbox, tt.taskOver)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || got.Opens() != tt.opens {
				t.Errorf("Plan: opens %v, want %v; %v (-want +got):\n%s", got.Opens(), tt.opens, err, diff)
			}
		})
	}
}

func TestPlanOfAnInboxWithAGap(t *testing.T) {
	s := session.State{SessionID: "s", Taken: 2, Admitted: 5}
	for _, inbox := range [][]session.Waiting{nil, waiting(4, 5, 1), waiting(2, 5, 1)} {
		if o, err := s.Plan(inbox, false); err == nil {
			t.Errorf("Plan(%v) = %v, want an error: message 3 is missing", inbox, o)
		}
	}
}

func TestTakesAtBoundary(t *testing.T) {
	tests := []struct {
		name  string
		task  *session.TaskRef
		inbox []session.Waiting
		want  int64
	}{
		{"nothing waits", nil, nil, 2},
		{"all that wait", nil, waiting(3, 5, 10), 5},
		{"up to a task's", nil, append(waiting(3, 4, 10), ofTask(5)), 4},
		{"a task's first", nil, []session.Waiting{ofTask(3)}, 2},
		{"none in a task's turn", &session.TaskRef{ID: "t"}, waiting(3, 5, 10), 2},
		{"not what was admitted later", nil, waiting(3, 9, 10), 5},
	}
	for _, tt := range tests {
		s := session.State{Phase: session.Open, Taken: 2, Admitted: 5, Task: tt.task}
		if got := s.TakesAtBoundary(tt.inbox); got != tt.want {
			t.Errorf("%s: up to %d, want %d", tt.name, got, tt.want)
		}
	}
}

// Begin of each kind of opening, in a chat and in a task session.
func TestBegin(t *testing.T) {
	task := &session.TaskRef{ID: "t", Fence: 1}
	tests := []struct {
		name string
		mode session.Mode
		o    session.Opening
		want string
	}{
		{"a turn", session.Chat, session.Opening{From: 2, Cancelled: 2, To: 3},
			"phase=open taken=3 turnSeq=3 seen=4 step=0 nextIndex=13 tries=0 prompt=11 tip=tip2 opening=tip2 doubt={tip2 11} expiresAt=720h0m0s"},
		{"a task's turn", session.Chat, session.Opening{From: 2, Cancelled: 2, To: 3, Task: task},
			"phase=open taken=3 turnSeq=3 seen=4 step=0 nextIndex=13 tries=0 prompt=11 tip=tip2 opening=tip2 task={t 1} doubt={tip2 11} expiresAt=720h0m0s"},
		{"part was cancelled", session.Chat, session.Opening{From: 2, Cancelled: 3, To: 4},
			"phase=open taken=4 turnSeq=4 seen=4 step=0 nextIndex=13 tries=0 prompt=11 tip=tip2 opening=tip2 doubt={tip2 11} expiresAt=720h0m0s"},
		{"all was cancelled", session.Chat, session.Opening{From: 2, Cancelled: 4, To: 4},
			"taken=4 nextIndex=13 tries=0 tip=tip2 expiresAt=720h0m0s"},
		{"a task session's turn", session.TaskRun, session.Opening{From: 2, Cancelled: 2, To: 3, Task: task},
			"phase=open taken=3 turnSeq=3 seen=4 step=0 nextIndex=13 tries=0 prompt=11 tip=tip2 opening=tip2 task={t 1} doubt={tip2 11} expiresAt=720h0m0s"},
		{"a task session's only message was cancelled", session.TaskRun, session.Opening{From: 2, Cancelled: 3, To: 3, Task: task},
			"phase=done owner=- leaseUntil=- taken=3 nextIndex=13 tries=0 tip=tip2 outcome=failed expiresAt=720h0m0s dueSk=-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := owned(states()[0].State, session.Lease)
			s.Mode, s.Admitted, s.Step, s.Tries = tt.mode, 4, 5, 2
			if diff := cmp.Diff(tt.want, changes(s, s.Begin(me, tt.o, progress, now).To)); diff != "" {
				t.Errorf("Begin (-want +got):\n%s", diff)
			}
		})
	}
}

// A write that adds nothing to the history leaves the tip where it was.
func TestAWriteWithoutHistoryKeepsTheTip(t *testing.T) {
	s := owned(states()[0].State, session.Lease)
	s.Phase = session.Open
	if got := s.EndKeep(me, session.Progress{NextIndex: 12}, "completed", now).To; got.Tip != "tip" || got.NextIndex != 12 {
		t.Errorf("tip %q, next index %d; want tip, 12", got.Tip, got.NextIndex)
	}
}

func TestSweep(t *testing.T) {
	tests := []struct {
		state string
		want  session.Remedy
		what  string
	}{
		{"idle", session.LeaveAlone, ""},
		{"idle, one waits", session.Trigger, "dueSk=2m0s"},
		{"idle, mine, one waits", session.WaitOwner, "dueSk=35s"},
		{"idle, mine", session.WaitOwner, "dueSk=35s"},
		{"idle, dead owner", session.Tidy, "owner=- leaseUntil=- dueSk=-"},
		{"idle, lease within the margin", session.WaitOwner, "dueSk=0s"},
		{"open", session.WaitOwner, "dueSk=35s"},
		{"open, stopped", session.WaitOwner, "dueSk=35s"},
		{"open, dead owner", session.Trigger, "dueSk=2m0s"},
		{"parked", session.WaitOwner, "dueSk=1h0m0.001s"},
		{"parked, stopped", session.Trigger, "dueSk=2m0s"},
		{"parked, decided", session.Trigger, "dueSk=2m0s"},
		{"parked, too long", session.Trigger, "dueSk=2m0s"},
		{"task, open", session.WaitOwner, "dueSk=35s"},
		{"task, done", session.LeaveAlone, ""},
		{"deleted", session.Purge, "dueSk=2m0s"},
		{"task, done, still due", session.Tidy, "dueSk=-"},
		{"deleted 17m0s ago", session.Forget, "dueSk=-"},
		{"deleted 16m0s ago", session.Purge, "dueSk=2m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			remedy, c := sweepable(t, tt.state).Sweep(now, 2*time.Minute)
			got := ""
			if remedy != session.LeaveAlone {
				got = changes(c.From, c.To)
			}
			if remedy != tt.want || got != tt.what {
				t.Errorf("Sweep = %s, %s; want %s, %s", remedy, got, tt.want, tt.what)
			}
		})
	}
}

// sweepable finds a state by name, among states and some that only a sweep meets.
func sweepable(t *testing.T, name string) session.State {
	t.Helper()
	all := states()
	named := func(name string) session.State {
		i := slices.IndexFunc(all, func(s state) bool { return s.name == name })
		if i < 0 {
			t.Fatalf("there is no state %q", name)
		}
		return all[i].State
	}
	deletedFor := func(d time.Duration) state {
		s := named("deleted")
		s.ExpiresAt = now.Add(session.Tombstone - d).Unix()
		return state{fmt.Sprintf("deleted %s ago", d), s}
	}
	done := named("task, done")
	done.DuePK, done.DueSK = named("open").DuePK, named("open").DueSK
	all = append(all, state{"task, done, still due", done}, deletedFor(16*time.Minute), deletedFor(17*time.Minute))
	return named(name)
}

func TestStatus(t *testing.T) {
	want := map[string]string{
		"idle": "waiting", "idle, one waits": "running", "idle, one waits, all stopped": "running", "idle, mine, one waits": "running", "idle, mine": "waiting",
		"idle, dead owner": "waiting", "idle, lease within the margin": "running", "open": "running", "open, one waits": "running", "open, preempted": "running",
		"open, stopped": "running", "open, dead owner": "running", "parked": "waiting_approval", "parked, stopped": "waiting_approval",
		"parked, decided": "waiting_approval", "parked, too long": "waiting_approval", "task, open": "running", "task, done": "completed", "deleted": "waiting",
	}
	for _, s := range states() {
		if got := s.Status(); got != want[s.name] {
			t.Errorf("%s: %q, want %q", s.name, got, want[s.name])
		}
	}
}

func TestWords(t *testing.T) {
	s := session.New("s", session.Chat, user, now)
	if s.TurnID() != "turn_0" || s.Pending() != 0 || s.Expired(now) || !s.Expired(now.Add(session.Life)) || s.NextIndex != 1 {
		t.Errorf("a new session: %+v", s)
	}
	s = s.With(now)
	if s.Pending() != 1 || s.DueSK == "" || !s.Work(now) || s.Stopped() != true || s.Preempted() {
		t.Errorf("with a message: %+v", s)
	}
	s.Owner, s.Fence, s.LeaseUntil = "me", 3, ms(0)
	if !s.Mine("me", 3) || s.Mine("me", 2) || s.Mine("you", 3) || s.Free(now) || !s.Free(now.Add(session.Lease)) {
		t.Errorf("owned: %+v", s)
	}
}
