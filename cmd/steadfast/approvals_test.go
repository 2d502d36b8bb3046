package main

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// asking is a stack whose turns wait for a decision about each of the calls, one after the other.
func asking(t *testing.T, calls ...string) *standin.Stack {
	t.Helper()
	s := standin.New(t)
	var mu sync.Mutex
	status, made := map[string]string{}, make(chan string, len(calls))
	s.Decide = func(call string, d contract.DecideApproval) string {
		mu.Lock()
		defer mu.Unlock()
		if status[call] == "" {
			status[call] = map[contract.Verdict]string{contract.Approve: "approved", contract.Deny: "denied"}[d.Decision]
			made <- call
		}
		return status[call]
	}
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: "t-1", Fence: 1, Session: m.SessionID}
		p.Send(turn.Begin(), turn.Text("Let me see.", 1))
		for _, c := range calls {
			asked := turn.Approval("pay", c, "pending", "")
			asked.Event.Approval.Input = json.RawMessage(`{"for": "` + c + `"}`)
			p.Send(asked, asked) // what is told again is asked once
		}
		for range calls {
			call := <-made
			mu.Lock()
			p.Send(turn.Approval("pay", call, status[call], ""))
			mu.Unlock()
		}
		p.Send(turn.Text(" Done.", 9))
		p.Send(turn.End(m.DeliveryID)...)
	}
	return s
}

// TestChatAsksThePersonAtTheTerminal: one call after the other, until the answer is yes or no.
func TestChatAsksThePersonAtTheTerminal(t *testing.T) {
	s := asking(t, "c1", "c2")
	r := at(t)("pay\nwhat?\nY\nno\n/quit\n")
	r.s.asks = true
	r.run(t, 0, "chat", "--url", s.URL, "--session", "s-1")
	same(t, "stdout", r.out.String(), "> Let me see.\n Done.\n> ")
	for _, want := range []string{
		`[pay {"for":"c1"} waits for you: y approves, n denies]`, "[pay waits: y approves, n denies]", "[pay: approved]", "[pay: denied]",
	} {
		if strings.Count(r.err.String(), want) != 1 {
			t.Errorf("stderr says %d times %q:\n%s", strings.Count(r.err.String(), want), want, r.err.String())
		}
	}
	var decided []string
	for _, one := range s.Requests() {
		if strings.Contains(one, "/approvals/") {
			decided = append(decided, one)
		}
	}
	same(t, "requests", strings.Join(decided, "\n"), `POST /agent/sessions/s-1/approvals/c1 {"decision":"approve"}`+"\n"+`POST /agent/sessions/s-1/approvals/c2 {"decision":"deny"}`)
}

func TestApprovalsCommands(t *testing.T) {
	s := asking(t, "c1")
	s.Approvals = []contract.Approval{
		{ActionID: "c1", Name: "pay", Status: "pending", Input: json.RawMessage(`{"note":"` + strings.Repeat("é", 90) + `"}`), ExpiresAt: "2026-03-02T10:00:00.000Z"},
		{ActionID: "c0", Name: "pay", Status: "denied", ExpiresAt: "2026-03-01T10:00:00.000Z"},
	}
	tests := []struct {
		args   []string
		status int
		out    string
		err    string
	}{
		{[]string{"list", "s-1", "--pending"}, 0, "CALL  STATUS   TOOL  INPUT                                                                              UNTIL\n" +
			`c1    pending  pay   {"note":"` + strings.Repeat("é", 71) + "…  2026-03-02T10:00:00.000Z\n", ""},
		{[]string{"approve", "s-1", "c1", "--reason", "Fine."}, 0, "call c1: approved\n", ""},
		{[]string{"deny", "s-1", "c1"}, 1, "", "steadfast: the call is approved already\n"},
		{[]string{"approve", "s-1", "c1", "--json"}, 0, "", ""},
	}
	begin := at(t)
	for _, tt := range tests {
		r := begin("")
		r.run(t, tt.status, append(append([]string{"approvals"}, tt.args...), "--url", s.URL)...)
		if tt.out != "" || tt.err != "" {
			same(t, strings.Join(tt.args, " "), r.out.String()+r.err.String(), tt.out+tt.err)
			continue
		}
		var a contract.Approval
		if err := json.Unmarshal([]byte(r.out.String()), &a); err != nil || a.Status != "approved" {
			t.Errorf("%v: %s, %v", tt.args, r.out.String(), err)
		}
	}
	s.Approvals = nil
	r := begin("")
	r.run(t, 0, "approvals", "list", "s-1", "--url", s.URL)
	same(t, "an empty list", r.out.String()+r.err.String(), "no call waits\n")
}
