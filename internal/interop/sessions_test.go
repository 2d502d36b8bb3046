package interop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// TestSessionOfThePackage: our chat honours the owner, the prompt and the tools of a session that the package has made.
func TestSessionOfThePackage(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	made := call[map[string]any](b, "createSession", args{
		"userId": b.sub("ada"), "systemPrompt": "Speak of boats only.", "title": "Boats", "temperature": 0.2, "maxTokens": 500, "tools": []string{},
	})
	id := made["sessionId"].(string)
	if got := b.chat("bob", id, "hello"); got.Code != "denied" {
		t.Errorf("somebody else heard %+v, want denied", got)
	}
	contains(t, "the answer", b.chat("ada", id, "What are your instructions?").Text, "Speak of boats only.")
	contains(t, "the answer about tools", b.chat("ada", id, "What tools do you have?").Text, "I have no tools.")
	if got := b.as("ada", "GET", "/agent/sessions/"+id, "", 200); got["title"] != "Boats" {
		t.Errorf("its owner reads %v", got)
	}
	if diff := cmp.Diff(made, call[map[string]any](b, "getSessionConfig", args{"sessionId": id})); diff != "" {
		t.Errorf("the package reads its session after our turns (-made +read):\n%s", diff)
	}
	if _, err := b.node.call("createSession", args{"userId": "somebody", "sessionId": id}); err == nil {
		t.Error("the package made the session again")
	}
}

// TestRequestedSession: the package asks for a session by event, and we make it.
func TestRequestedSession(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	owner := b.sub("ada")
	want := map[string]any{
		"userId": owner, "systemPrompt": "Speak of posts only.", "modelId": "us.amazon.nova-pro-v1:0", "temperature": 0.0, "maxTokens": 300.0,
		"tools": []any{"get_current_time"}, "title": "Posts",
		"mcpServers": map[string]any{"blog": map[string]any{"url": "https://mcp.example.com/mcp", "headers": map[string]any{"x-version": "1"}}},
	}
	want["sessionId"] = call[map[string]any](b, "requestSession", args(want))["sessionId"]
	var got map[string]any
	eventually(t, "the session to be made", func() bool {
		got = call[map[string]any](b, "getSessionConfig", args{"sessionId": want["sessionId"]})
		return got != nil
	})
	if at, _ := got["createdAt"].(float64); at < 1e12 {
		t.Errorf("createdAt = %v, want ms", got["createdAt"])
	}
	delete(got, "createdAt")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the package reads (-asked +read):\n%s", diff)
	}
}

// TestSessionOfOurs: the package reads the configuration of a session that our API has made.
func TestSessionOfOurs(t *testing.T) {
	t.Parallel()
	b := on(t, segments)
	made := b.as("ada", "POST", "/agent/sessions", `{"systemPrompt":"Be terse.","title":"Ours","tools":["get_current_time"],"maxTokens":99}`, 201)
	got := call[map[string]any](b, "getSessionConfig", args{"sessionId": made["sessionId"]})
	delete(got, "createdAt")
	want := map[string]any{
		"sessionId": made["sessionId"], "userId": b.sub("ada"), "systemPrompt": "Be terse.", "title": "Ours",
		"tools": []any{"get_current_time"}, "maxTokens": 99.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the package reads (-want +got):\n%s", diff)
	}
	row := b.rows("SESSION#" + made["sessionId"].(string))["CONFIG"]
	if row["entity"] != "SessionConfig" || row["expiresAt"] == nil {
		t.Errorf("CONFIG = %v", row)
	}
}

// TestSessionWithoutConfig: neither side has heard of it, and both use their defaults.
func TestSessionWithoutConfig(t *testing.T) {
	t.Parallel()
	b, id := on(t, segments), uuid.NewString()
	if got := call[map[string]any](b, "getSessionConfig", args{"sessionId": id}); got != nil {
		t.Errorf("the package reads %v", got)
	}
	contains(t, "the answer", b.chat("ada", id, `say "hello"`).Text, "hello")
	if got := call[map[string]any](b, "getSessionConfig", args{"sessionId": id}); got != nil {
		t.Errorf("after our turn the package reads %v", got)
	}
}
