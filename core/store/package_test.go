package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

const packageSession = "11111111-1111-4111-8111-111111111111"

// packageRows are rows as the TypeScript package writes them: a session with three turns and four tasks.
func packageRows(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/package_rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw []map[string]any
	if err := json.Unmarshal(data, &raw); err != nil || len(raw) != 7 {
		t.Fatalf("%d rows, %v", len(raw), err)
	}
	rows := make([]row, len(raw))
	for i, r := range raw {
		rows[i] = row{}
		for name, v := range r {
			rows[i][name] = value(v)
		}
	}
	return rows
}

// value reads a value in DynamoDB's JSON.
func value(v any) types.AttributeValue {
	for kind, v := range v.(map[string]any) {
		switch kind {
		case "S":
			return text(v.(string))
		case "N":
			return number(v.(string))
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: v.(bool)}
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: true}
		case "M":
			m := row{}
			for name, e := range v.(map[string]any) {
				m[name] = value(e)
			}
			return &types.AttributeValueMemberM{Value: m}
		case "L":
			l := []types.AttributeValue{}
			for _, e := range v.([]any) {
				l = append(l, value(e))
			}
			return &types.AttributeValueMemberL{Value: l}
		}
	}
	panic(fmt.Sprint("not a value: ", v))
}

func TestRowsOfThePackageAreRead(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, r := range packageRows(t) {
			b.put(t, r)
		}
		config, expires, err := b.Config(t.Context(), packageSession)
		want := session.Config{SessionID: packageSession, UserID: "user-1", Title: "Demo", SystemPrompt: "You are terse.", ModelID: "fake.t3.d0", Temperature: ptr(0.25),
			MaxTokens: 512, Tools: []string{"notebook"}, MCPServers: map[string]contract.MCPServer{"blog": {URL: "https://mcp.example.com/mcp",
				Headers: map[string]string{"x-a": "1"}, AuthHeader: &contract.AuthHeader{Name: "x-auth", Value: "tok"}}}}
		if diff := cmp.Diff(want, config); diff != "" || err != nil || expires != 4102444800 {
			t.Errorf("Config until %d: %v (-want +got):\n%s", expires, err, diff)
		}
		tasks := map[string]task.Task{
			"task-done": {Status: task.Completed, Principal: task.System("booked"), Request: "run", Output: "the answer", CreatedAt: 1796041878396, UpdatedAt: 1796041878401},
			"task-failed": {Status: task.Failed, Principal: user, Request: "run", Error: "boom", CreatedAt: 1796041878406,
				UpdatedAt: 1796041878416},
			"task-pending": {Status: task.Pending, Principal: user, Request: "do it", SessionID: packageSession, CreatedBy: "user-2", CreatedAt: 1796041878385,
				UpdatedAt: 1796041878385},
			"task-running": {Status: task.Running, Principal: task.System("booked"), Request: "run", CreatedAt: 1796041878390, UpdatedAt: 1796041878390},
		}
		for id, want := range tasks {
			want.TaskID, want.ExpiresAt = id, 4102444800
			got, err := b.Task(t.Context(), id)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("Task(%s): %v (-want +got):\n%s", id, err, diff)
			}
		}
	})
}

// Our rows of the same kinds have every attribute of the package's, of the same type, so that it can read them.
func TestOurRowsHaveThePackagesAttributes(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if _, err := b.CreateSession(t.Context(), session.Config{SessionID: packageSession, UserID: "u", Title: "t", SystemPrompt: "p", ModelID: "m",
			Temperature: ptr(0.5), MaxTokens: 1, Tools: []string{"x"}, MCPServers: map[string]contract.MCPServer{"x": {URL: "https://x"}}}); err != nil {
			t.Fatal(err)
		}
		b.commit(t, store.PutLatest(packageSession, store.PackageSnapshotID, b.clock.Now()))
		for id, status := range map[string]task.Status{"task-done": task.Completed, "task-failed": task.Failed} {
			r := task.Request{TaskID: id, Principal: user, Request: "x"}
			claimed, err := b.StartTask(t.Context(), r, task.Claim{Owner: "o", DeliveryID: "d", Lease: time.Minute})
			if err == nil {
				err = b.FinishTask(t.Context(), claimed, task.Result{Status: status, Output: "out", Error: "boom"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.CreateTask(t.Context(), task.Request{TaskID: "task-pending", Principal: user, Request: "x", CreatedBy: "y"}); err != nil {
			t.Fatal(err)
		}
		for _, theirs := range packageRows(t) {
			k := key.Key{PK: theirs["pk"].(*types.AttributeValueMemberS).Value, SK: theirs["sk"].(*types.AttributeValueMemberS).Value}
			ours := b.row(t, k)
			if ours == nil {
				continue // written by other tests, or never by us
			}
			for name, v := range theirs {
				if _, null := v.(*types.AttributeValueMemberNULL); !null && fmt.Sprintf("%T", v) != fmt.Sprintf("%T", ours[name]) {
					t.Errorf("%s %s: %s is %T, the package's %T", k.PK, k.SK, name, ours[name], v)
				}
			}
			if diff := cmp.Diff(theirs["entity"], ours["entity"], cmpopts.IgnoreUnexported(types.AttributeValueMemberS{})); diff != "" {
				t.Errorf("%s %s (-theirs +ours):\n%s", k.PK, k.SK, diff)
			}
		}
	})
}

// Which of the package's tasks a handler may take up, and that what it writes leaves nothing of the old end behind.
func TestTasksOfThePackageAreTakenUp(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, r := range packageRows(t) {
			b.put(t, r)
		}
		for id, want := range map[string]fault.Code{"task-pending": "", "task-failed": "", "task-done": fault.Conflict, "task-running": fault.Conflict} {
			r := task.Request{TaskID: id, Principal: task.User("somebody else"), Request: "other"}
			claimed, err := b.StartTask(t.Context(), r, task.Claim{Owner: "o", DeliveryID: "d", Lease: time.Minute})
			wants(t, "StartTask of "+id, err, want)
			if want != "" {
				continue
			}
			if err := b.FinishTask(t.Context(), claimed, task.Result{Status: task.Completed, Output: "ours"}); err != nil {
				t.Fatal(err)
			}
			got, err := b.Task(t.Context(), id)
			if err != nil || got.Output != "ours" || got.Error != "" || got.Principal != user || got.Request == "other" || got.Fence != 1 {
				t.Errorf("%s is %+v, %v; want our output, no error, and its principal and request kept", id, got, err)
			}
		}
	})
}

func TestTheSnapshotOfThePackageIsRead(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		_, _, err := b.PackageSnapshot(t.Context(), packageSession)
		wants(t, "PackageSnapshot of no session", err, fault.NotFound)
		for _, r := range packageRows(t) {
			b.put(t, r)
		}
		h, tip, err := b.PackageSnapshot(t.Context(), packageSession)
		if err != nil || tip != "" || len(h.Messages) != 8 {
			t.Fatalf("PackageSnapshot = %d messages at %q, %v; want 8 of the package's own", len(h.Messages), tip, err)
		}
		last := ""
		for _, m := range h.Messages {
			last += string(m.Role)[:1]
			if m.PlainText() != "" {
				last += "[" + m.PlainText() + "]"
			}
			for _, c := range m.Calls() {
				last += "(" + c.Name + string(c.Input) + ")"
			}
		}
		want := `u[Hello]a[2see 66re caqe ]u[And again: é 😀]a[2see 66re caqe ]u[use the tool]a(lookup{"key":"value"})ua[2see 66re caqe ]`
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		if string(h.State) != "{}" || h.SystemPrompt != "You are a helpful assistant." {
			t.Errorf("state %s, prompt %q", h.State, h.SystemPrompt)
		}
	})
}

// What we write in the package's shape has the same attributes as its own row, but for the note of our tip, and says the same.
func TestTheSnapshotOfThePackageIsWritten(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		var theirs row
		for _, r := range packageRows(t) {
			b.put(t, r)
			if r["entity"].(*types.AttributeValueMemberS).Value == "Snapshot" {
				theirs = r
			}
		}
		h, _, err := b.PackageSnapshot(t.Context(), packageSession)
		if err != nil {
			t.Fatal(err)
		}
		b.commit(t, store.PutPackageSnapshot(packageSession, "tip-1", h, b.clock.Now()), store.PutLatest(packageSession, store.PackageSnapshotID, b.clock.Now()))
		ours := b.row(t, key.Snapshot(packageSession, store.PackageSnapshotID))
		if diff := cmp.Diff(plain(theirs["snapshot"]), plain(ours["snapshot"])); diff != "" {
			t.Errorf("snapshot (-theirs +ours):\n%s", diff)
		}
		for name := range theirs {
			if ours[name] == nil {
				t.Errorf("our row has no %s", name)
			}
		}
		again, tip, err := b.PackageSnapshot(t.Context(), packageSession)
		if diff := cmp.Diff(h, again); diff != "" || tip != "tip-1" || err != nil {
			t.Errorf("read again at %q: %v (-want +got):\n%s", tip, err, diff)
		}
	})
}

// plain is a value as text, numbers by what they mean.
func plain(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		m := map[string]any{}
		for name, e := range v.Value {
			m[name] = plain(e)
		}
		return m
	case *types.AttributeValueMemberL:
		l := []any{}
		for _, e := range v.Value {
			l = append(l, plain(e))
		}
		return l
	case *types.AttributeValueMemberS:
		return "S " + v.Value
	case *types.AttributeValueMemberN:
		return "N " + v.Value
	case *types.AttributeValueMemberBOOL:
		return v.Value
	}
	return nil
}

// State that the table can hold returns equal by meaning; what it cannot is refused by name before anything is written.
func TestP24StateInThePackagesShape(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	tests := []struct {
		name, state string
		want        fault.Code
		names       string // what the refusal names
	}{
		{"empty list, map, text and null", `{"l":[],"m":{},"s":"","n":null,"b":false,"z":0}`, "", ""},
		{"large and small numbers", `{"i":9007199254740993,"f":0.1,"e":1e25,"d":-1.5e-10,"m":99999999999999999999999999999999999999,"t":1e-130,"b":9.9e125}`, "", ""},
		{"zero in other forms", `{"a":0e999,"b":-0.0,"c":0.000}`, "", ""},
		{"reserved words", `{"state":1,"ttl":2,"status":{"size":[{"name":"x"}]}}`, "", ""},
		{"a number that is too large", `{"ok":1,"deep":[{"big":1e400}]}`, fault.Invalid, "big"},
		{"a number that is too small", `{"tiny":1e-400}`, fault.Invalid, "tiny"},
		{"just over the largest", `{"over":1e126}`, fault.Invalid, "over"},
		{"just under the smallest", `{"under":9.9e-131}`, fault.Invalid, "under"},
		{"39 digits", `{"long":1.00000000000000000000000000000000000001}`, fault.Invalid, "long"},
		{"nested as deep as possible", `{"x":` + deep(28) + `}`, "", ""},
		{"nested too deep", `{"x":` + deep(29) + `}`, fault.Invalid, "x"},
	}
	each(t, func(t *testing.T, b bench) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				h := snapshot.Strands{State: json.RawMessage(tt.state), CreatedAt: b.clock.Now(), Messages: []model.Message{model.Text(model.User, "hi")}}
				err := b.Commit(t.Context(), store.PutPackageSnapshot("s", "tip", h, b.clock.Now()), store.PutLatest("s", store.PackageSnapshotID, b.clock.Now()))
				wants(t, "PutPackageSnapshot", err, tt.want)
				if err != nil {
					if !strings.Contains(err.Error(), tt.names) {
						t.Errorf("%v does not name %s", err, tt.names)
					}
					return
				}
				got, _, err := b.PackageSnapshot(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(meaning(t, tt.state), meaning(t, string(got.State))); diff != "" {
					t.Errorf("state (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// meaning reads JSON with every digit of its numbers, in one form.
func meaning(t *testing.T, data string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return exact(t, v)
}

func TestASnapshotThatFitsIntoNoRow(t *testing.T) {
	b := openFake(t)
	h := snapshot.Strands{CreatedAt: b.clock.Now(), Messages: []model.Message{model.Text(model.User, strings.Repeat("x", store.MaxItemBytes))}}
	wants(t, "PutPackageSnapshot", b.Commit(t.Context(), store.PutPackageSnapshot("s", "tip", h, b.clock.Now())), fault.Limit)
}

func TestP23AnExpiredSnapshotOfThePackageIsNotSeen(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		h := snapshot.Strands{CreatedAt: b.clock.Now(), Messages: []model.Message{model.Text(model.User, "hi")}}
		b.commit(t, store.PutPackageSnapshot("s", "tip", h, b.clock.Now()), store.PutLatest("s", store.PackageSnapshotID, b.clock.Now()))
		b.clock.Advance(session.Life - time.Second)
		_, _, err := b.PackageSnapshot(t.Context(), "s")
		wants(t, "PackageSnapshot in time", err, "")
		b.commit(t, store.PutLatest("s", store.PackageSnapshotID, b.clock.Now()))
		b.clock.Advance(time.Second)
		_, _, err = b.PackageSnapshot(t.Context(), "s")
		wants(t, "PackageSnapshot that is over, under a pointer that is not", err, fault.NotFound)
		b.commit(t, store.PutPackageSnapshot("s", "tip", h, b.clock.Now()))
		b.clock.Advance(session.Life - time.Second)
		_, _, err = b.PackageSnapshot(t.Context(), "s")
		wants(t, "PackageSnapshot under a pointer that is over", err, fault.NotFound)
	})
}
