package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

const alreadyActive = "is already active: its instructions stand earlier in this conversation."

// TestSkillsInAChat: the offline model, told to, activates a skill and reads its file; the second time it is told that it is active,
// also after the conversation was made shorter; it gets nothing from outside the skill's folder.
func TestSkillsInAChat(t *testing.T) {
	t.Parallel()
	s, user, id := start(t, cloud.Options{Parameters: map[string]string{"BedrockContextTokens": "8500"}}), "user-"+uuid.NewString(), uuid.NewString()
	p := s.connect(user, "")
	contains(t, "its instructions", p.ask(id, "what are your instructions?").text, "<available_skills>", "<name>incident-report</name>")
	contains(t, "the first activation", p.ask(id, `call activate_skill with {"name":"incident-report"}`).text,
		`activate_skill answered: <skill_content name="incident-report"`, "Name systems and decisions, never people", "<file>assets/template.md</file>")
	contains(t, "its file", p.ask(id, `call read_skill_file with {"name":"incident-report","path":"assets/template.md"}`).text, "## Timeline")
	contains(t, "a part of it", p.ask(id, `call read_skill_file with {"name":"incident-report","path":"assets/template.md","limit":9}`).text, "# Inciden", "read on with offset 9")
	contains(t, "the second activation", p.ask(id, `call activate_skill with {"name":"incident-report"}`).text, alreadyActive)
	for path, want := range map[string]string{
		"../meeting-times/SKILL.md": "leads out of the skill's folder", "/etc/passwd": "is absolute", `..\\x`: "has a backslash",
		"evals/evals.json": "the files in evals are not for reading", "none.md": "has no file none.md; it has assets/template.md",
	} {
		contains(t, path, p.ask(id, `call read_skill_file with {"name":"incident-report","path":"`+path+`"}`).text, "read_skill_file failed: ", want)
	}
	for range 12 {
		p.ask(id, "say 200 words")
	}
	p.ask(id, "hello")
	contains(t, "what it remembers", p.ask(id, "what did I say first?").text, "say")
	if len(s.log.lines("history made shorter", id)) == 0 {
		t.Fatal("the conversation was not made shorter: the test shows nothing")
	}
	contains(t, "the activation after that", p.ask(id, `call activate_skill with {"name":"incident-report"}`).text, alreadyActive)
}

// TestASkillByItsName: /name activates without a step of the model, in a chat and in a task.
func TestASkillByItsName(t *testing.T) {
	t.Parallel()
	s, user, id := shared(t), "user-"+uuid.NewString(), uuid.NewString()
	p := s.connect(user, "")
	p.ask(id, `/incident-report say "done"`)
	story := s.story(t, id)
	if got := of[contract.MessageReceived](t, story)[0].Text; got != `/incident-report say "done"` {
		t.Errorf("the log has %q", got)
	}
	if steps, calls := of[contract.StepStarted](t, story), of[contract.ActionsRequested](t, story); len(steps) != 1 || len(calls) != 0 {
		t.Errorf("%d steps, %d of them with calls; want one that answers", len(steps), len(calls))
	}
	contains(t, "the activation after that", p.ask(id, `call activate_skill with {"name":"incident-report"}`).text, alreadyActive)
	task := s.task(user, `{"request":"/meeting-times call read_skill_file with {\"name\":\"meeting-times\",\"path\":\"references/zones.md\"}"}`)
	if got := s.finished(user, task); !strings.Contains(got["output"].(string), "Europe/Berlin") {
		t.Errorf("the task came to %v", got)
	}
}

// TestSkillsThatAreSent: checked, seen by their owner in sessions that begin later, kept by those that have begun.
func TestSkillsThatAreSent(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	sh := s.shell()
	dir := filepath.Join(sh.home, "sent-for-a-test")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	push := func() said { return sh.run("", "--user", user, "skills", "push", dir) }
	write("SKILL.md", "---\nname: Sent-for-a-test\n---\n")
	got := push()
	contains(t, "what a broken one is told", got.out+got.err, "desc-missing", "nothing was sent")
	write("SKILL.md", "---\nname: sent-for-a-test\ndescription: Use when money is asked back.\n---\nRead terms.md.")
	write("terms.md", "Thirty days.")
	write("evals/evals.json", "the answers")
	if got = push(); got.status != 0 {
		t.Fatalf("push: %s", got.err)
	}
	contains(t, "push", got.out, "sent-for-a-test is there, 2 files")

	older := uuid.NewString()
	p := s.connect(user, "")
	contains(t, "the first version", p.ask(older, `call read_skill_file with {"name":"sent-for-a-test","path":"terms.md"}`).text, "Thirty days.")
	write("terms.md", "Ninety days. "+strings.Repeat("\u00e9\u0100", 100))
	if got = push(); got.status != 0 {
		t.Fatalf("push again: %s", got.err)
	}
	contains(t, "the older session", p.ask(older, `call read_skill_file with {"name":"sent-for-a-test","path":"terms.md"}`).text, "Thirty days.")
	newer := uuid.NewString()
	contains(t, "a newer session", p.ask(newer, `call read_skill_file with {"name":"sent-for-a-test","path":"terms.md"}`).text, "Ninety days.")
	contains(t, "somebody else", s.connect("other-"+user, "").ask(uuid.NewString(), `call activate_skill with {"name":"sent-for-a-test"}`).text,
		`there is no skill "sent-for-a-test"`)
	contains(t, "the list", sh.fine("", "--user", user, "skills", "list", "--uploaded").out, "sent-for-a-test  ")

	// One with a name that is taken is told, and reached as name@upload.
	body, err := json.Marshal(map[string]any{"files": []map[string]string{{"path": "SKILL.md", "text": "---\nname: meeting-times\ndescription: Mine.\n---\nAsk them."}}})
	if err != nil {
		t.Fatal(err)
	}
	s.as(user, "PUT", "/agent/skills/meeting-times", string(body)).is(t, 200)
	third := uuid.NewString()
	contains(t, "the built-in one", p.ask(third, `call activate_skill with {"name":"meeting-times"}`).text, "Never compute an offset")
	p.ask(third, "/meeting-times@upload")
	reports := of[contract.SkillsReported](t, s.story(t, third))
	if len(reports) != 1 || reports[0].Findings[0].Code != "name-collision" || reports[0].Findings[0].Path != "uploads/meeting-times/SKILL.md" {
		t.Errorf("reported: %+v", reports)
	}

	contains(t, "remove", sh.fine("", "--user", user, "skills", "remove", "sent-for-a-test").out, "sent-for-a-test is removed")
	if got := sh.run("", "--user", user, "skills", "remove", "sent-for-a-test"); got.status != 1 {
		t.Errorf("removed twice: %+v", got)
	}
	contains(t, "a session that has it", p.ask(newer, `call read_skill_file with {"name":"sent-for-a-test","path":"terms.md"}`).text, "Ninety days.")
	contains(t, "a session after that", p.ask(uuid.NewString(), `call activate_skill with {"name":"sent-for-a-test"}`).text, `there is no skill "sent-for-a-test"`)
	for path, body := range map[string]string{"/agent/skills/sent-for-a-test": `{"files":[{"path":"../SKILL.md","text":"x"}]}`, "/agent/skills/Sent-for-a-test": `{"files":[]}`} {
		if refused := s.as(user, "PUT", path, body).is(t, 400); refused["code"] != "invalid" {
			t.Errorf("PUT %s = %v", path, refused)
		}
	}
}
