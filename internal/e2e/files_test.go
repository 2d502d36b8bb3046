package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// TestFilesOfASession: files come with a message, tools read and write them, one is tagged; the owner lists and reads them over HTTP,
// large ones and the program's too; nobody else does; they go with the session.
func TestFilesOfASession(t *testing.T) {
	t.Parallel()
	s, user := shared(t), "user-"+uuid.NewString()
	made := s.as(user, "POST", "/agent/sessions", "").is(t, 201)
	id := made["sessionId"].(string)
	large := strings.Repeat("0123456789abcde\n", 15_000) // 240 KB
	s.post(user, id, contract.SendMessage{
		Message: `call read_file with {"path":"in/day.txt"} and write_file with {"path":"report.md","content":"# June"} then call tag_artifact with {"path":"report.md","artifact":"report"}`,
		Files:   map[string]string{"in/day.txt": "a sunny day", "large.txt": large},
	}).is(t, 202)
	s.waits(user, id)
	story := s.story(t, id)
	if diff := cmp.Diff([]contract.ArtifactTagged{{Path: "report.md", Artifact: "report", Bytes: 6}}, of[contract.ArtifactTagged](t, story)); diff != "" {
		t.Errorf("tagged (-want +got):\n%s", diff)
	}
	if got := of[contract.MessageReceived](t, story)[0].Files; cmp.Diff([]string{"in/day.txt", "large.txt"}, got) != "" {
		t.Errorf("the log names %v", got)
	}
	contains(t, "the answer", of[contract.TurnCompleted](t, story)[0].Result, "report.md")
	files := "/agent/sessions/" + id + "/files"
	var list contract.SessionFiles
	if err := json.Unmarshal([]byte(s.as(user, "GET", files, "").body), &list); err != nil {
		t.Fatal(err)
	}
	list.Files = slices.DeleteFunc(list.Files, func(f contract.FileInfo) bool { // others that the program has
		return !slices.Contains([]string{"house-style.md", "in/day.txt", "large.txt", "report.md"}, f.Path)
	})
	want := []contract.FileInfo{{Path: "house-style.md", Bytes: list.Files[0].Bytes}, {Path: "in/day.txt", Bytes: 11}, {Path: "large.txt", Bytes: 240_000}, {Path: "report.md", Bytes: 6, Artifact: "report"}}
	if diff := cmp.Diff(want, list.Files); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{"in/day.txt": "a sunny day", "large.txt": large, "report.md": "# June"} {
		if got := s.as(user, "GET", files+"/"+path, ""); got.status != 200 || got.body != strings.TrimSpace(want) {
			t.Errorf("%s reads %d with %d bytes", path, got.status, len(got.body))
		}
	}
	contains(t, "the program's file", s.as(user, "GET", files+"/house-style.md", "").body, "# House style")
	for path, status := range map[string]int{"/none.md": 404, "/%2e%2e%2fx": 400} {
		if got := s.as(user, "GET", files+path, ""); got.status != status {
			t.Errorf("%s = %d %s", path, got.status, got.body)
		}
	}
	if got := s.as("user-"+uuid.NewString(), "GET", files, ""); got.status != 403 {
		t.Errorf("somebody else reads %d %s", got.status, got.body)
	}
	token := s.waits(user, id)["continuationToken"].(string)
	refused := s.post(user, id, contract.SendMessage{Message: "hi", ContinuationToken: token, Files: map[string]string{"../x": "x"}}).is(t, 400)
	contains(t, "the refusal", refused["message"].(string), `path "../x": want a relative path`)
	if got := s.waits(user, id)["continuationToken"]; got != token {
		t.Error("a refused send turned the token over")
	}
	s.as(user, "DELETE", "/agent/sessions/"+id, "").is(t, 204)
	s.onlyTombstone("after the deletion", id)
}
