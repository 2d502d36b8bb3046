package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// shell is somebody with the command line and a memory of sessions.
type shell struct {
	t    *testing.T
	home string
	url  string
}

func (s stack) shell() shell { return shell{s.t, s.t.TempDir(), s.info.HTTP} }

// said is what a command printed.
type said struct {
	out, err string
	status   int
}

func (sh shell) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + sh.home, "XDG_STATE_HOME=" + sh.home, "STEADFAST_URL=" + sh.url}
	return cmd
}

// run runs a command with stdin, to its end.
func (sh shell) run(stdin string, args ...string) said {
	sh.t.Helper()
	var out, err bytes.Buffer
	cmd := sh.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &err
	if e := cmd.Run(); e != nil && cmd.ProcessState == nil {
		sh.t.Fatal(e)
	}
	return said{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// fine runs a command that must work.
func (sh shell) fine(stdin string, args ...string) said {
	sh.t.Helper()
	got := sh.run(stdin, args...)
	if got.status != 0 {
		sh.t.Fatalf("steadfast %s: status %d\n%s%s", strings.Join(args, " "), got.status, got.out, got.err)
	}
	return got
}

// object runs a command with --json that must work.
func (sh shell) object(args ...string) map[string]any {
	sh.t.Helper()
	got := sh.fine("", append(args, "--json")...)
	var out map[string]any
	if err := json.Unmarshal([]byte(got.out), &out); err != nil || strings.Count(got.out, "\n") != 1 || got.err != "" {
		sh.t.Fatalf("steadfast %s --json: %v\n%s%s", strings.Join(args, " "), err, got.out, got.err)
	}
	return out
}

// TestCommandLineConversation: as a user in a terminal and in a pipe.
func TestCommandLineConversation(t *testing.T) {
	t.Parallel()
	sh := shared(t).shell()
	user := "--user=" + uuid.NewString()
	got := sh.fine("", "chat", "What time is it?", user)
	if !regexp.MustCompile(`^get_current_time answered: .*\d\d:\d\d.*\n$`).MatchString(got.out) || !regexp.MustCompile(`^\[get_current_time\]\n\[\d+ tokens in, \d+ out(, cache: \d+ read, \d+ written)?, \$0\.\d+\]\n$`).MatchString(got.err) {
		t.Errorf("the first answer: %+v", got)
	}
	contains(t, "the second answer", sh.fine("", "chat", "What did I say first?", user).out, "What time is it?")
	got = sh.fine("my name is Ada\n\nwhat is my name?\n/new\nwhat is my name?\n", "chat", user)
	if lines := strings.Split(got.out, "\n"); len(lines) != 4 || lines[1] != "Your name is Ada." || lines[2] != "You have not told me your name." {
		t.Errorf("a conversation through a pipe: %+v", got)
	}
	lines := strings.Split(strings.TrimSpace(sh.fine("", "chat", `say "hello"`, user, "--json").out), "\n")
	var answer map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil || answer["type"] != "answer" || answer["text"] != "hello" {
		t.Errorf("the last of the lines of --json: %v %v", answer, err)
	}
	got = sh.run(strings.Repeat("x", 150*1024), "chat", "-", user)
	if got != (said{"", "steadfast: the message has 153600 bytes, the limit is 131072 (128 KB)\n", 1}) {
		t.Errorf("150 KB: %+v", got)
	}
	got = sh.run("", "chat", "", user)
	if got != (said{"", "steadfast: the message is empty\n", 1}) {
		t.Errorf("nothing to say: %+v", got)
	}
}

// TestCommandLineStop: an interrupt stops the turn, not the session.
func TestCommandLineStop(t *testing.T) {
	t.Parallel()
	sh := shared(t).shell()
	user, out := "--user="+uuid.NewString(), &record{}
	cmd := sh.command("chat", "say 2000 words slow 20 ms", user)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the answer to begin", func() bool { return strings.Contains(out.String(), "word3") })
	asked := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a turn that was stopped ended with status 0")
	}
	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	contains(t, "output", out.String(), "[stopping; ctrl-c again leaves]\n", "\nsteadfast: the turn was stopped\n")
	if got := sh.fine("", "chat", `say "still here"`, user); got.out != "still here\n" {
		t.Errorf("after the stop: %+v", got)
	}
}

// TestCommandLineTasks: started, waited for, looked at, cancelled.
func TestCommandLineTasks(t *testing.T) {
	t.Parallel()
	sh := shared(t).shell()
	if got := sh.fine("", "task", "run", `say "done"`, "--wait"); got.out != "done\n" {
		t.Errorf("task run --wait: %+v", got)
	}
	id, _ := sh.object("task", "run", "say 2000 words slow 20 ms")["taskId"].(string)
	contains(t, "task get", sh.fine("", "task", "get", id).out, "task    "+id+"\n", "status  ")
	sh.fine("", "task", "cancel", id)
	if got := sh.object("task", "get", id); got["status"] != "FAILED" || got["error"] != "cancelled" {
		t.Errorf("task get --json of a cancelled task: %v", got)
	}
	got := sh.run("", "task", "run", "fail ValidationException", "--wait")
	if got.status != 1 || got.out != "" || !strings.Contains(got.err, "\nsteadfast: task ") {
		t.Errorf("a task that fails: %+v", got)
	}
	if got := sh.run("", "task", "get", "nobodys"); got != (said{"", "steadfast: no such task\n", 1}) {
		t.Errorf("task get of no task: %+v", got)
	}
	if got := sh.run("", "task", "run", "x", "--system", "nightly"); got.status != 1 || !strings.Contains(got.err, `as system "nightly"`) {
		t.Errorf("a system without a grant: %+v", got)
	}
}

// TestCommandLineSessions: listed, shown, deleted, and then gone.
func TestCommandLineSessions(t *testing.T) {
	t.Parallel()
	sh := shared(t).shell()
	user := "--user=" + uuid.NewString()
	if got := sh.fine("", "sessions", "list", user); got.out != "" || got.err != "no sessions yet\n" {
		t.Errorf("no sessions: %+v", got)
	}
	for range 2 {
		sh.fine("", "chat", "--new", `say "hello"`, user)
	}
	list := sh.object("sessions", "list", user)["sessions"].([]any)
	if len(list) != 2 {
		t.Fatalf("sessions = %v", list)
	}
	id := list[0].(map[string]any)["sessionId"].(string)
	contains(t, "sessions list", sh.fine("", "sessions", "list", user).out, "SESSION ", id)
	contains(t, "sessions show", sh.fine("", "sessions", "show", id, user).out, `"status": "waiting"`)
	if got := sh.object("sessions", "show", id, user); got["sessionId"] != id {
		t.Errorf("sessions show --json: %v", got)
	}
	if got := sh.run("", "sessions", "show", id); got != (said{"", "steadfast: not your session\n", 1}) {
		t.Errorf("sessions show as another user: %+v", got)
	}
	sh.fine("", "sessions", "delete", id, user)
	if got := sh.run("", "sessions", "show", id, user, "--json"); got.status != 1 || got.err != `{"code":"not_found","message":"no such session"}`+"\n" {
		t.Errorf("sessions show of a deleted one: %+v", got)
	}
	sh.fine("", "chat", `say "another"`, user) // the last session is gone: another begins
}

// TestCommandLineToken: what it prints is taken by the stack, also from somebody who gives it with --token.
func TestCommandLineToken(t *testing.T) {
	t.Parallel()
	s := shared(t)
	sh := s.shell()
	token := strings.TrimSpace(sh.fine("", "token", "--user", "ada").out)
	s.keep(token)
	s.with(token, "GET", "/agent/sessions", "").is(t, 200)
	sh.fine("", "chat", `say "hello"`, "--token", token)
	if got := sh.object("token", "--user", "ada"); got["user"] != "ada" || got["token"] == "" {
		t.Errorf("token --json = %v", got)
	}
	got := sh.run("", "sessions", "list", "--token", token+"x")
	if got.status != 1 || !strings.Contains(got.err, "the token was refused") || strings.Contains(got.err, token) {
		t.Errorf("a wrong token: %+v", got)
	}
}

// TestCommandLineWithTheHostDown: one line that says what to do.
func TestCommandLineWithTheHostDown(t *testing.T) {
	t.Parallel()
	sh := shell{t, t.TempDir(), "http://127.0.0.1:9"} // the discard port, where nobody listens
	for _, args := range [][]string{{"chat", "hello"}, {"token"}, {"sessions", "list"}, {"task", "run", "x"}, {"task", "get", "x"}} {
		got := sh.run("", args...)
		if got != (said{"", "steadfast: nothing listens at http://127.0.0.1:9: start it with `steadfast dev`\n", 1}) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
