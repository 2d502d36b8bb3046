package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

var ignoreEmpty = cmpopts.EquateEmpty()

func request(delivery string) task.Request {
	return task.Request{TaskID: "t", Principal: user, Request: "do it", DeliveryID: delivery}
}

func by(owner, delivery string) task.Claim {
	return task.Claim{Owner: owner, DeliveryID: delivery, Lease: task.Lease}
}

func (b bench) start(t *testing.T, owner, delivery string) task.Task {
	t.Helper()
	claimed, err := b.StartTask(t.Context(), request(delivery), by(owner, delivery))
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

func (b bench) task(t *testing.T) task.Task {
	t.Helper()
	got, err := b.Task(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCreateTaskOncePerDelivery(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		created, err := b.CreateTask(ctx, request("d-1"))
		if err != nil || created.Status != task.Pending || created.DueSK == "" {
			t.Fatalf("CreateTask = %+v, %v; want a pending task that is due", created, err)
		}
		if diff := cmp.Diff(created, b.task(t)); diff != "" {
			t.Errorf("the row (-answered +stored):\n%s", diff)
		}
		d, err := b.Dispatch(ctx, "t")
		want := store.Dispatch{TaskID: "t", Status: "owed", DeliveryID: "d-1", CreatedAt: b.clock.Now().UnixMilli(), ExpiresAt: b.clock.Now().Add(task.Life).Unix(),
			DuePK: key.DuePK("TASK#t"), DueSK: key.DueSK(b.clock.Now().Add(time.Minute).UnixMilli())}
		if diff := cmp.Diff(want, d); diff != "" || err != nil {
			t.Errorf("Dispatch: %v (-want +got):\n%s", err, diff)
		}
		again, err := b.CreateTask(ctx, request("d-1"))
		if diff := cmp.Diff(created, again); diff != "" || err != nil {
			t.Errorf("the same delivery: %v (-first +again):\n%s", err, diff)
		}
		for _, other := range []string{"d-2", ""} {
			_, err = b.CreateTask(ctx, request(other))
			wants(t, fmt.Sprintf("CreateTask by delivery %q", other), err, fault.Conflict)
		}
		// Another delivery ran it since: the first sender's retry still gets the task.
		claimed := b.start(t, "o", "d-9")
		if err := b.FinishTask(ctx, claimed, task.Result{Status: task.Completed, Output: "out"}); err != nil {
			t.Fatal(err)
		}
		if again, err := b.CreateTask(ctx, request("d-1")); err != nil || again.Output != "out" {
			t.Errorf("the same delivery after a run of another = %v, %v; want the finished task", again.Status, err)
		}
		if _, err := b.CreateTask(ctx, task.Request{TaskID: "t2", Principal: user, Request: "x"}); err != nil {
			t.Error(err)
		}
		_, err = b.CreateTask(ctx, task.Request{TaskID: "t2", Principal: user, Request: "x"})
		wants(t, "CreateTask twice without a delivery", err, fault.Conflict)
	})
}

func TestCreateTaskWhoseAnswerIsLost(t *testing.T) {
	b, d, world := disturbed()
	world.Disturb(fake.Disturbance{Name: "dynamo.Transact", Mode: fake.LoseAnswer})
	_, err := b.CreateTask(t.Context(), request("d-1"))
	wants(t, "CreateTask", err, fault.Unavailable)
	if _, err := b.CreateTask(t.Context(), request("d-1")); err != nil || len(d.Items("TASK#")) != 2 {
		t.Errorf("CreateTask again = %v with %d rows, want the task and 2", err, len(d.Items("TASK#")))
	}
	world.Disturb(fake.Disturbance{Name: "dynamo.GetItem", Mode: fake.Fail})
	_, err = b.CreateTask(t.Context(), request("d-1"))
	wants(t, "CreateTask that cannot read what is there", err, fault.Unavailable)
}

func TestAHandlersRun(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		if got, err := b.TaskOrNone(ctx, "t"); err != nil || got.Status != "" {
			t.Errorf("TaskOrNone of none = %+v, %v; want the zero record", got, err)
		}
		_, err := b.Task(ctx, "t")
		wants(t, "Task of none", err, fault.NotFound)

		claimed := b.start(t, "o-1", "d-1")
		if diff := cmp.Diff(claimed, b.task(t)); diff != "" {
			t.Errorf("claimed (-answered +stored):\n%s", diff)
		}
		if again := b.start(t, "o-1", "d-1"); again.Fence != 1 {
			t.Errorf("the same owner's claim has fence %d, want 1", again.Fence)
		}
		held, err := b.StartTask(ctx, request("d-1"), by("o-2", "d-1"))
		wants(t, "another's claim", err, fault.Conflict)
		if held.Status != task.Running || held.Owner != "o-1" {
			t.Errorf("the refused claim shows %s of %s, want RUNNING of o-1", held.Status, held.Owner)
		}
		b.clock.Advance(20 * time.Second)
		if err := b.RenewTask(ctx, claimed, task.Lease); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(task.Lease + task.Margin)
		_, err = b.StartTask(ctx, request("d-1"), by("o-2", "d-1"))
		wants(t, "a claim within the margin", err, fault.Conflict)
		b.clock.Advance(time.Millisecond)
		second := b.start(t, "o-2", "d-1")
		if second.Fence != 2 || second.Attempt != 2 {
			t.Errorf("the second claim has fence %d, attempt %d; want 2, 2", second.Fence, second.Attempt)
		}
		done := task.Result{TaskID: "t", Status: task.Completed, Output: "out"}
		wants(t, "RenewTask by the first owner", b.RenewTask(ctx, claimed, task.Lease), fault.Conflict)
		wants(t, "FinishTask by the first owner", b.FinishTask(ctx, claimed, done), fault.Conflict)
		wants(t, "GiveBackTask by the first owner", b.GiveBackTask(ctx, claimed, "x"), fault.Conflict)
		for range 2 {
			if err := b.FinishTask(ctx, second, done); err != nil {
				t.Fatal(err)
			}
		}
		wants(t, "FinishTask by the first owner with the same end", b.FinishTask(ctx, claimed, done), fault.Conflict)
		wants(t, "FinishTask with another end", b.FinishTask(ctx, second, task.Result{Status: task.Failed}), fault.Conflict)
		end := b.task(t)
		if diff := cmp.Diff(done, end.Result()); diff != "" || end.CompletionOwed != 2 || end.Owner != "" || end.DueSK == "" {
			t.Errorf("the end owes %d, owner %q, due %q (-want +got):\n%s", end.CompletionOwed, end.Owner, end.DueSK, diff)
		}
		for range 2 {
			if err := b.Announced(ctx, end); err != nil {
				t.Fatal(err)
			}
		}
		if end := b.task(t); end.CompletionOwed != 0 || end.DueSK != "" || end.Status != task.Completed {
			t.Errorf("after it was told: %+v", end)
		}
		final, err := b.StartTask(ctx, request("d-2"), by("o-3", "d-2"))
		wants(t, "a claim of a completed task", err, fault.Conflict)
		if final.Output != "out" {
			t.Errorf("the refused claim shows output %q, want the stored one", final.Output)
		}
	})
}

// A refused claim shows the whole output, also one that lies in parts.
func TestARefusedClaimShowsALargeOutput(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		output := strings.Repeat("é", 300_000)
		if err := b.FinishTask(t.Context(), b.start(t, "o", "d"), task.Result{Status: task.Completed, Output: output}); err != nil {
			t.Fatal(err)
		}
		final, err := b.StartTask(t.Context(), request("d"), by("o-2", "d"))
		wants(t, "StartTask", err, fault.Conflict)
		same(t, "output", final.Output, output)
	})
}

func TestAFailedDeliveryDoesNotRunAgain(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := t.Context()
		failed := task.Result{Status: task.Failed, Error: "boom"}
		if err := b.FinishTask(ctx, b.start(t, "o-1", "d-1"), failed); err != nil {
			t.Fatal(err)
		}
		owing, err := b.StartTask(ctx, request("d-2"), by("o-2", "d-2"))
		wants(t, "a claim over a completion that is owed", err, fault.Conflict)
		if err := b.Announced(ctx, owing); err != nil {
			t.Fatal(err)
		}
		_, err = b.StartTask(ctx, request("d-1"), by("o-2", "d-1"))
		wants(t, "the failed delivery again", err, fault.Conflict)
		retry := b.start(t, "o-3", "d-2")
		if retry.Error != "" || retry.Fence != 2 {
			t.Errorf("the deliberate retry has error %q, fence %d; want none, 2", retry.Error, retry.Fence)
		}
		b.clock.Advance(time.Hour)
		_, err = b.StartTask(ctx, request("d-1"), by("o-4", "d-1"))
		wants(t, "the failed delivery over the retry's dead run", err, fault.Conflict)
		if taken := b.start(t, "o-5", "d-2"); taken.Fence != 3 {
			t.Errorf("the retry's own second delivery has fence %d, want 3", taken.Fence)
		}
	})
}

func TestGiveBack(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		claimed := b.start(t, "o-1", "d-1")
		b.clock.Advance(time.Second)
		if err := b.GiveBackTask(t.Context(), claimed, "the model is busy"); err != nil {
			t.Fatal(err)
		}
		back := b.task(t)
		if back.Status != task.Failed || back.Error != "Retrying: the model is busy" || !back.Retryable || back.Final() || back.CompletionOwed != 0 ||
			back.DueSK != key.DueSK(b.clock.Now().Add(30*time.Second).UnixMilli()) {
			t.Errorf("given back: %+v", back)
		}
		if again := b.start(t, "o-2", "d-1"); again.Error != "" || again.Retryable || again.Attempt != 2 {
			t.Errorf("taken up again: %+v", again)
		}
	})
}

func TestATaskThatIsHeldBackIsKept(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if _, err := b.CreateTask(t.Context(), request("d-1")); err != nil {
			t.Fatal(err)
		}
		created := b.clock.Now()
		for _, tt := range []struct {
			name        string
			after, life time.Duration // life: of the row, from the creation on
			due         time.Duration // from now on
		}{
			{name: "it is looked at soon, and lives for a day", life: 24 * time.Hour, due: time.Minute},
			{name: "its row ends soon", after: 20 * time.Hour, life: 44*time.Hour + 5*time.Minute, due: time.Minute - 20*time.Hour},
		} {
			b.clock.Advance(tt.after)
			if err := b.KeepTask(t.Context(), "t", b.clock.Now().Add(5*time.Minute)); err != nil {
				t.Fatal(err)
			}
			got := b.task(t)
			if life := time.Unix(got.ExpiresAt, 0).Sub(created); life != tt.life || got.DueSK != key.DueSK(b.clock.Now().Add(tt.due).UnixMilli()) {
				t.Errorf("%s: lives %s, due at %s, want %s and %s from now", tt.name, life, got.DueSK, tt.life, tt.due)
			}
		}
		_, swept := b.task(t).Sweep(b.clock.Now(), time.Hour)
		b.commit(t, store.ChangeTask(swept))
		soon := b.clock.Now().Add(5 * time.Minute)
		if err := b.KeepTask(t.Context(), "t", soon); err != nil || b.task(t).DueSK != key.DueSK(soon.UnixMilli()) {
			t.Errorf("the sweep would look in an hour: %v, due at %s, want in 5m", err, b.task(t).DueSK)
		}
		claimed := b.start(t, "o-1", "d-1")
		if err := b.KeepTask(t.Context(), "t", b.clock.Now()); err != nil || b.task(t).DueSK != claimed.DueSK {
			t.Errorf("a running task: %v, due at %s, want it left alone", err, b.task(t).DueSK)
		}
	})
}

func TestACancelledTaskIsNotFinished(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		claimed := b.start(t, "o-1", "d-1")
		cancel, ok := b.task(t).Cancel(b.clock.Now())
		if !ok {
			t.Fatal("a running task cannot be cancelled")
		}
		b.commit(t, store.ChangeTask(cancel))
		for _, status := range []task.Status{task.Completed, task.Failed} {
			wants(t, "FinishTask", b.FinishTask(t.Context(), claimed, task.Result{Status: status}), fault.Conflict)
		}
		wants(t, "GiveBackTask", b.GiveBackTask(t.Context(), claimed, "x"), fault.Conflict)
		wants(t, "RenewTask", b.RenewTask(t.Context(), claimed, task.Lease), fault.Conflict)
		if got := b.task(t); got.Error != "cancelled" || !got.Cancelled || got.Fence != 2 || got.CompletionOwed != 2 {
			t.Errorf("cancelled: %+v", got)
		}
		if err := b.Announced(t.Context(), cancel.To); err != nil {
			t.Fatal(err)
		}
		_, err := b.StartTask(t.Context(), request("d-2"), by("o-2", "d-2"))
		wants(t, "a claim of a cancelled task", err, fault.Conflict)
	})
}

// Clearing the debt of one run does not clear that of the next.
func TestASlowAnnouncerClearsOnlyItsOwn(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, failed := t.Context(), task.Result{Status: task.Failed, Error: "boom"}
		if err := b.FinishTask(ctx, b.start(t, "o-1", "d-1"), failed); err != nil {
			t.Fatal(err)
		}
		first := b.task(t)
		if err := b.Announced(ctx, first); err != nil {
			t.Fatal(err)
		}
		if err := b.FinishTask(ctx, b.start(t, "o-2", "d-2"), failed); err != nil {
			t.Fatal(err)
		}
		if err := b.Announced(ctx, first); err != nil {
			t.Fatal(err)
		}
		if got := b.task(t); got.CompletionOwed != 2 || got.DueSK == "" {
			t.Errorf("the second end owes %d, due %q; want 2 and a time", got.CompletionOwed, got.DueSK)
		}
	})
}

func TestOneOfEightClaims(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for round := range 5 {
			id := fmt.Sprintf("t-%d", round)
			won := make(chan task.Task, 8)
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					r := request("d")
					r.TaskID = id
					claimed, err := b.StartTask(t.Context(), r, by(fmt.Sprintf("o-%d", i), "d"))
					switch {
					case err == nil:
						won <- claimed
					case !fault.Is(err, fault.Conflict):
						t.Errorf("StartTask = %v, want Conflict", err)
					}
				})
			}
			group.Wait()
			if len(won) != 1 {
				t.Fatalf("%d claims succeeded, want one", len(won))
			}
			winner := <-won
			if there, err := b.Task(t.Context(), id); err != nil || there.Owner != winner.Owner || there.Fence != 1 || there.Attempt != 1 {
				t.Errorf("the row is %s's with fence %d, %v; want %s's with 1", there.Owner, there.Fence, err, winner.Owner)
			}
		}
	})
}

// A claim that lost to a change which left the task free is made again.
func TestAClaimThatRacesWithAGiveBack(t *testing.T) {
	b, _, world := disturbed()
	claimed := b.start(t, "o-1", "d-1")
	read, err := b.TaskOrNone(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.GiveBackTask(t.Context(), claimed, "busy"); err != nil {
		t.Fatal(err)
	}
	// What was read before the give back is too old to be claimed from; StartTask reads for itself.
	if read.Claimable("d-1", b.clock.Now()) {
		t.Error("a running task is claimable")
	}
	world.Disturb(fake.Disturbance{Name: "dynamo.Update", Mode: fake.LoseAnswer})
	_, err = b.StartTask(t.Context(), request("d-1"), by("o-2", "d-1"))
	wants(t, "StartTask whose answer is lost", err, fault.Unavailable)
	if again := b.start(t, "o-2", "d-1"); again.Fence != 2 {
		t.Errorf("the same owner again has fence %d, want its claim with 2", again.Fence)
	}
}

func TestLostAnswersOfAHandlersWrites(t *testing.T) {
	b, _, world := disturbed()
	lose := func() {
		world.Disturb(fake.Disturbance{Name: "dynamo.", At: len(world.Calls()) + 1, Mode: fake.LoseAnswer})
	}
	claimed := b.start(t, "o-1", "d-1")
	done := task.Result{Status: task.Completed, Output: "out"}
	steps := []struct {
		name string
		do   func() error
	}{
		{"RenewTask", func() error { return b.RenewTask(t.Context(), claimed, task.Lease) }},
		{"FinishTask", func() error { return b.FinishTask(t.Context(), claimed, done) }},
		{"Announced", func() error { return b.Announced(t.Context(), b.task(t)) }},
	}
	for _, step := range steps {
		if step.name != "Announced" {
			lose()
			wants(t, step.name+" whose answer is lost", step.do(), fault.Unavailable)
		}
		wants(t, step.name+" again", step.do(), "")
	}
	if got := b.task(t); got.Status != task.Completed || got.CompletionOwed != 0 {
		t.Errorf("the end: %+v", got)
	}
}
