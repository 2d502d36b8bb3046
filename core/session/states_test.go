package session_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

var (
	now  = fake.Start()
	user = contract.Principal{Type: contract.UserPrincipal, ID: "user-1"}
	me   = session.Me{Owner: "me", Fence: 3}
)

func ms(d time.Duration) int64 { return now.Add(d).UnixMilli() }

// state is one a session can be in, by the name under which a table shows it.
type state struct {
	name string
	session.State
}

// owned gives s to me, with a lease until now+d.
func owned(s session.State, d time.Duration) session.State {
	s.Owner, s.Fence, s.LeaseUntil = me.Owner, me.Fence, ms(d)
	s.DuePK, s.DueSK = key.DuePK("SESSION#s"), key.DueSK(ms(time.Minute))
	return s
}

// states are one of each kind. Two messages were admitted and, unless one waits, taken.
func states() []state {
	idle := session.New("s", session.Chat, user, now.Add(-time.Hour))
	idle.Token, idle.Admitted, idle.Taken, idle.TurnSeq, idle.Seen, idle.NextIndex, idle.Tip = "token", 2, 2, 2, 2, 10, "tip"
	pending := idle.With(now)
	open := owned(idle, session.Lease)
	open.Phase, open.Step, open.Tries = session.Open, 1, 1
	with := func(s session.State, edit func(*session.State)) session.State {
		edit(&s)
		return s
	}
	parked := with(open, func(s *session.State) {
		s.Phase, s.Owner, s.LeaseUntil, s.ApprovalsOpen, s.ApprovalUntil = session.Parked, "", 0, 1, ms(time.Hour)
	})
	oneShot := with(open, func(s *session.State) { s.Mode, s.Task = session.TaskRun, &session.TaskRef{ID: "t", Fence: 1} })
	return []state{
		{"idle", idle},
		{"idle, one waits", pending},
		{"idle, one waits, all stopped", with(pending, func(s *session.State) { s.StopSeq = 3 })},
		{"idle, mine, one waits", owned(pending, session.Lease)},
		{"idle, mine", owned(idle, session.Lease)},
		{"idle, dead owner", owned(idle, -time.Minute)},
		{"idle, lease within the margin", owned(pending, -session.Margin)},
		{"open", open},
		{"open, one waits", with(open, func(s *session.State) { s.Admitted = 3 })},
		{"open, preempted", with(open, func(s *session.State) { s.Admitted, s.PreemptSeq = 3, 3 })},
		{"open, stopped", with(open, func(s *session.State) { s.StopSeq = 2 })},
		{"open, dead owner", owned(open, -time.Minute)},
		{"parked", parked},
		{"parked, stopped", with(parked, func(s *session.State) { s.StopSeq = 2 })},
		{"parked, decided", with(parked, func(s *session.State) { s.ApprovalsOpen = 0 })},
		{"parked, too long", with(parked, func(s *session.State) { s.ApprovalUntil = ms(-time.Second) })},
		{"task, open", oneShot},
		{"task, done", with(oneShot, func(s *session.State) {
			s.Phase, s.Outcome, s.Task, s.Owner, s.LeaseUntil, s.DuePK, s.DueSK = session.Done, "completed", nil, "", 0, "", ""
		})},
		{"deleted", with(idle, func(s *session.State) {
			s.Phase, s.Token, s.Fence, s.ExpiresAt = session.Deleted, "", 4, now.Add(session.Tombstone-time.Minute).Unix()
			s.DuePK, s.DueSK = key.DuePK("SESSION#s"), key.DueSK(ms(0))
		})},
	}
}

// event is something that happens to a session. ok is false when the rules make no change of it.
type event struct {
	name string
	do   func(s session.State) (c session.Change, ok bool, err error)
	// allowed says from the row as it is, and the state that was read, whether the change may be written. It is written down
	// anew here, from the protocol.
	allowed func(row, read session.State) bool
}

func sure(c session.Change) (session.Change, bool, error) { return c, true, nil }

func maybe(c session.Change, ok bool) (session.Change, bool, error) { return c, ok, nil }

func failing(c session.Change, err error) (session.Change, bool, error) { return c, err == nil, err }

var progress = session.Progress{Tip: "tip2", NextIndex: 13, Prompt: 11}

func events() []event {
	token, stale := "token", "stale"
	admit := func(name string, a contract.Admission, presented *string) event {
		return event{name, func(s session.State) (session.Change, bool, error) {
			return failing(s.Admit(a, presented, "token2", now))
		},
			func(row, read session.State) bool {
				return row.Mode == session.Chat && alive(row) && row.Admitted == read.Admitted && (presented == nil || row.Token == *presented) &&
					(a != contract.Reject || row.Phase == session.Idle && row.Taken == read.Admitted)
			}}
	}
	list := []event{
		admit("admit, preempting", contract.Preempt, nil),
		admit("admit, coalescing", contract.Coalesce, nil),
		admit("admit unless busy", contract.Reject, nil),
		admit("admit with the token", contract.Preempt, &token),
		admit("admit with a stale token", contract.Preempt, &stale),
	}
	return append(append(list, outsiders()...), owners()...)
}

func alive(s session.State) bool {
	return s.Phase == session.Idle || s.Phase == session.Open || s.Phase == session.Parked
}

func turnThere(s session.State) bool { return s.Phase == session.Open || s.Phase == session.Parked }

func outsiders() []event {
	return []event{
		{"stop the turn", func(s session.State) (session.Change, bool, error) { return s.StopTurn(now) }, func(row, read session.State) bool {
			if turnThere(read) {
				return row.Phase == read.Phase && row.TurnSeq == read.TurnSeq && row.StopSeq < read.TurnSeq
			}
			return row.Phase == session.Idle && row.Taken == read.Taken && row.StopSeq < read.Admitted
		}},
		{"stop all", func(s session.State) (session.Change, bool, error) { return s.StopAll(now) }, func(row, read session.State) bool {
			return alive(row) && row.Admitted == read.Admitted && row.StopSeq < read.Admitted
		}},
		{"cancel the turn's task", func(s session.State) (session.Change, bool, error) { return maybe(s.StopTask(s.TurnSeq, now)) },
			func(row, read session.State) bool {
				return turnThere(row) && row.TurnSeq == read.TurnSeq && row.StopSeq < read.TurnSeq
			}},
		{"claim", func(s session.State) (session.Change, bool, error) { return maybe(s.Claim("new", now)) }, func(row, read session.State) bool {
			return free(row) && work(row) && row.Phase == read.Phase && row.Fence == read.Fence
		}},
		{"claim for a call", func(s session.State) (session.Change, bool, error) { return failing(s.ClaimCall("new", now)) }, func(row, read session.State) bool {
			return free(row) && row.Phase == session.Idle && row.Admitted == row.Taken && row.Fence == read.Fence
		}},
		{"end a call", func(s session.State) (session.Change, bool, error) {
			return sure(s.EndCall(me, session.Progress{NextIndex: 9}))
		},
			func(row, _ session.State) bool {
				return mine(row) && row.Phase == session.Idle && row.Admitted == row.Taken
			}},
		{"hand off a call", func(s session.State) (session.Change, bool, error) {
			return sure(s.HandOffCall(me, session.Progress{NextIndex: 9}, now))
		}, func(row, _ session.State) bool { return mine(row) && row.Phase == session.Idle }},
		{"delete", func(s session.State) (session.Change, bool, error) { return maybe(s.Delete(now)) }, func(row, read session.State) bool {
			return row.Phase != session.Deleted && row.Fence == read.Fence && row.Taken == read.Taken && row.Phase == read.Phase
		}},
		{"create what was adopted", func(s session.State) (session.Change, bool, error) { return sure(s.Created("call")) }, func(row, read session.State) bool {
			return row.Principal == read.Principal && row.CreatedBy == "" && row.Phase != session.Deleted
		}},
	}
}

// free: nobody holds it, or the lease ended more than 5 s ago.
func free(s session.State) bool {
	return s.Owner == "" || s.LeaseUntil < now.UnixMilli()-5000
}

func work(s session.State) bool {
	switch s.Phase {
	case session.Open:
		return true
	case session.Idle:
		return s.Admitted > s.Taken
	case session.Parked:
		return s.ApprovalsOpen == 0 || s.ApprovalUntil < now.UnixMilli() || s.StopSeq >= s.TurnSeq || s.PreemptSeq > s.Seen
	}
	return false
}

func mine(s session.State) bool { return s.Owner == "me" && s.Fence == 3 }

func myTurn(row, read session.State) bool {
	return mine(row) && row.Phase == session.Open && row.TurnSeq == read.TurnSeq
}

func owners() []event {
	opening := func(s session.State) session.Opening {
		return session.Opening{From: s.Taken, Cancelled: min(max(s.Taken, s.StopSeq), s.Admitted), To: s.Admitted}
	}
	return []event{
		{"renew", func(s session.State) (session.Change, bool, error) { return sure(s.Renew(me, now.Add(time.Second))) },
			func(row, _ session.State) bool { return mine(row) }},
		{"release", func(s session.State) (session.Change, bool, error) { return sure(s.Release(me)) },
			func(row, _ session.State) bool {
				return mine(row) && row.Phase == session.Idle && row.Admitted == row.Taken
			}},
		{"hand off", func(s session.State) (session.Change, bool, error) { return sure(s.HandOff(me, session.Spent{}, now)) },
			func(row, _ session.State) bool { return mine(row) }},
		{"wait for a place", func(s session.State) (session.Change, bool, error) {
			return sure(s.Wait(me, s.Waiter("stack", now), progress, now))
		}, func(row, read session.State) bool {
			flagged := row.StopSeq >= row.TurnSeq || row.PreemptSeq > row.Seen
			return mine(row) && row.Phase == read.Phase && row.Taken == read.Taken && row.StopSeq == read.StopSeq && (row.Phase != session.Open || !flagged)
		}},
		{"begin", func(s session.State) (session.Change, bool, error) {
			return sure(s.Begin(me, opening(s), progress, now))
		},
			func(row, read session.State) bool {
				return mine(row) && row.Phase == session.Idle && row.Taken == read.Taken && row.StopSeq == read.StopSeq
			}},
		{"save a step", func(s session.State) (session.Change, bool, error) { return sure(s.Save(me, progress, now)) },
			func(row, read session.State) bool {
				return myTurn(row, read) && row.Step == read.Step && row.Tip == read.Tip
			}},
		{"withhold the turn", func(s session.State) (session.Change, bool, error) { return sure(s.Withhold(me, progress, now)) },
			func(row, read session.State) bool {
				return myTurn(row, read) && row.Step == read.Step && row.Tip == read.Tip
			}},
		{"take", func(s session.State) (session.Change, bool, error) {
			return sure(s.Take(me, s.Admitted, progress, now))
		},
			func(row, read session.State) bool {
				return mine(row) && row.Phase == session.Open && row.Taken == read.Taken && row.StopSeq < row.TurnSeq && row.PreemptSeq <= row.Seen
			}},
		{"end and release", func(s session.State) (session.Change, bool, error) {
			return sure(s.EndRelease(me, progress, "completed", now))
		},
			func(row, read session.State) bool {
				return myTurn(row, read) && row.Admitted == row.Taken && row.StopSeq < row.TurnSeq
			}},
		{"end and keep", func(s session.State) (session.Change, bool, error) {
			return sure(s.EndKeep(me, progress, "completed", now))
		},
			func(row, read session.State) bool { return myTurn(row, read) && row.StopSeq < row.TurnSeq }},
		{"end flagged", func(s session.State) (session.Change, bool, error) { return sure(s.EndFlagged(me, progress, now)) }, myTurn},
	}
}

// written commits the change on a table that holds row, and gives the row afterwards.
func written(row session.State, c session.Change) (after session.State, accepted bool) {
	ctx := context.Background()
	table := store.Table{Name: "main", DynamoDB: fake.NewDynamo("main"), Now: fake.Start}
	if err := table.Commit(ctx, store.NewState(row)); err != nil {
		panic(err)
	}
	err := table.Commit(ctx, store.ChangeState(c))
	if err != nil && !fault.Is(err, fault.Conflict) {
		panic(err)
	}
	after, readErr := table.State(ctx, row.SessionID)
	if readErr != nil {
		panic(readErr)
	}
	return after, err == nil
}

// changes says in one line what differs between two states; times of now on are relative to it.
func changes(from, to session.State) string {
	var list []string
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("dynamodbav"), ",")
		if name != "duePk" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			list = append(list, name+"="+shown(name, b.Field(i)))
		}
	}
	if list == nil {
		return "nothing"
	}
	return strings.Join(list, " ")
}

func shown(name string, v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Int64 {
		return "-"
	}
	if v.Kind() == reflect.Pointer {
		return fmt.Sprint(v.Elem().Interface())
	}
	switch name {
	case "leaseUntil", "approvalUntil":
		if v.Int() == 0 {
			return "-"
		}
		return time.UnixMilli(v.Int()).Sub(now).String()
	case "expiresAt":
		return time.Unix(v.Int(), 0).Sub(now).String()
	case "dueSk":
		at, err := key.DueTime(v.String())
		if err != nil {
			panic(err)
		}
		return time.UnixMilli(at).Sub(now).String()
	}
	return fmt.Sprint(v.Interface())
}
