package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// TestExpiredSession: a session whose time is over begins anew under its id, whether its rows are still there or not.
func TestExpiredSession(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	fresh := func(when, answer string, events int) {
		t.Helper()
		if strings.Contains(answer, "Ada") {
			t.Errorf("%s the session still knows: %q", when, answer)
		}
		if started := of[contract.SessionStarted](t, s.story(t, id)); len(started) != 1 {
			t.Errorf("%s: %d beginnings in one stream", when, len(started))
		}
		if turns := of[contract.TurnStarted](t, s.story(t, id)); len(turns) != events {
			t.Errorf("%s: %d turns, want %d", when, len(turns), events)
		}
	}
	p.ask(id, "my name is Ada")
	s.set(t, key.State(id), "attribute_exists(pk)", map[string]any{"expiresAt": 1_000_000_000})
	fresh("after its time", p.ask(id, "What is my name?").text, 1)

	p.ask(id, "my name is Ada")
	s.remove(t, key.State(id)) // what expiry takes first
	task := s.task("ada", fmt.Sprintf(`{"request":"What is my name?","sessionId":%q}`, id))
	got := s.finished("ada", task)
	if got["status"] != "COMPLETED" {
		t.Fatalf("a task in a session that has expired = %v", got)
	}
	fresh("after its state was taken", fmt.Sprint(got["output"]), 1)
}

// TestTaskBeginsASession: a task may name a session that nobody has begun. Its owner goes on there.
func TestTaskBeginsASession(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	if got := s.finished("ada", s.task("ada", fmt.Sprintf(`{"request":"my name is Ada","sessionId":%q}`, id))); got["status"] != "COMPLETED" {
		t.Errorf("task = %v", got)
	}
	contains(t, "the answer", s.connect("ada", "").ask(id, "What is my name?").text, "Ada")
}

// TestDeletedSessionWithTasks: the task that runs in it and the one that waits end with the reason, and both are told of.
func TestDeletedSessionWithTasks(t *testing.T) {
	t.Parallel()
	s, id := start(t, cloud.Options{}), uuid.NewString()
	running := s.task("ada", fmt.Sprintf(`{"request":"say 2000 words slow 20 ms","sessionId":%q}`, id))
	eventually(t, "the task to talk", func() bool { return len(of[contract.MessageAppended](t, s.story(t, id))) > 0 })
	waiting := s.task("ada", fmt.Sprintf(`{"request":"say \"never\"","sessionId":%q}`, id))
	eventually(t, "the other task to wait", func() bool {
		state, err := s.table.State(t.Context(), id)
		return err == nil && state.Pending() == 1
	})
	if got := s.as("ada", "DELETE", "/agent/sessions/"+id, ""); got.status != 204 {
		t.Fatalf("DELETE = %+v", got)
	}
	for _, task := range []string{running, waiting} {
		if got := s.finished("ada", task); got["status"] != "FAILED" || got["error"] != "session deleted" {
			t.Errorf("task = %v", got)
		}
		eventually(t, "its completion", func() bool { return len(s.completions(task)) == 1 })
	}
	s.quiet()
	s.overdue(t, key.State(id), nil)
	s.sweep(t) // what the turn's worker wrote too late goes with it
	s.onlyTombstone("after a sweep", id)
}

// TestRowsThatComeBack: what a late worker writes under a deleted session goes with the next sweep.
func TestRowsThatComeBack(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	s.connect("ada", "").ask(id, "hello")
	s.as("ada", "DELETE", "/agent/sessions/"+id, "")
	s.insert(t, keyOf(key.Event(id, 99)))
	s.overdue(t, key.State(id), nil)
	s.sweep(t)
	s.onlyTombstone("after a sweep", id)
}

// TestSessionOfTheTypeScriptPackage: rows as that package writes them are a session as any other: it is read, goes on where
// it was, and is deleted with all of its rows.
func TestSessionOfTheTypeScriptPackage(t *testing.T) {
	t.Parallel()
	const id, owner = "11111111-1111-4111-8111-111111111111", "user-1"
	s := start(t, cloud.Options{})
	for _, row := range packageRows(t) {
		s.insert(t, row)
	}
	token := s.tokenWith("whoever", identity.TokenOptions{Claims: map[string]any{"sub": owner}})
	if got := s.with(token, "GET", "/agent/sessions/"+id, "").is(t, 200); got["title"] != "Demo" || got["status"] != "waiting" {
		t.Errorf("session = %v", got)
	}
	if got := s.as("bob", "GET", "/agent/sessions/"+id, ""); got.status != 403 {
		t.Errorf("for somebody else = %+v", got)
	}
	conn, _, err := s.handshake(token, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	p := &talker{t, conn}
	contains(t, "the answer", p.ask(id, "What did I say first?").text, "Hello")
	contains(t, "the next answer", p.ask(id, "What are your instructions?").text, "You are terse.")
	if got := s.with(token, "DELETE", "/agent/sessions/"+id, ""); got.status != 204 {
		t.Errorf("DELETE = %+v", got)
	}
	s.onlyTombstone("after the deletion", id)

	unused := "22222222-2222-4222-8222-222222222222" // made by the package, and never talked in
	for _, row := range packageRows(t) {
		if row["sk"].(*types.AttributeValueMemberS).Value == key.ConfigSK {
			row["pk"], row["sessionId"] = &types.AttributeValueMemberS{Value: key.SessionPK(unused)}, &types.AttributeValueMemberS{Value: unused}
			s.insert(t, row)
		}
	}
	if got := s.with(token, "DELETE", "/agent/sessions/"+unused, ""); got.status != 204 {
		t.Errorf("DELETE of one that has only settings = %+v", got)
	}
	s.onlyTombstone("after the deletion", unused)
}

func packageRows(t *testing.T) []map[string]types.AttributeValue {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "package_items.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Items []map[string]any }
	if err := json.Unmarshal(body, &file); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]types.AttributeValue
	for _, item := range file.Items {
		row := map[string]types.AttributeValue{}
		for name, v := range item {
			row[name] = wire(t, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// wire reads a value in DynamoDB's JSON.
func wire(t *testing.T, v any) types.AttributeValue {
	t.Helper()
	for kind, in := range v.(map[string]any) {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: in.(string)}
		case "N":
			return &types.AttributeValueMemberN{Value: in.(string)}
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: in.(bool)}
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: true}
		case "L":
			list := &types.AttributeValueMemberL{}
			for _, one := range in.([]any) {
				list.Value = append(list.Value, wire(t, one))
			}
			return list
		case "M":
			m := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
			for name, one := range in.(map[string]any) {
				m.Value[name] = wire(t, one)
			}
			return m
		}
	}
	t.Fatalf("value %v is of no known kind", v)
	return nil
}
