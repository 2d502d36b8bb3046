package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

func withFiles(files map[string]string) func(*flow.AdmitIn) {
	return func(in *flow.AdmitIn) { in.Files = files }
}

// clerk reads what came, writes a report and tags it and the program's guide.
func clerk(req model.Request) fake.Turn {
	call := func(id, name, input string) model.ToolUse {
		return model.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}
	}
	results := 0
	for _, m := range req.Messages {
		results += len(m.Results())
	}
	switch results {
	case 0:
		return fake.Calls("", call("c1", "read_file", `{"path":"in/day.txt"}`), call("c2", "write_file", `{"path":"report.md","content":"# Report"}`))
	case 2:
		return fake.Calls("", call("c3", "tag_artifact", `{"path":"report.md","artifact":"report"}`), call("c4", "tag_artifact", `{"path":"guide.md","artifact":"guide"}`))
	}
	return fake.Say("Done.")
}

func filing() *stage.Play {
	p := play(clerk)
	p.Engine.Tools, p.Engine.Workspace = tool.FileTools(), fstest.MapFS{"guide.md": {Data: []byte("# Guide")}}
	p.Acts = []act{func(ctx context.Context) error {
		_, err := p.Send(ctx, id, "file it", as(contract.Preempt, "dlv_1"), withFiles(map[string]string{"in/day.txt": "a day"}))
		return err
	}}
	return p
}

// shelf tells the session's files and what the log says of them.
func shelf(p *stage.Play) string {
	ctx := context.Background()
	files, err := flow.SessionFiles{Edges: p.Edges, Seed: p.Engine.Workspace}.List(ctx, flow.SessionOf{SessionID: id, Caller: stage.User})
	out := fmt.Sprintln(files, err)
	for e, err := range p.Edges.Table.SessionEvents(ctx, id, 0) {
		if err != nil || e.Type == "artifact.tagged" || strings.Contains(string(e.Data), `"files"`) {
			out += fmt.Sprintln(e.Type, string(e.Data), err)
		}
	}
	return out
}

const wantShelf = `{[{guide.md 7 guide} {in/day.txt 5 } {report.md 8 report}]} <nil>
message.received {"text":"file it","deliveryIds":["dlv_1"],"files":["in/day.txt"]} <nil>
artifact.tagged {"path":"report.md","artifact":"report","bytes":8} <nil>
artifact.tagged {"path":"guide.md","artifact":"guide","bytes":7} <nil>
`

// TestExploreFilesOfATurn kills, cuts and repeats at every call: the files of a message are there before the model is asked, and each
// tag is told once, with the result of its call.
func TestExploreFilesOfATurn(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a turn with files", Pairs: 40, New: func() *fake.Run {
		p := filing()
		return p.Run(nil, func() error {
			if got := sorted(shelf(p)); got != sorted(wantShelf) {
				return fmt.Errorf("files (-want +got):\n%s", cmp.Diff(wantShelf, got))
			}
			for _, req := range p.Model.Requests() {
				if text := req.Messages[0].PlainText(); !strings.Contains(text, "in/day.txt") {
					return fmt.Errorf("the model was asked %q", text)
				}
			}
			return p.Check(id)
		})
	}})
}

// sorted is the same for the calls of one step, which may end in any order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) > 3 && lines[2] > lines[3] {
		lines[2], lines[3] = lines[3], lines[2]
	}
	return strings.Join(lines, "\n")
}

// TestFilesOfANudge come with it into the running turn.
func TestFilesOfANudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filing()
		p.Mid = []act{func(ctx context.Context) error {
			_, err := p.Send(ctx, id, "and this", as(contract.Coalesce, "dlv_2"), withFiles(map[string]string{"b.txt": "b"}))
			return err
		}}
		if err := p.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := shelf(p); !strings.Contains(got, `{b.txt 1 }`) || !strings.Contains(got, `nudge.delivered {"text":"and this","deliveryId":"dlv_2","files":["b.txt"]}`) {
			t.Error(got)
		}
	})
}

// TestNothingIsStoredOfASendThatIsRefused: neither of a path that leads out, nor of too much, nor of one that came while a turn ran.
func TestNothingIsStoredOfASendThatIsRefused(t *testing.T) {
	many := map[string]string{}
	for n := range contract.MaxSendFiles + 1 {
		many[fmt.Sprint(n)] = ""
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a path that leads out": {map[string]string{"../x": "x"}, `files: path "../x": want a relative path like notes/today.md, without .. and \`},
		"too much":              {map[string]string{"x": strings.Repeat("x", contract.MaxSendBytes)}, "files: 307203 bytes with the message, the limit is 307200"},
		"too many":              {many, "files: 21, the limit is 20"},
		"no text":               {map[string]string{"x": "\xff"}, "files: file x: want text in UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filing()
				if _, err := p.Send(t.Context(), id, "hi", withFiles(map[string]string{"ok": "1"}), withFiles(tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("Send = %v, want %q", err, tt.want)
				}
				if rows := p.Dynamo.Items(""); len(rows) != 0 {
					t.Errorf("%d rows were stored", len(rows))
				}
			})
		})
	}
}

// TestAFileThatFindsNoRoom is left out, and the model is told.
func TestAFileThatFindsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filing()
		for n := range contract.MaxFiles - 2 {
			if err := p.Edges.Table.PutFile(t.Context(), id, fmt.Sprint("old", n), "", 0); err != nil {
				t.Fatal(err)
			}
		}
		p.Acts = []act{func(ctx context.Context) error {
			_, err := p.Send(ctx, id, "keep", withFiles(map[string]string{"in/day.txt": "1", "in/z": "2", "in/zz": "3"}))
			return err
		}}
		if err := p.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := p.Model.Requests()[0].Messages[0]
		if got := said.PlainText(); !strings.Contains(got, "in/day.txt, in/z]") || !strings.Contains(got, "Files that were not kept: in/zz (") {
			t.Errorf("the model was told %q", got)
		}
	})
}

// TestFilesGoWithTheSession: none is left when it was deleted, also of those in parts.
func TestFilesGoWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filing()
		if err := p.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Edges.Table.PutFile(t.Context(), id, "large", strings.Repeat("0123456789abcdef", 60_000), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := remove(p, id)(t.Context()); err != nil {
			t.Fatal(err)
		}
		if files, err := p.Edges.Table.Files(t.Context(), id); err != nil || len(files) != 0 {
			t.Errorf("left: %v, %v", files, err)
		}
		for _, row := range p.Dynamo.Items("") {
			if sk := fmt.Sprint(row["sk"]); strings.Contains(sk, "FILE#") {
				t.Errorf("left: %s", sk)
			}
		}
	})
}
