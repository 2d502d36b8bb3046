package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/recall"
)

// chat is a conversation in a terminal. With --json each message of the stack is a line on stdout, and each turn ends
// with one line {"type":"answer","session_id","text","tools",...}.
type chat struct {
	Session string  `help:"Talk in this session. Without it the last one goes on." placeholder:"ID"`
	New     bool    `help:"Begin another session."`
	Message *string `arg:"" optional:"" help:"What to say; - reads it from stdin. Without it, each line of stdin is a message."`
}

// Run implements the command.
func (c chat) Run(root *cli, s *surroundings) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t := &talk{s: s, life: ctx, stack: root.URL, user: root.who()}
	go t.heed(ctx, cancel) // from now on: what is not there may let us wait
	message := ""
	if c.Message != nil {
		var err error
		if message, err = s.message(ctx, *c.Message); err != nil {
			return err
		}
	}
	if err := c.open(ctx, root, t); err != nil {
		return err
	}
	defer t.chat.Close()
	if c.Message == nil {
		return t.converse(ctx)
	}
	return t.say(ctx, message)
}

// message is what an argument says: itself, or all of stdin for a dash. Nothing is an error, and too much.
func (s *surroundings) message(ctx context.Context, argument string) (string, error) {
	if argument == "-" {
		var err error
		if argument, err = s.allOfStdin(ctx); err != nil {
			return "", err
		}
	}
	if argument = strings.TrimSpace(argument); argument == "" {
		return "", &client.Error{Code: "invalid", Message: "the message is empty"}
	}
	return argument, client.CheckSize("message", argument)
}

// allOfStdin reads to the end, or until ctx is over: a terminal may never end.
func (s *surroundings) allOfStdin(ctx context.Context) (string, error) {
	type read struct {
		all []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		all, err := io.ReadAll(s.stdin)
		done <- read{all, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read the message: %w", r.err)
		}
		return string(r.all), nil
	}
}

// open finds the session to go on with, or begins one.
func (c chat) open(ctx context.Context, root *cli, t *talk) error {
	cl, err := root.client(ctx)
	if err != nil {
		return err
	}
	if t.book, err = t.s.recalled(); err != nil {
		return err
	}
	t.chat = &client.Chat{Client: cl}
	switch {
	case c.Session != "":
		t.chat.SessionID = c.Session
	case !c.New:
		t.chat.SessionID = t.book.Session(t.stack, t.user)
	}
	if t.chat.SessionID == "" {
		t.chat.SessionID = uuid.NewString()
	}
	return nil
}

// talk is a running conversation.
type talk struct {
	s     *surroundings
	chat  *client.Chat
	book  recall.Book
	stack string
	user  string
	voice voice
	turn  turnSwitch
	life  context.Context // of the conversation
	lines <-chan string   // what the person types; nil: nobody has asked for it yet
}

// say sends one message, prints the answer as it comes and remembers the session.
func (t *talk) say(ctx context.Context, text string) error {
	t.turn.begin()
	asker := t.asks(ctx)
	listener := t.voice.listener(t.s)
	if !t.s.json {
		listener.Approval = asker.hear
	}
	kept, done := t.s.vigil(ctx, devOf(t.chat.Client), turnFunctions)
	answer, err := t.chat.Ask(kept, text, listener)
	err = outOf(kept, err)
	done()
	asker.end()
	stopped := t.turn.end()
	t.voice.endLine(t.s)
	if answer.Hole {
		t.s.note("[a part of the answer was lost on the way; the session has all of it]")
	}
	if t.s.json && err == nil {
		if err := t.result(answer); err != nil {
			return err
		}
	}
	if u := answer.Usage; u != nil && !t.s.json {
		t.s.note("[%s%s]", tokens(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens), cost(u.CostUSD))
	}
	var told *client.Error
	switch {
	case err == nil, answer.TurnID != "":
		if err := t.book.Remember(t.stack, t.user, t.chat.SessionID); err != nil {
			t.s.note("[%v]", err)
		}
	}
	if stopped && errors.As(err, &told) {
		return &client.Error{Code: told.Code, Message: "the turn was stopped"}
	}
	return err
}

// typed is an answer as a line of JSON.
type typed struct {
	Type string `json:"type"`
	client.Answer
}

func (t *talk) result(answer client.Answer) error {
	raw, err := json.Marshal(typed{"answer", answer})
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	t.s.print(raw, "")
	return nil
}

// heed turns the first interrupt of a turn into a stop. Any other one leaves.
func (t *talk) heed(ctx context.Context, leave context.CancelFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.s.interrupts:
		}
		if !t.turn.stop() {
			leave()
			return
		}
		t.s.note("[stopping; ctrl-c again leaves]")
		if err := t.chat.Stop(ctx); err != nil {
			t.s.note("[could not ask for a stop: %v]", err)
		}
	}
}
