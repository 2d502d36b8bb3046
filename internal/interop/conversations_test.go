package interop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// said is a chat turn of the package.
type said struct {
	Text     string
	Messages []struct {
		Role    string
		Content []map[string]any
	}
}

func (b bench) say(session, text string) said {
	b.t.Helper()
	return call[said](b, "say", args{"sessionId": session, "request": text})
}

// TestConversationOfThePackage: we continue a conversation that the package began, tool calls and all, in either format.
func TestConversationOfThePackage(t *testing.T) {
	t.Parallel()
	for _, format := range []string{segments, strands} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			b, id := on(t, format), uuid.NewString()
			b.say(id, "my name is Ada")
			contains(t, "the package's answer", b.say(id, `call lookup with {"key":"boat"}`).Text, "the value of boat")
			contains(t, "our answer", b.chat("ada", id, "what is my name?").Text, "Your name is Ada")
			contains(t, "our answer", b.chat("ada", id, "what did I say first?").Text, "my name is Ada")
			got := b.chat("ada", id, "call get_current_time")
			if len(got.Tools) != 1 {
				t.Errorf("our turn called %v", got.Tools)
			}
			contains(t, "our answer", b.chat("ada", id, "what did I say last?").Text, "call get_current_time")
		})
	}
}

// TestConversationOfOurs: the package continues a conversation that we began, and we and it go on in turn.
func TestConversationOfOurs(t *testing.T) {
	t.Parallel()
	b, id := on(t, strands), uuid.NewString()
	b.chat("ada", id, "my name is Ada")
	b.chat("ada", id, "call get_current_time")
	contains(t, "the package's answer", b.say(id, "what is my name?").Text, "Your name is Ada")
	b.say(id, `my boat is Pequod; call lookup with {"key":"boat"}`)
	contains(t, "our answer", b.chat("ada", id, "what is my boat?").Text, "Your boat is Pequod")
	b.chat("ada", id, "my port is Nantucket")
	contains(t, "the package's answer", b.say(id, "what is my port?").Text, "Your port is Nantucket")
	got := b.say(id, "what did I say first?")
	contains(t, "the package's answer", got.Text, "my name is Ada")
	var roles string
	for _, m := range got.Messages {
		roles += fmt.Sprintf("%.1s%d ", m.Role, len(m.Content))
	}
	if want := "u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 u1 a1 "; roles != want {
		t.Errorf("the conversation is %s, want %s: each message once", roles, want)
	}
}

// TestConversationInTurn: ten short turns, each by the other side, lose nothing.
func TestConversationInTurn(t *testing.T) {
	t.Parallel()
	b, id := on(t, strands), uuid.NewString()
	speakers := []func(text string) string{
		func(text string) string { return b.chat("ada", id, text).Text },
		func(text string) string { return b.say(id, text).Text },
	}
	for i := range 10 {
		speakers[i%2](fmt.Sprintf("my number%c is %d", 'a'+i, i*i))
	}
	for i := range 10 {
		contains(t, "the answer", speakers[(i+1)%2](fmt.Sprintf("what is my number%c?", 'a'+i)), fmt.Sprintf("is %d.", i*i))
	}
}

// TestKindsOfTurns: whatever one side's turn leaves in the history, the other side sends it to the model as the model wants it.
func TestKindsOfTurns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		fails      bool // the package's turn
	}{
		{name: "several calls", text: "call TOOL 3 times"},
		{name: "calls in a row", text: "call TOOL then call TOOL"},
		{name: "thinking", text: "think aloud and call TOOL"},
		{name: "secret thinking", text: "think secretly and call TOOL"},
		{name: "thinking only", text: "think aloud"},
		{name: "a tool that does not exist", text: "call nothing"},
		{name: "a failure in mid-stream", text: "break ModelStreamErrorException after 3; say 8 words", fails: true},
		{name: "a failure after a call", text: "call TOOL; break ModelStreamErrorException after 3", fails: true},
		{name: "other characters", text: "say \"é <&> 😀 \\u2028\" and call TOOL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := on(t, strands)
			with := func(tool string) string { return strings.ReplaceAll(tt.text, "TOOL", tool) }
			theirs, ours := uuid.NewString(), uuid.NewString()
			if _, err := b.node.call("say", args{"sessionId": theirs, "request": with("lookup")}); (err != nil) != tt.fails {
				t.Fatalf("the package's turn: %v", err)
			}
			b.chat("ada", theirs, "my name is Ada")
			contains(t, "our answer after the package's turn", b.chat("ada", theirs, "what is my name?").Text, "Your name is Ada")
			contains(t, "the package's answer after that", b.say(theirs, "what is my name?").Text, "Your name is Ada")
			b.chat("ada", ours, with("get_current_time"))
			b.say(ours, "my name is Bob")
			contains(t, "the package's answer after our turn", b.say(ours, "what is my name?").Text, "Your name is Bob")
			contains(t, "our answer after that", b.chat("ada", ours, "what is my name?").Text, "Your name is Bob")
		})
	}
}

// TestDeletedByThePackage: a session of which the package has deleted every row begins anew.
func TestDeletedByThePackage(t *testing.T) {
	t.Parallel()
	b, id := on(t, segments), uuid.NewString()
	b.chat("ada", id, "my name is Ada")
	b.quiet()
	call[any](b, "deleteSession", args{"sessionId": id})
	contains(t, "our answer", b.chat("bob", id, "what is my name?").Text, "You have not told me your name")
}
