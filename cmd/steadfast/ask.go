package main

import (
	"context"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// maxAsked is how many calls may wait for one person's answer at a time; more are told of, and not asked about.
const maxAsked = 100

// asker asks the person at the terminal about calls that wait, one after the other, while the turn is followed.
type asker struct {
	*talk
	waiting chan contract.ApprovalBody
	done    chan struct{}
	cancel  context.CancelFunc
}

// asks begins to ask; where nobody sits at the terminal it asks nobody.
func (t *talk) asks(ctx context.Context) *asker {
	a := &asker{talk: t}
	if !t.s.asks || t.s.json {
		return a
	}
	if t.lines == nil {
		t.lines = read(t.life, t.s.stdin)
	}
	ctx, a.cancel = context.WithCancel(ctx)
	a.waiting, a.done = make(chan contract.ApprovalBody, maxAsked), make(chan struct{})
	go a.run(ctx)
	return a
}

// end stops asking.
func (a *asker) end() {
	if a.cancel != nil {
		a.cancel()
		<-a.done
	}
}

// hear takes what is told of a call: it says so, and asks about one that waits.
func (a *asker) hear(b contract.ApprovalBody) {
	if b.Status != "pending" {
		a.voice.aside(a.s, "[%s: %s]", b.Name, strings.TrimSpace(decided(b.Status)+" "+b.Reason))
		return
	}
	if a.waiting == nil {
		a.voice.aside(a.s, "[%s %s waits for a person: %s approvals approve %s %s]", b.Name, short(b.Input), a.s.program, a.chat.SessionID, b.ActionID)
		return
	}
	a.voice.aside(a.s, "[%s %s waits for you: y approves, n denies]", b.Name, short(b.Input))
	select {
	case a.waiting <- b:
	default:
	}
}

func (a *asker) run(ctx context.Context) {
	defer close(a.done)
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-a.waiting:
			a.ask(ctx, b)
		}
	}
}

// ask waits for yes or no about one call and records it.
func (a *asker) ask(ctx context.Context, b contract.ApprovalBody) {
	for {
		var what contract.Verdict
		select {
		case <-ctx.Done():
			return
		case line, more := <-a.lines:
			if !more {
				return
			}
			switch strings.ToLower(strings.TrimSpace(line)) {
			case "y", "yes":
				what = contract.Approve
			case "n", "no":
				what = contract.Deny
			default:
				a.s.note("[%s waits: y approves, n denies]", b.Name)
				continue
			}
		}
		if _, _, err := a.chat.Client.Decide(ctx, a.chat.SessionID, b.ActionID, contract.DecideApproval{Decision: what}); err != nil && ctx.Err() == nil {
			a.s.note("[%s: %v]", b.Name, err)
		}
		return
	}
}
