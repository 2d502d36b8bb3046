package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

// chatting is somebody at the command line, in the middle of a long answer.
type chatting struct {
	*exec.Cmd
	out, err *record
}

func (sh shell) chatting(sessionID string) chatting {
	sh.t.Helper()
	c := chatting{sh.command("chat", "say 100 words slow 20 ms", "--session", sessionID, "--user", "ada"), &record{}, &record{}}
	c.Stdout, c.Stderr = c.out, c.err
	if err := c.Start(); err != nil {
		sh.t.Fatal(err)
	}
	eventually(sh.t, "the answer to begin", func() bool { return strings.Contains(c.out.String(), "word3") })
	return c
}

// whole waits for the end, which must be good, with the whole answer as the last line.
func (c chatting) whole(t *testing.T) {
	t.Helper()
	if err := c.Wait(); err != nil {
		t.Errorf("steadfast chat ended with %v: %s", err, c.err)
	}
	lines := strings.Split(strings.TrimSuffix(c.out.String(), "\n"), "\n")
	if lines[len(lines)-1] != words(100) {
		t.Errorf("the last of %d lines is %q", len(lines), lines[len(lines)-1])
	}
}

// TestCommandLineOutlivesItsWorker: who chats sees the answer begin again, and then all of it.
func TestCommandLineOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	c := s.shell().chatting(id)
	s.kill(id)
	s.sweep(t)
	c.whole(t)
	contains(t, "what it noted", c.err.String(), "[the answer broke off: what was shown of it does not count]")
	s.rest(t)
}

// TestCommandLineOutlivesTheHost: the same when everything is gone for a moment.
func TestCommandLineOutlivesTheHost(t *testing.T) {
	t.Parallel()
	data, id := t.TempDir(), uuid.NewString()
	first := dev(t, data, "127.0.0.1:0")
	c := first.shell().chatting(id)
	first.kill()
	second := dev(t, data, strings.TrimPrefix(first.info.HTTP, "http://"))
	second.anHourLater(t, id)
	second.sweep(t)
	c.whole(t)
	contains(t, "what it noted", c.err.String(), "[the connection was lost and is back]")
	if state, err := second.table.State(t.Context(), id); err != nil || state.Phase != session.Idle {
		t.Errorf("state = %+v, %v", state, err)
	}
}
