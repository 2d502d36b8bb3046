package later_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/later"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// rig is a bus with a scheduler behind it.
type rig struct {
	later.Events
	clock *fake.Clock
	bus   *fake.Bus
	alarm *fake.Scheduler
	world *fake.World
}

func laterRig() rig {
	r := rig{clock: &fake.Clock{}, world: &fake.World{}}
	r.bus = &fake.Bus{Now: r.clock.Now, World: r.world}
	r.alarm = &fake.Scheduler{Now: r.clock.Now, Bus: r.bus, World: r.world}
	r.Events = later.Events{
		Scheduler: r.alarm, Bus: bus.Bus{EventBridge: r.bus}, RoleARN: "arn:aws:iam::000000000000:role/r",
		BusARN: "arn:aws:events:us-east-1:000000000000:event-bus/default", Now: r.clock.Now,
	}
	return r
}

// came lists the events that came until d from now, with the time.
func (r rig) came(d time.Duration) []string {
	for end := r.clock.Now().Add(d); ; {
		due := r.alarm.Due()
		if due.IsZero() || due.After(end) {
			r.clock.Set(end)
			break
		}
		r.clock.Set(due)
		r.alarm.Tick()
	}
	var all []string
	for _, e := range r.bus.Events() {
		all = append(all, e.Time.Format("15:04:05 ")+e.Source+" "+e.DetailType+" "+string(e.Detail))
	}
	return all
}

func (r rig) timed(name string, after time.Duration, detail string) bus.Timed {
	return bus.Timed{Name: name, At: r.clock.Now().Add(after), DetailType: "Thing Happened", Detail: json.RawMessage(detail)}
}

func TestSendLater(t *testing.T) {
	tests := []struct {
		name string
		e    func(r rig) bus.Timed
		want []string
	}{
		{"far", func(r rig) bus.Timed { return r.timed("a", time.Hour+7*time.Second, `{"n":1}`) }, []string{`01:00:07 readysetcloud.agent Thing Happened {"n":1}`}},
		{"near", func(r rig) bus.Timed { return r.timed("a", 20*time.Second, `{}`) }, []string{`00:01:00 readysetcloud.agent Thing Happened {}`}},
		{"90 s", func(r rig) bus.Timed { return r.timed("a", 90*time.Second, `{}`) }, []string{`00:02:00 readysetcloud.agent Thing Happened {}`}},
		{"now", func(r rig) bus.Timed { return r.timed("a", 0, `{}`) }, []string{`00:00:00 readysetcloud.agent Thing Happened {}`}},
		{"past", func(r rig) bus.Timed { return r.timed("a", -time.Hour, `{}`) }, []string{`00:00:00 readysetcloud.agent Thing Happened {}`}},
		{"fraction", func(r rig) bus.Timed { return r.timed("a", time.Hour+time.Millisecond, `{}`) }, []string{`01:00:01 readysetcloud.agent Thing Happened {}`}},
		{"another source", func(r rig) bus.Timed {
			e := r.timed("a", time.Hour, `{}`)
			e.Source = "app.x"
			return e
		}, []string{`01:00:00 app.x Thing Happened {}`}},
		{"Scheduler's own words", func(r rig) bus.Timed { return r.timed("a", time.Hour, `{"text":"<aws.scheduler.scheduled-time>"}`) },
			[]string{`01:00:00 readysetcloud.agent Thing Happened {"text":"\u003caws.scheduler.scheduled-time\u003e"}`}},
		{"a near task", func(r rig) bus.Timed {
			e := r.timed("a", 20*time.Second, `{"taskId":"t"}`)
			e.DetailType = contract.RunAgentTask
			return e
		}, []string{`00:00:00 readysetcloud.agent Run Agent Task {"notBefore":"2026-01-01T00:00:20.000Z","taskId":"t"}`}},
		{"a task that says when", func(r rig) bus.Timed {
			e := r.timed("a", time.Hour, `{"notBefore":"x"}`)
			e.DetailType = contract.RunAgentTask
			return e
		}, []string{`01:00:00 readysetcloud.agent Run Agent Task {"notBefore":"x"}`}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := laterRig()
			e := tc.e(r)
			due := e.At
			if _, err := r.Send(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			got := r.came(3 * time.Hour)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if at := r.bus.Events()[0].Time; e.DetailType != contract.RunAgentTask && at.Before(due.Truncate(time.Second)) {
				t.Errorf("it came at %s, before %s", at, due)
			}
			if left := r.alarm.Names(); len(left) > 0 {
				t.Errorf("schedules left: %v", left)
			}
		})
	}
}

// TestMoveAndKeep: one name is one event, whichever way it goes out.
func TestMoveAndKeep(t *testing.T) {
	hour, now := time.Hour, time.Duration(0)
	tests := []struct {
		name   string
		second time.Duration
		keep   bool
		want   []string
	}{
		{"moved", 2 * hour, false, []string{`02:00:00 readysetcloud.agent Thing Happened {"n":2}`}},
		{"moved to now", now, false, []string{`00:00:00 readysetcloud.agent Thing Happened {"n":2}`}},
		{"kept", 2 * hour, true, []string{`01:00:00 readysetcloud.agent Thing Happened {"n":1}`}},
		{"kept, though the other would go out now", now, true, []string{`01:00:00 readysetcloud.agent Thing Happened {"n":1}`}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := laterRig()
			if _, err := r.Send(t.Context(), r.timed("a", hour, `{"n":1}`)); err != nil {
				t.Fatal(err)
			}
			second := r.timed("a", tc.second, `{"n":2}`)
			second.Keep = tc.keep
			at, err := r.Send(t.Context(), second)
			if err != nil {
				t.Fatal(err)
			}
			if sent := tc.second == now && !tc.keep; at.IsZero() != sent {
				t.Errorf("it is said to come at %v, want sent now %t", at, sent)
			}
			if diff := cmp.Diff(tc.want, r.came(3*hour)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
	r := laterRig()
	kept := r.timed("a", now, `{"n":1}`)
	kept.Keep = true
	if _, err := r.Send(t.Context(), kept); err != nil || len(r.bus.Events()) != 1 {
		t.Errorf("kept where nothing waits: %v, %d events", err, len(r.bus.Events()))
	}
}

// gone is a scheduler whose schedules fire between the two calls of a move.
type gone struct{ *fake.Scheduler }

func (g gone) UpdateSchedule(ctx context.Context, in *scheduler.UpdateScheduleInput, o ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error) {
	if _, err := g.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: in.Name, GroupName: in.GroupName}); err != nil {
		return nil, err
	}
	return g.Scheduler.UpdateSchedule(ctx, in, o...)
}

func TestMoveOfWhatHasJustFired(t *testing.T) {
	r := laterRig()
	r.Scheduler = gone{r.alarm}
	for _, after := range []time.Duration{time.Hour, 2 * time.Hour} {
		if _, err := r.Send(t.Context(), r.timed("a", after, `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.came(3 * time.Hour); len(got) != 1 || !strings.HasPrefix(got[0], "02:") {
		t.Errorf("events: %v, want one at two o'clock", got)
	}
}

func TestCancel(t *testing.T) {
	r := laterRig()
	if _, err := r.Send(t.Context(), r.timed("a", time.Hour, `{}`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Cancel(t.Context(), "a"); err != nil {
			t.Errorf("Cancel = %v", err)
		}
	}
	if got := r.came(2 * time.Hour); got != nil {
		t.Errorf("events after the cancel: %v", got)
	}
}

func TestRunTaskLater(t *testing.T) {
	r := laterRig()
	request := task.Request{TaskID: "a/1", Principal: task.System("x"), Request: "go", NotBefore: contract.At(r.clock.Now().Add(time.Hour)), Source: "agency.x"}
	for range 2 {
		if err := r.RunTask(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`01:00:00 agency.x Run Agent Task {"taskId":"a/1","principal":{"type":"system","id":"x"},"request":"go","notBefore":"2026-01-01T01:00:00.000Z"}`}
	if diff := cmp.Diff(want, r.came(2*time.Hour)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if err := r.RunTask(t.Context(), task.Request{TaskID: "b"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a task without a time = %v, want Invalid", err)
	}
}

// shelf keeps details and how long they are kept.
type shelf map[string]time.Time

func (s shelf) PutDetail(_ context.Context, id, _ string) error {
	s[id] = time.Time{}
	return nil
}

func (s shelf) PutDetailUntil(_ context.Context, id, _ string, at time.Time) error {
	s[id] = at
	return nil
}

// TestLargeDetailsWait: a field that travels by reference is kept until its event comes, apart from the same text sent now.
func TestLargeDetailsWait(t *testing.T) {
	r, kept := laterRig(), shelf{}
	r.Bus.Details = kept
	large := `{"request":"` + strings.Repeat("x", bus.MaxDetailBytes) + `"}`
	for _, after := range []time.Duration{0, 100 * 24 * time.Hour} {
		if _, err := r.Send(t.Context(), r.timed("a", after, large)); err != nil {
			t.Fatal(err)
		}
	}
	untils := map[time.Time]bool{}
	for _, until := range kept {
		untils[until] = true
	}
	if want := (map[time.Time]bool{{}: true, r.clock.Now().Add(100 * 24 * time.Hour): true}); !cmp.Equal(want, untils) {
		t.Errorf("kept until %v, want %v", untils, want)
	}
	_, err := r.Send(t.Context(), r.timed("b", time.Hour, `{"other":"`+strings.Repeat("x", later.MaxInput)+`"}`))
	if !fault.Is(err, fault.Limit) {
		t.Errorf("a large detail without such a field = %v, want Limit", err)
	}
}

func TestSchedulerFails(t *testing.T) {
	r := laterRig()
	r.world.FailNext("scheduler.CreateSchedule", fake.ErrThrottled)
	if _, err := r.Send(t.Context(), r.timed("a", time.Hour, `{}`)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("throttled = %v, want Unavailable", err)
	}
	r.alarm.Groups = []string{"other"}
	r.Group = "gone"
	if _, err := r.Send(t.Context(), r.timed("a", time.Hour, `{}`)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no such group = %v, want Unavailable: it may come", err)
	}
	if _, err := laterRig().Send(t.Context(), r.timed("a b", time.Hour, `{}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a bad name = %v, want Invalid", err)
	}
	r = laterRig()
	r.world.FailNext("scheduler.DeleteSchedule", errors.New("refused"))
	if err := r.Cancel(t.Context(), "a"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Cancel = %v, want Unavailable", err)
	}
}
