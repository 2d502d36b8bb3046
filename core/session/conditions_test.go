package session_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestEachChangeAsksForWhatItMust writes every change over a row that differs from the one that was read in a single field: the table
// refuses it if and only if the protocol asks for that field. No part of a condition can be left out unnoticed.
func TestEachChangeAsksForWhatItMust(t *testing.T) {
	refused := map[string]int{}
	for _, e := range append(events(), others()...) {
		for _, s := range slices.Concat(states(), owing(), passed()) {
			c, ok, err := e.do(s.State)
			if !ok || err != nil || !e.allowed(s.State, s.State) {
				continue
			}
			for field, rows := range oneFieldAside(s.State) {
				for _, row := range rows {
					_, accepted := written(row, c)
					if want := e.allowed(row, s.State); accepted != want {
						t.Errorf("%s of %q over a row with another %s: accepted %v, the protocol says %v\n%s", e.name, s.name, field, accepted, want, changes(s.State, row))
					}
					if !accepted {
						refused[e.name]++
					}
				}
			}
		}
	}
	for _, e := range append(events(), others()...) {
		if refused[e.name] == 0 && e.name != "admit with a stale token" {
			t.Errorf("%s is refused by no row: the test says nothing", e.name)
		}
	}
}

// oneFieldAside are rows that differ from one in a single field, by the field's name.
func oneFieldAside(s session.State) map[string][]session.State {
	with := func(edits ...func(*session.State)) (rows []session.State) {
		for _, edit := range edits {
			row := s
			if edit(&row); changes(s, row) != "nothing" {
				rows = append(rows, row)
			}
		}
		return rows
	}
	around := func(of func(*session.State) *int64, values ...int64) []session.State {
		n := *of(&s)
		var edits []func(*session.State)
		for _, v := range append(values, n-1, n+1, 0) {
			edits = append(edits, func(row *session.State) { *of(row) = v })
		}
		return with(edits...)
	}
	var phases []func(*session.State)
	for _, p := range []session.Phase{session.Idle, session.Open, session.Parked, session.Done, session.Deleted} {
		phases = append(phases, func(row *session.State) { row.Phase = p })
	}
	return map[string][]session.State{
		"mode":          with(func(row *session.State) { row.Mode = session.TaskRun }),
		"phase":         with(phases...),
		"principal":     with(func(row *session.State) { row.Principal.ID = "user-2" }),
		"createdBy":     with(func(row *session.State) { row.CreatedBy = "call-0" }),
		"token":         with(func(row *session.State) { row.Token = "another" }),
		"owner":         with(ownedByAnother, func(row *session.State) { row.Owner = "" }),
		"leaseUntil":    with(lease(session.Lease), lease(-time.Minute), lease(-session.Margin), lease(-session.Margin-time.Millisecond)),
		"fence":         around(func(row *session.State) *int64 { return &row.Fence }),
		"admitted":      around(func(row *session.State) *int64 { return &row.Admitted }),
		"taken":         around(func(row *session.State) *int64 { return &row.Taken }),
		"turnSeq":       around(func(row *session.State) *int64 { return &row.TurnSeq }),
		"seen":          around(func(row *session.State) *int64 { return &row.Seen }),
		"stopSeq":       around(func(row *session.State) *int64 { return &row.StopSeq }, s.TurnSeq, s.Admitted),
		"preemptSeq":    around(func(row *session.State) *int64 { return &row.PreemptSeq }, s.Seen+1),
		"step":          around(func(row *session.State) *int64 { return &row.Step }),
		"tip":           with(func(row *session.State) { row.Tip = "another" }, func(row *session.State) { row.Tip = "" }),
		"nextIndex":     around(func(row *session.State) *int64 { return &row.NextIndex }),
		"approvalsOpen": around(func(row *session.State) *int64 { return &row.ApprovalsOpen }),
		"approvalUntil": with(func(row *session.State) { row.ApprovalUntil = ms(-time.Second) }, func(row *session.State) { row.ApprovalUntil = ms(0) }),
		"expiresAt":     around(func(row *session.State) *int64 { return &row.ExpiresAt }),
		"dueSk": with(func(row *session.State) { row.DuePK, row.DueSK = key.DuePK("SESSION#s"), key.DueSK(ms(2*time.Minute)) },
			func(row *session.State) { row.DuePK, row.DueSK = "", "" }),
	}
}

// ownedByAnother gives the row an owner, who has a lease.
func ownedByAnother(row *session.State) {
	row.Owner = "other"
	if row.LeaseUntil == 0 {
		row.LeaseUntil = ms(session.Lease)
	}
}

// lease gives the row's owner, if it has one, another lease.
func lease(d time.Duration) func(*session.State) {
	return func(row *session.State) {
		if row.Owner != "" {
			row.LeaseUntil = ms(d)
		}
	}
}

// owing are states of a session whose channel has yet to be told, and of one that is only due, beside those of states.
func owing() []state {
	var all []state
	for _, s := range states() {
		if s.Phase == session.Open || s.Phase == session.Deleted {
			continue // it makes no difference
		}
		s.Channel, s.PublishedTo, s.name = "gh", s.NextIndex-1, s.name+", owing"
		if s.DueSK == "" {
			s.DuePK, s.DueSK = key.DuePK("SESSION#s"), key.DueSK(ms(0))
		}
		due := s
		due.Channel, due.name = "", strings.TrimSuffix(s.name, "owing")+"due"
		all = append(all, s, due)
	}
	return all
}

// passed are states of a parked session behind whose turn a message waits.
func passed() []state {
	var all []state
	for _, s := range states() {
		if s.name == "parked, decided" {
			decided, preempted := s, s
			decided.Admitted, decided.name = 3, "parked, decided, one waits"
			preempted.Admitted, preempted.PreemptSeq, preempted.ApprovalsOpen, preempted.name = 3, 3, 1, "parked, preempted"
			all = append(all, decided, preempted)
		}
	}
	return all
}

// others are the changes that the table of states and events does not show.
func others() []event {
	return []event{
		{"park", func(s session.State) (session.Change, bool, error) {
			return sure(s.Park(me, 1, now.Add(time.Hour), progress))
		},
			func(row, read session.State) bool {
				return myTurn(row, read) && row.Step == read.Step && row.Tip == read.Tip && row.StopSeq < row.TurnSeq && row.PreemptSeq <= row.Seen
			}},
		{"resolve", func(s session.State) (session.Change, bool, error) { return maybe(s.Resolve(s.TurnSeq, now)) },
			func(row, read session.State) bool {
				return row.Phase == session.Parked && row.TurnSeq == read.TurnSeq && row.ApprovalsOpen == read.ApprovalsOpen
			}},
		{"hold", func(s session.State) (session.Change, bool, error) { return sure(s.Hold(me, now.Add(time.Second))) },
			func(row, read session.State) bool {
				return myTurn(row, read) && row.Step == read.Step && row.Tip == read.Tip
			}},
		{"hold a call", func(s session.State) (session.Change, bool, error) { return sure(s.HoldCall(me, now.Add(time.Second))) },
			func(row, _ session.State) bool { return mine(row) && row.Phase == session.Idle }},
		{"keep", func(s session.State) (session.Change, bool, error) { return maybe(s.Keep(now)) },
			func(row, read session.State) bool {
				return row.Phase != session.Deleted && row.ExpiresAt == read.ExpiresAt
			}},
		{"follow", func(s session.State) (session.Change, bool, error) { return sure(s.Follow(ms(0))) },
			func(row, _ session.State) bool { return row.Phase != session.Deleted }},
		{"live", func(s session.State) (session.Change, bool, error) { return sure(s.Alive()) },
			func(row, _ session.State) bool { return row.Phase != session.Deleted }},
		{"tell the channel", func(s session.State) (session.Change, bool, error) {
			return s.Published(s.NextIndex), s.Rests(), nil
		}, func(row, read session.State) bool {
			return row.Phase == read.Phase && row.NextIndex == read.NextIndex && row.Owner == "" && row.DueSK == read.DueSK &&
				(row.Phase == session.Parked || row.Admitted == row.Taken)
		}},
		{"sweep", func(s session.State) (session.Change, bool, error) {
			remedy, c := s.Sweep(now, time.Minute)
			return c, remedy != session.LeaveAlone, nil
		}, swept},
	}
}

// swept is whether the sweep may write what it found to do.
func swept(row, read session.State) bool {
	remedy, _ := read.Sweep(now, time.Minute)
	atRest := row.Fence == read.Fence && row.Phase == read.Phase && row.Admitted == row.Taken && free(row)
	switch {
	case row.DueSK != read.DueSK:
		return false
	case remedy == session.Publish && read.Phase == session.Parked, remedy == session.Tidy && read.Phase == session.Done:
		return row.Phase == read.Phase
	case remedy == session.Publish, remedy == session.Tidy:
		return atRest
	}
	return true
}

// TestEachChangeOfAnApprovalAsksForWhatItMust is the same for the calls that wait for people, and for the marks of those that run once.
func TestEachChangeOfAnApprovalAsksForWhatItMust(t *testing.T) {
	pending := session.Approval{
		SessionID: "s", ActionID: "a", TurnSeq: 2, Tool: "pay", Status: session.Pending, RequestedAt: ms(-time.Hour), Until: ms(time.Hour), ExpiresAt: now.Add(session.Life).Unix(),
	}
	with := func(edit func(*session.Approval)) session.Approval {
		a := pending
		edit(&a)
		return a
	}
	late := with(func(a *session.Approval) { a.Until = ms(-time.Minute) })
	approved := with(func(a *session.Approval) { a.Status, a.By = session.Approved, user })
	executing := with(func(a *session.Approval) { a.Status, a.Owner, a.Fence = session.Executing, me.Owner, me.Fence })
	told := func(a session.Approval, over bool) session.ApprovalChange {
		c, ok := a.Tell(over, now)
		if !ok {
			t.Fatalf("nothing is told of %+v", a)
		}
		return c
	}
	decided, _, err := pending.Decide(contract.Approve, user, "", now)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		change  session.ApprovalChange
		allowed func(row, read session.Approval) bool
	}{
		{"decide", decided, func(row, _ session.Approval) bool { return row.Status == session.Pending }},
		{"tell of one that is approved", told(approved, false), sameStatusUntold},
		{"tell of one that nobody decided about", told(late, false), sameStatusUntold},
		{"tell of one whose turn is over", told(pending, true), sameStatusUntold},
		{"execute", approved.Execute(me, now), func(row, _ session.Approval) bool { return row.Status == session.Approved }},
		{"finish", executing.Finish(7), func(row, read session.Approval) bool {
			return row.Status == session.Executing && row.Owner == read.Owner && row.Fence == read.Fence
		}},
	} {
		read := tt.change.From
		rows := []session.Approval{read}
		for _, status := range []session.ApprovalStatus{session.Pending, session.Approved, session.Denied, session.Expired, session.Void, session.Executing} {
			row := read
			row.Status = status
			rows = append(rows, row)
		}
		for _, edit := range []func(*session.Approval){
			func(a *session.Approval) { a.Told = !a.Told }, func(a *session.Approval) { a.Owner = "other" }, func(a *session.Approval) { a.Fence++ },
		} {
			row := read
			edit(&row)
			rows = append(rows, row)
		}
		for _, row := range rows {
			table := store.Table{Name: "main", DynamoDB: fake.NewDynamo("main"), Now: fake.Start}
			if err := table.Commit(t.Context(), store.NewApproval(row, json.RawMessage(`{}`))); err != nil {
				t.Fatal(err)
			}
			err := table.Commit(t.Context(), store.ChangeApproval(tt.change))
			if accepted, want := err == nil, tt.allowed(row, read); accepted != want {
				t.Errorf("%s: accepted %v, want %v, by %+v", tt.name, accepted, want, row)
			}
		}
	}
}

func sameStatusUntold(row, read session.Approval) bool { return row.Status == read.Status && !row.Told }

// TestAnApprovalEndsWithItsTurn: one that was decided is not listed for longer than a turn may be open, however it was decided.
func TestAnApprovalEndsWithItsTurn(t *testing.T) {
	a := session.Approval{SessionID: "s", ActionID: "a", Status: session.Approved, RequestedAt: ms(0), Until: ms(time.Hour), ExpiresAt: now.Add(session.RowLife).Unix()}
	denied := a
	denied.Status = session.Denied
	told, _ := denied.Tell(false, now)
	for name, got := range map[string]int64{"run": a.Execute(me, now).To.ExpiresAt, "denied": told.To.ExpiresAt} {
		if most := now.Add(session.Life).Unix(); got > most || got < now.Unix() {
			t.Errorf("%s: it ends at %s", name, time.Unix(got, 0).UTC())
		}
	}
}
