package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
)

func TestChatOneMessage(t *testing.T) {
	s := standin.New(t)
	s.Say = echo
	r := at(t)("")
	r.run(t, 0, "chat", "hello", "--url", s.URL)
	same(t, "stdout", r.out.String(), "You said\n: hello\n")
	same(t, "stderr", r.err.String(), "[clock]\n")
}

// TestChatTellsWhatItUsed: the tokens of the turn, and those of a cache where there are some.
func TestChatTellsWhatItUsed(t *testing.T) {
	for usage, want := range map[contract.Usage]string{
		{InputTokens: 12, OutputTokens: 3}:                                              "[12 tokens in, 3 out, price not known]\n",
		{InputTokens: 12, OutputTokens: 3, CostUSD: new(float64(0))}:                    "[12 tokens in, 3 out, $0.00]\n",
		{InputTokens: 12, OutputTokens: 3, CostUSD: new(0.0000081)}:                     "[12 tokens in, 3 out, $0.0000081]\n",
		{InputTokens: 2, OutputTokens: 3, CacheReadTokens: 2048, CacheWriteTokens: 512}: "[2 tokens in, 3 out, cache: 2048 read, 512 written, price not known]\n",
	} {
		s := standin.New(t)
		s.Say = func(p *standin.Peer, m contract.ClientMessage) {
			turn := &standin.Turn{ID: "t-1", Fence: 1, Session: m.SessionID}
			end := turn.End(m.DeliveryID)
			end[len(end)-1].Usage = &usage
			p.Send(append([]contract.ServerMessage{turn.Begin(), turn.Text("Noon.", 1)}, end...)...)
		}
		r := at(t)("")
		r.run(t, 0, "chat", "hello", "--url", s.URL)
		same(t, "stderr", r.err.String(), want)
	}
}

func TestChatReadsAMessageFromStdin(t *testing.T) {
	s := standin.New(t)
	s.Say = echo
	r := at(t)("two\nlines\n")
	r.run(t, 0, "chat", "-", "--url", s.URL)
	if got := s.Heard()[0].Request; got != "two\nlines" {
		t.Errorf("message = %q", got)
	}
}

func TestChatGoesOnWithTheLastSession(t *testing.T) {
	s := standin.New(t)
	s.Say = echo
	begin := at(t)
	for _, args := range [][]string{{}, {}, {"--user", "bob"}, {"--new"}, {}, {"--session", "mine"}, {}} {
		begin("").run(t, 0, append([]string{"chat", "hello", "--url", s.URL}, args...)...)
	}
	var got []string
	names := map[string]string{"mine": "mine"}
	for _, m := range s.Heard() {
		if names[m.SessionID] == "" {
			names[m.SessionID] = fmt.Sprintf("minted %d (%d)", len(names), len(m.SessionID))
		}
		got = append(got, names[m.SessionID])
	}
	same(t, "sessions", strings.Join(got, ", "),
		"minted 1 (36), minted 1 (36), minted 2 (36), minted 3 (36), minted 3 (36), mine, mine")
}

func TestChatAsJSON(t *testing.T) {
	s := standin.New(t)
	s.Say = echo
	r := at(t)("")
	r.run(t, 0, "chat", "hello", "--session", "s-1", "--url", s.URL, "--json")
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines, want the 6 messages and the answer:\n%s", len(lines), r.out.String())
	}
	var m contract.ServerMessage
	if err := json.Unmarshal([]byte(lines[1]), &m); err != nil || m.Event == nil || *m.Event.Data != "You said" {
		t.Errorf("second line = %s", lines[1])
	}
	d := s.Heard()[0].DeliveryID
	same(t, "last line", lines[6], fmt.Sprintf(
		`{"type":"answer","session_id":"s-1","turn_id":"t-%s","delivery_id":"%s","text":"You said: hello","tools":["clock"]}`, d, d))
	same(t, "stderr", r.err.String(), "")
}

func TestConversation(t *testing.T) {
	s := standin.New(t)
	s.Say = echo
	r := at(t)("one\n\n  two  \n/new\nthree\n/quit\nfour\n")
	r.run(t, 0, "chat", "--session", "s-1", "--url", s.URL)
	same(t, "stdout", r.out.String(), "You said\n: one\nYou said\n: two\nYou said\n: three\n")
	heard := s.Heard()
	if len(heard) != 3 || heard[0].SessionID != "s-1" || heard[1].SessionID != "s-1" || heard[2].SessionID == "s-1" {
		t.Errorf("heard %+v", heard)
	}
	if _, dials := s.LongestFrame(); dials != 1 {
		t.Errorf("%d connections, want 1", dials)
	}
}

func TestConversationOfAProgramEndsWithTheFirstFailure(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		p.Send((&standin.Turn{ID: "t-1"}).Fail("failed", "The model refused.", m.DeliveryID))
	}
	r := at(t)("one\ntwo\n")
	r.run(t, 1, "chat", "--url", s.URL)
	same(t, "stderr", r.err.String(), "steadfast: The model refused.\n")
}

func TestFirstInterruptStopsTheTurnAndTheSecondLeaves(t *testing.T) {
	for name, heeds := range map[string]bool{"the turn stops": true, "the turn does not stop": false} {
		t.Run(name, func(t *testing.T) {
			s := standin.New(t)
			interrupts := make(chan os.Signal, 2)
			turn := &standin.Turn{ID: "t-1", Session: "s-1"}
			s.Say = func(p *standin.Peer, m contract.ClientMessage) {
				switch {
				case m.Action != "stop":
					p.Send(turn.Text("and so on", 1))
					interrupts <- os.Interrupt
				case heeds:
					p.Send(turn.Fail("cancelled", "cancelled", s.Heard()[0].DeliveryID))
				default:
					interrupts <- os.Interrupt
				}
			}
			r := at(t)("")
			r.s.interrupts = interrupts
			status, said := 130, ""
			if heeds {
				status, said = 1, "steadfast: the turn was stopped\n"
			}
			r.run(t, status, "chat", "hello", "--session", "s-1", "--url", s.URL)
			same(t, "stderr", r.err.String(), "[stopping; ctrl-c again leaves]\n"+said)
			if m := s.Heard()[1]; m.Action != "stop" || m.SessionID != "s-1" {
				t.Errorf("second message = %+v, want a stop", m)
			}
		})
	}
}

func TestLostAttemptInATerminal(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		turn := &standin.Turn{ID: "t-1", Session: m.SessionID}
		p.Send(turn.Text("Yes. ", 1), turn.Text("It i", 2), turn.Reset(5), turn.Text("It is.", 3))
		p.Send(turn.End(m.DeliveryID)...)
	}
	r := at(t)("")
	r.run(t, 0, "chat", "hello", "--url", s.URL)
	same(t, "stdout", r.out.String(), "Yes. It i\nYes. It is.\n")
	same(t, "stderr", r.err.String(), "[the answer broke off: what was shown of it does not count]\n")
}

func TestConversationAtATerminal(t *testing.T) {
	s := standin.New(t)
	s.Say = func(p *standin.Peer, m contract.ClientMessage) {
		if m.Request == "fail" {
			p.Send((&standin.Turn{ID: m.DeliveryID}).Fail("failed", "The model refused.", m.DeliveryID))
			return
		}
		echo(p, m)
	}
	r := at(t)("fail\nagain\n")
	r.s.asks, r.s.live = true, true
	r.run(t, 0, "chat", "--session", "s-1", "--url", s.URL)
	prompt := "\x1b[1m> \x1b[0m"
	same(t, "stdout", r.out.String(), prompt+prompt+"You said\n: again\n"+prompt)
	same(t, "stderr", r.err.String(), "\x1b[2msession s-1. /new begins another, /quit leaves, ctrl-c stops an answer.\x1b[0m\n"+
		"steadfast: The model refused.\n\x1b[2m[clock]\x1b[0m\n\x1b[2m\x1b[0m\n")
}

// interrupter interrupts when it is read.
type interrupter struct {
	io.Reader
	interrupts chan<- os.Signal
}

func (a interrupter) Read(p []byte) (int, error) {
	a.interrupts <- os.Interrupt
	return a.Reader.Read(p)
}

func TestInterruptAtThePromptLeaves(t *testing.T) {
	s := standin.New(t)
	interrupts := make(chan os.Signal, 1)
	r := at(t)("")
	never, w := io.Pipe()
	defer func() { _ = w.Close() }()
	r.s.stdin, r.s.interrupts = interrupter{never, interrupts}, interrupts
	r.run(t, 0, "chat", "--url", s.URL)
	if len(s.Heard()) != 0 {
		t.Errorf("heard %+v, want nothing", s.Heard())
	}
}
