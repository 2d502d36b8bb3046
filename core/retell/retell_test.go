package retell_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/retell"
)

// told is messages as short words: text as it is with its offset, everything else by its kind.
func told(messages []contract.ServerMessage) []string {
	var out []string
	for _, m := range messages {
		switch e := m.Event; {
		case e == nil:
			out = append(out, strings.TrimSpace(fmt.Sprint(m.Type, " ", m.Error, m.DeliveryID)))
		case e.Data != nil:
			out = append(out, fmt.Sprint(*m.Offset, " ", *e.Data))
		case e.CurrentToolUse != nil:
			out = append(out, "tool "+e.CurrentToolUse.ToolUseID)
		case e.Approval != nil:
			out = append(out, e.Approval.Name+" "+e.Approval.Status)
		case e.Reset != nil:
			out = append(out, fmt.Sprint("reset ", *m.Offset))
		case e.InitEventLoop:
			out = append(out, "init")
		default:
			out = append(out, "end")
		}
	}
	return out
}

// log makes events of one turn, numbered from 10 on.
func log(data ...contract.EventData) []contract.SessionEvent {
	var out []contract.SessionEvent
	for i, d := range data {
		raw, err := json.Marshal(d)
		if err != nil {
			panic(err)
		}
		out = append(out, contract.SessionEvent{Type: d.EventType(), Index: int64(10 + i), SessionID: "s", TurnID: "turn_1", Data: raw})
	}
	return out
}

func said(delta string, attempt int) contract.MessageAppended {
	return contract.MessageAppended{Delta: delta, Attempt: attempt}
}

var (
	started  = contract.TurnStarted{}
	received = contract.MessageReceived{Text: "hi", DeliveryIDs: []string{"d1", "d2"}}
	step     = contract.StepStarted{Step: 1}
	stepDone = contract.StepCompleted{Step: 1}
	calls    = contract.ActionsRequested{Calls: []contract.ActionCall{{ID: "c1", Name: "look"}, {ID: "c2", Name: "look"}}}
)

func whole(text string) contract.MessageCompleted { return contract.MessageCompleted{Text: text} }

func TestATurnFromItsLog(t *testing.T) {
	tests := []struct {
		name string
		log  []contract.EventData
		want []string // to a client that understands resets
	}{
		{"begun", []contract.EventData{started, received}, []string{"init"}},
		{"in mid-answer", []contract.EventData{started, received, step, said("It ", 0), said("is", 0)}, []string{"init", "0 It is"}},
		{"completed", []contract.EventData{started, received, step, said("nöon", 0), whole("nöon"), stepDone, contract.TurnCompleted{Result: "nöon"}},
			[]string{"init", "0 nöon", "end", "complete d1", "complete d2"}},
		{"with tools", []contract.EventData{started, received, step, said("let me see", 0), whole("let me see"), calls, stepDone, step, said("done", 0), whole("done"), stepDone},
			[]string{"init", "0 let me see", "tool c1", "tool c2", "10 done"}},
		{"a nudge", []contract.EventData{started, received, contract.NudgeDelivered{Text: "x", DeliveryID: "d3"}, contract.TurnFailed{Status: "cancelled"}},
			[]string{"init", "error cancelledd1", "error cancelledd2", "error cancelledd3"}},
		{"stopped in mid-answer", []contract.EventData{started, received, step, said("I ", 0), contract.TurnFailed{Status: "interrupted", Error: "turn interrupted"}},
			[]string{"init", "0 I ", "error interruptedd1", "error interruptedd2"}},
		{"a call that broke off and was repeated", []contract.EventData{started, received, step, said("It w", 0), said("It is", 2), whole("It is")},
			[]string{"init", "reset 0", "0 It is"}},
		{"a call that broke off", []contract.EventData{started, received, step, said("a", 0), whole("a"), calls, stepDone, step, said("b", 0), said("c", 2)},
			[]string{"init", "0 a", "tool c1", "tool c2", "reset 1", "1 c"}},
		{"a step that another owner began", []contract.EventData{started, received, step, said("a", 0), whole("a"), calls, stepDone, step, said("half", 0), step, said("whole", 0)},
			[]string{"init", "0 a", "tool c1", "tool c2", "reset 1", "1 whole"}},
		{"text that no reply confirmed", []contract.EventData{started, received, step, said("I will", 0), calls, stepDone}, []string{"init", "tool c1", "tool c2", "reset 0"}},
		{"pieces that are not the whole", []contract.EventData{started, received, step, said("It", 0), whole("It is")}, []string{"init", "reset 0", "0 It is"}},
		{"no pieces", []contract.EventData{started, received, step, whole("It is")}, []string{"init", "0 It is"}},
		{"two steps that broke off", []contract.EventData{started, received, step, said("a", 0), whole("a"), stepDone, step, said("x", 0), said("b", 2), whole("b"), stepDone, step, said("y", 0), said("c", 2)},
			[]string{"init", "0 a", "reset 1", "1 b", "2 c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var turn retell.Turn
			for _, e := range log(tt.log...) {
				turn.Event(e)
			}
			if diff := cmp.Diff(tt.want, told(turn.Messages(retell.Wants{Resets: true}))); diff != "" {
				t.Errorf("Messages(retell.Wants{Resets: true}) (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnOldClientIsToldOnceAndWithoutResets(t *testing.T) {
	var turn retell.Turn
	for _, e := range log(started, received, step, said("x", 0), said("y", 2), whole("y"), stepDone, contract.TurnCompleted{Result: "y", Usage: contract.Usage{InputTokens: 3}}) {
		turn.Event(e)
	}
	got := turn.Messages(retell.Wants{})
	if diff := cmp.Diff([]string{"init", "0 y", "end", "complete d1"}, told(got)); diff != "" {
		t.Errorf("Messages(retell.Wants{}) (-want +got):\n%s", diff)
	}
	if first, last := got[0], got[len(got)-1]; *first.Index != 10 || *last.Index != 17 || last.SessionID != "s" || last.Usage.InputTokens != 3 || last.Seq != nil {
		t.Errorf("the ends are %+v and %+v", first, last)
	}
	if got[1].TurnID != "turn_1" || *got[1].Index != 14 {
		t.Errorf("the text = %+v, want it in turn_1 and event 14", got[1])
	}
}

func TestCallsThatWaitForPeople(t *testing.T) {
	var turn retell.Turn
	long := json.RawMessage(`"` + strings.Repeat("x", contract.MaxApprovalInput) + `"`)
	for _, e := range log(started, received, step, said("a", 0), whole("a"), calls,
		contract.ApprovalRequested{ActionID: "c1", Name: "send", Input: json.RawMessage(`{}`)}, contract.ApprovalRequested{ActionID: "c2", Name: "pay", Input: long},
		contract.ApprovalResolved{ActionID: "c1", Name: "send", Decision: "approved"}, stepDone, step, said("b", 0)) {
		turn.Event(e)
	}
	want := []string{"init", "0 a", "tool c1", "tool c2", "send pending", "pay pending", "send approved", "1 b"}
	got := turn.Messages(retell.Wants{Approvals: true})
	if diff := cmp.Diff(want, told(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first, second := got[4].Event.Approval, got[5].Event.Approval; string(first.Input) != `{}` || second.Input != nil || *got[4].Index != 16 {
		t.Errorf("told of %+v and %+v", first, second)
	}
	if got := told(turn.Messages(retell.Wants{Resets: true})); strings.Contains(strings.Join(got, " "), "pending") {
		t.Errorf("who cannot ask people is told %v", got)
	}
}

func TestTurns(t *testing.T) {
	first := log(started, received, step, said("one", 0), whole("one"), stepDone, contract.TurnCompleted{Result: "one"})
	notice := log(contract.MessageReceived{DeliveryIDs: []string{"d9"}}, contract.TurnFailed{Status: "cancelled"})
	for i := range notice {
		notice[i].TurnID = "cancelled_2_2"
	}
	open := log(started, received, step, said("on and", 0))
	for i := range open {
		open[i].TurnID = "turn_3"
	}
	waiting := contract.SessionEvent{Type: "session.waiting", SessionID: "s", TurnID: "turn_1", Data: json.RawMessage(`{}`)}
	all := append([]contract.SessionEvent{{Type: "session.started", SessionID: "s", Data: json.RawMessage(`{}`)}}, first...)
	all = append(append(append(all, waiting), notice...), open...)
	var got []string
	for turn, err := range retell.Turns(events(all, nil)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, turn.ID+": "+strings.Join(told(turn.Messages(retell.Wants{Resets: true})), ", "))
	}
	want := []string{
		"turn_1: init, 0 one, end, complete d1, complete d2",
		"cancelled_2_2: init, error cancelledd9",
		"turn_3: init, 0 on and",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestTurnsEndWithAnError(t *testing.T) {
	broken := errors.New("no table")
	for _, err := range retell.Turns(events(log(started, received), broken)) {
		if !errors.Is(err, broken) {
			t.Errorf("err = %v", err)
		}
		return
	}
	t.Error("the error is lost")
}

func events(list []contract.SessionEvent, err error) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(contract.SessionEvent{}, err)
		}
	}
}

func TestLive(t *testing.T) {
	var turn retell.Turn
	turn.Step()
	turn.Text("ab", new(int64(3)))
	turn.Text("c", nil)
	turn.Tool(contract.ToolUseBody{Name: "look", ToolUseID: "c1"}, nil)
	turn.Tool(contract.ToolUseBody{Name: "look", ToolUseID: "c1"}, nil)
	turn.Step()
	turn.Text("d", nil)
	if turn.Length() != 4 || turn.Kept() != 3 {
		t.Errorf("length %d, kept %d, want 4 and 3", turn.Length(), turn.Kept())
	}
	turn.Void()
	turn.Text("", nil)
	turn.Text("e", nil)
	if diff := cmp.Diff([]string{"init", "0 abc", "tool c1", "reset 3", "3 e"}, told(turn.Messages(retell.Wants{Resets: true}))); diff != "" {
		t.Errorf("Messages(retell.Wants{Resets: true}) (-want +got):\n%s", diff)
	}
	turn.Event(contract.SessionEvent{Type: "message.appended", Data: json.RawMessage(`7`)})
	if turn.Length() != 4 {
		t.Errorf("data that cannot be read counts: length %d", turn.Length())
	}
}
