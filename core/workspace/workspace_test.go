package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/workspace"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func open(session string) workspace.Workspace {
	return workspace.Workspace{
		Rows: store.Table{Name: "t", DynamoDB: fake.NewDynamo("t")}, SessionID: session,
		Seed: fstest.MapFS{"guide.md": {Data: []byte("# Guide")}, "lists/one.txt": {Data: []byte("1")}},
	}
}

func TestPathsStayInside(t *testing.T) {
	w := open("s1")
	for _, path := range []string{
		"", ".", "..", "../x", "a/../x", "a/./x", "/etc/passwd", "a//b", "a/", `a\b`, `..\x`, "a\x00b", "a\nb", "\xff", strings.Repeat("a", contract.MaxFilePath+1),
	} {
		_, read := w.ReadFile(t.Context(), path)
		if written := w.WriteFile(t.Context(), path, "x"); !fault.Is(read, fault.Invalid) || !fault.Is(written, fault.Invalid) {
			t.Errorf("%q: read %v, written %v, want Invalid", path, read, written)
		}
	}
	for _, path := range []string{"a", "a/b.c", "...", "ünï", "a b", ".hidden", "FILE#x"} {
		if err := w.WriteFile(t.Context(), path, path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
		if got, err := w.ReadFile(t.Context(), path); err != nil || got != path {
			t.Errorf("%q reads %q, %v", path, got, err)
		}
	}
}

func TestTheProgramsFilesShowUntilWrittenOver(t *testing.T) {
	w := open("s1")
	check := func(want ...contract.FileInfo) {
		t.Helper()
		got, err := w.ListFiles(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	check(contract.FileInfo{Path: "guide.md", Bytes: 7}, contract.FileInfo{Path: "lists/one.txt", Bytes: 1})
	if got, err := w.ReadFile(t.Context(), "guide.md"); err != nil || got != "# Guide" {
		t.Errorf("reads %q, %v", got, err)
	}
	if err := w.WriteFile(t.Context(), "guide.md", "mine"); err != nil {
		t.Fatal(err)
	}
	check(contract.FileInfo{Path: "guide.md", Bytes: 4}, contract.FileInfo{Path: "lists/one.txt", Bytes: 1})
	if got, err := w.ReadFile(t.Context(), "guide.md"); err != nil || got != "mine" {
		t.Errorf("reads %q, %v", got, err)
	}
	if _, err := w.ReadFile(t.Context(), "lists"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a folder reads as %v", err)
	}
	w.SessionID = "s2"
	if got, err := w.ReadFile(t.Context(), "guide.md"); err != nil || got != "# Guide" {
		t.Errorf("another session reads %q, %v", got, err)
	}
}

func TestLimits(t *testing.T) {
	w := open("s1")
	tests := []struct {
		name, path, content string
		code                fault.Code
	}{
		{"as long as can be", "f", strings.Repeat("x", contract.MaxFileBytes), ""},
		{"longer", "f", strings.Repeat("x", contract.MaxFileBytes+1), fault.Limit},
		{"no text", "f", "\xff\xfe", fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := w.WriteFile(t.Context(), tt.path, tt.content); fault.CodeOf(err) != tt.code {
				t.Errorf("WriteFile = %v, want %q", err, tt.code)
			}
		})
	}
	full := func(n int) error { return w.WriteFile(t.Context(), fmt.Sprint("n", n), "") }
	for n := range contract.MaxFiles - 1 {
		if err := full(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := full(contract.MaxFiles); !fault.Is(err, fault.Limit) {
		t.Errorf("one file too many: %v", err)
	}
	if err := full(0); err != nil {
		t.Errorf("over one that is there: %v", err)
	}
	w.SessionID = "s2"
	var err error
	for n := 0; n < 12 && err == nil; n++ {
		err = w.WriteFile(t.Context(), fmt.Sprint("n", n), strings.Repeat("x", contract.MaxFileBytes))
	}
	if !fault.Is(err, fault.Limit) {
		t.Errorf("more than %d bytes: %v", contract.MaxWorkspaceSize, err)
	}
}

func TestTools(t *testing.T) {
	w := open("s1")
	call := func(files tool.Files, name, input string) string {
		t.Helper()
		found, _ := tool.FileTools().Pick(name)
		out, err := found[0].Call(tool.Context{Context: context.Background(), Files: files}, json.RawMessage(input))
		if err != nil {
			return fault.Public(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	long := strings.Repeat("é", 20_000) // 40,000 bytes
	tests := []struct{ name, tool, input, want string }{
		{"write", "write_file", `{"path":"n.md","content":"héllo"}`, `{"path":"n.md","bytes":6}`},
		{"read", "read_file", `{"path":"n.md"}`, `{"content":"héllo","bytes":6}`},
		{"a part ends between characters", "read_file", `{"path":"n.md","limit":2}`, `{"content":"h","bytes":6,"next":1}`},
		{"the rest", "read_file", `{"path":"n.md","offset":1}`, `{"content":"éllo","bytes":6}`},
		{"past the end", "read_file", `{"path":"n.md","offset":7}`, `offset 7: want 0 to 6`},
		{"not there", "read_file", `{"path":"x"}`, `no such file: x`},
		{"outside", "write_file", `{"path":"../x","content":""}`, `path "../x": want a relative path like notes/today.md, without .. and \`},
		{"write much", "write_file", `{"path":"long","content":"` + long + `"}`, `{"path":"long","bytes":40000}`},
		{"read much", "read_file", `{"path":"long"}`, `{"content":"` + long[:32768] + `","bytes":40000,"next":32768}`},
		{"list", "list_files", `{}`, `{"files":[{"path":"guide.md","bytes":7},{"path":"lists/one.txt","bytes":1},{"path":"long","bytes":40000},{"path":"n.md","bytes":6}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := call(w, tt.tool, tt.input); got != tt.want {
				t.Errorf("%s(%.80s) = %.200s, want %.200s", tt.tool, tt.input, got, tt.want)
			}
		})
	}
	if got := call(nil, "list_files", `{}`); got != "there is no workspace here" {
		t.Errorf("without a workspace: %s", got)
	}
}
