package session_test

import (
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// TestEachChangeAsksForWhatItMust writes every change over a row that differs from the one that was read in a single field: the table
// refuses it if and only if the protocol asks for that field. No part of a condition can be left out unnoticed.
func TestEachChangeAsksForWhatItMust(t *testing.T) {
	refused := map[string]int{}
	for _, e := range append(events(), others()...) {
		for _, s := range append(states(), owing()...) {
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

// owing are states of a session whose channel has yet to be told, beside those of states.
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
		all = append(all, s)
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
