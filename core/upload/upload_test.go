package upload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/upload"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

var (
	ada = task.User("ada")
	bob = task.User("bob")
)

// bench is a table and its clock.
type bench struct {
	t      *testing.T
	edges  flow.Edges
	world  *fake.World
	dynamo *fake.Dynamo
	clock  *fake.Clock
}

func open(t *testing.T) bench {
	b := bench{t: t, world: &fake.World{}, clock: &fake.Clock{}}
	b.dynamo = fake.NewDynamo("table")
	b.dynamo.World, b.dynamo.Now = b.world, b.clock.Now
	b.edges = flow.Edges{Table: store.Table{Name: "table", DynamoDB: b.dynamo, Now: b.clock.Now}, Now: b.clock.Now}
	return b
}

func files(name, body string, more ...upload.File) []upload.File {
	return append([]upload.File{{Path: "SKILL.md", Text: "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n" + body}}, more...)
}

func (b bench) push(who contract.Principal, name, body string, more ...upload.File) upload.Listed {
	b.t.Helper()
	l, err := upload.Push{Edges: b.edges}.Do(b.t.Context(), upload.PushIn{Caller: who, Name: name, Files: files(name, body, more...)})
	must(b.t, err)
	return l
}

func (b bench) names(who contract.Principal) string {
	b.t.Helper()
	out, err := upload.List{Edges: b.edges}.Do(b.t.Context(), who)
	must(b.t, err)
	var all []string
	for _, l := range out.Skills {
		all = append(all, l.Name)
	}
	return strings.Join(all, " ")
}

// of gives the skills of a session, as a cold worker reads them: name and instructions.
func (b bench) of(sessionID string, who contract.Principal) (all []string, found []skill.Diagnostic) {
	b.t.Helper()
	list, found, err := (&upload.Sessions{Edges: b.edges}).Of(b.t.Context(), sessionID, who)
	must(b.t, err)
	for _, s := range list {
		all = append(all, s.Name+": "+s.Markdown)
	}
	return all, found
}

func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	return s.Value
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestASessionKeepsItsSkills: what is sent, sent anew and removed reaches sessions that begin later, never those that have begun.
func TestASessionKeepsItsSkills(t *testing.T) {
	b := open(t)
	all, _ := b.of("before", ada)
	same(t, "before anything is sent", []string(nil), all)
	first := b.push(ada, "refund", "Ask.", upload.File{Path: "a/terms.md", Text: "30 days"}, upload.File{Path: "logo.png", Bytes: []byte{0x89, 0, 1}})
	if first.Files != 3 || first.Description != "Does refund." || len(first.Digest) != 64 {
		t.Errorf("pushed %+v", first)
	}
	all, _ = b.of("one", ada)
	same(t, "the first session", []string{"refund: Ask."}, all)
	all, _ = b.of("before", ada)
	same(t, "a session that had found none", []string{"refund: Ask."}, all)
	b.push(ada, "refund", "Pay.")
	b.push(ada, "apology", "Be sorry.")
	all, _ = b.of("two", ada)
	same(t, "a later session", []string{"apology: Be sorry.", "refund: Pay."}, all)
	_, err := upload.Remove{Edges: b.edges}.Do(t.Context(), upload.RemoveIn{Caller: ada, Name: "refund"})
	must(t, err)
	all, _ = b.of("three", ada)
	same(t, "after the removal", []string{"apology: Be sorry."}, all)
	all, _ = b.of("one", ada)
	same(t, "the first session, still", []string{"refund: Ask."}, all)
	all, _ = b.of("two", ada)
	same(t, "the second session, still", []string{"apology: Be sorry.", "refund: Pay."}, all)
	same(t, "the list", "apology", b.names(ada))
	if _, err := (upload.Remove{Edges: b.edges}).Do(t.Context(), upload.RemoveIn{Caller: ada, Name: "refund"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

// TestSkillsAreTheirOwners: nobody else sees them, finds them or removes them.
func TestSkillsAreTheirOwners(t *testing.T) {
	b := open(t)
	b.push(ada, "refund", "Ask.")
	same(t, "bob's list", "", b.names(bob))
	all, _ := b.of("s", bob)
	same(t, "bob's session", []string(nil), all)
	if _, err := (upload.Remove{Edges: b.edges}).Do(t.Context(), upload.RemoveIn{Caller: bob, Name: "refund"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("bob removes it: %v", err)
	}
	s := &upload.Sessions{Edges: b.edges} // one warm worker for both
	list, _, err := s.Of(t.Context(), "s1", ada)
	must(t, err)
	b.push(bob, "refund", "Other.")
	other, _, err := s.Of(t.Context(), "s2", bob)
	must(t, err)
	if list[0].Markdown != "Ask." || other[0].Markdown != "Other." {
		t.Errorf("ada has %q, bob %q", list[0].Markdown, other[0].Markdown)
	}
}

// TestFilesComeBack: text and bytes, small and in parts, and nothing is read but by a path inside.
func TestFilesComeBack(t *testing.T) {
	b := open(t)
	large := make([]byte, 700_000)
	for i := range large {
		large[i] = byte(i * i >> 3)
	}
	b.push(ada, "refund", "Ask.", upload.File{Path: "a/large.bin", Bytes: large}, upload.File{Path: "evals/evals.json", Text: "answers"})
	list, _, err := (&upload.Sessions{Edges: b.edges}).Of(t.Context(), "s", ada)
	must(t, err)
	one := list[0]
	if one.Files["a/large.bin"] != string(large) || one.Scope != skill.Upload || one.Path != "uploads/refund/SKILL.md" {
		t.Errorf("%d bytes come back of %s at %s", len(one.Files["a/large.bin"]), one.Scope, one.Path)
	}
	names, _ := one.Resources()
	same(t, "resources", []string{"a/large.bin"}, names)
	for _, path := range []string{"../refund/SKILL.md", "evals/evals.json", "/a/large.bin"} {
		if _, err := one.ReadFile(path, 0, 0); err == nil {
			t.Errorf("%s can be read", path)
		}
	}
	parts := 0
	for _, row := range b.dynamo.Items("") {
		if k, ok := key.Parse(key.Key{PK: textOf(row["pk"]), SK: textOf(row["sk"])}); ok && k.Kind == "part" {
			parts++
		}
	}
	if parts < 2 {
		t.Errorf("the files lie in %d parts", parts)
	}
}

func TestWhatIsRefused(t *testing.T) {
	b := open(t)
	many := files("refund", "x")
	for i := range upload.MaxFiles {
		many = append(many, upload.File{Path: fmt.Sprint(i)})
	}
	for name, tc := range map[string]struct {
		skill string
		files []upload.File
		want  string
	}{
		"no SKILL.md":     {"refund", []upload.File{{Path: "skill.md", Text: "x"}}, "there is no SKILL.md"},
		"another name":    {"refund", files("other", "x"), "refund/SKILL.md:2: error: the name \"other\" is not that of its folder"},
		"no description":  {"refund", []upload.File{{Path: "SKILL.md", Text: "---\nname: refund\n---\nx"}}, "desc-missing"},
		"unknown field":   {"refund", []upload.File{{Path: "SKILL.md", Text: "---\nname: refund\ndescription: d\nmodel: x\n---\nx"}}, "unknown-field"},
		"a name":          {"Re fund", files("refund", "x"), "name: must be"},
		"a path up":       {"refund", files("refund", "x", upload.File{Path: "../x"}), `"../x" is no path inside`},
		"an absolute one": {"refund", files("refund", "x", upload.File{Path: "/etc/x"}), "is no path inside"},
		"a drive":         {"refund", files("refund", "x", upload.File{Path: `C:\x`}), "is no path inside"},
		"a NUL":           {"refund", files("refund", "x", upload.File{Path: "a\x00b"}), "is no path inside"},
		"twice":           {"refund", files("refund", "x", upload.File{Path: "a"}, upload.File{Path: "A"}), `"A" is there twice`},
		"file and folder": {"refund", files("refund", "x", upload.File{Path: "a"}, upload.File{Path: "a/b"}), `"a" is a file and a folder`},
		"too large":       {"refund", files("refund", "x", upload.File{Path: "a", Text: strings.Repeat("x", upload.MaxBytes)}), "more than 1048576 bytes"},
		"too many":        {"refund", many, "files: 101, the limit is 100"},
		"two contents":    {"refund", files("refund", "x", upload.File{Path: "a", Text: "x", Bytes: []byte("y")}), "has text and base64"},
	} {
		_, err := upload.Push{Edges: b.edges}.Do(t.Context(), upload.PushIn{Caller: ada, Name: tc.skill, Files: tc.files})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	same(t, "rows after all that", 0, len(b.dynamo.Items("")))
	for i := range upload.MaxSkills {
		b.push(ada, fmt.Sprintf("s%d", i), "x")
	}
	_, err := upload.Push{Edges: b.edges}.Do(t.Context(), upload.PushIn{Caller: ada, Name: "more", Files: files("more", "x")})
	if !fault.Is(err, fault.Limit) {
		t.Errorf("one skill more: %v", err)
	}
	b.push(ada, "s1", "another version") // of one that is there
}

// TestContentIsKeptWhileItIsUsed: a year later a session still has its skills; what nobody used is told, and can be sent again.
func TestContentIsKeptWhileItIsUsed(t *testing.T) {
	b := open(t)
	b.push(ada, "refund", "Ask.")
	b.push(ada, "other", "Do.")
	b.of("s", ada)
	b.clock.Advance(200 * 24 * time.Hour)
	all, found := b.of("s", ada)
	if len(all) != 2 || len(found) != 0 {
		t.Fatalf("after 200 days: %v, %v", all, found)
	}
	b.clock.Advance(390 * 24 * time.Hour) // 590 days in all: more than it was kept for at first
	list, _, err := (&upload.Sessions{Edges: b.edges}).Of(t.Context(), "new", ada)
	must(t, err)
	if len(list) != 2 {
		t.Errorf("what was used is gone: %v", list)
	}
	b.clock.Advance(500 * 24 * time.Hour)
	all, found = b.of("newer", ada)
	want := skill.Diagnostic{Severity: skill.Error, Path: "uploads/other/SKILL.md", Code: skill.FileMissing, Skipped: true,
		Text: "it cannot be read any more (no such skill); send it again"}
	if len(all) != 0 || len(found) != 2 || found[0] != want {
		t.Errorf("what nobody used: %v, %+v", all, found)
	}
	b.push(ada, "other", "Do.") // the same files
	all, _ = b.of("newest", ada)
	same(t, "sent again", []string{"other: Do."}, all)
}
