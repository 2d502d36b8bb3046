package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// filed is a play in which a blocked turn has files, of its message, of one in the middle and of its tool, and the turn before has one.
func filed() *stage.Play {
	p := play(func(req model.Request) fake.Turn {
		if strings.Contains(req.Messages[len(req.Messages)-1].PlainText(), "file "+secret) {
			return fake.Calls("", model.ToolUse{ID: "c1", Name: "write_file", Input: json.RawMessage(`{"path":"note.md","content":"` + secret + `"}`)})
		}
		return guarded(req)
	})
	p.Engine.Tools = tool.FileTools()
	with := func(text string, admission contract.Admission, files map[string]string) act {
		return func(ctx context.Context) error {
			_, err := p.Send(ctx, id, text, as(admission, "dlv_"+text[:1]), withFiles(files))
			return err
		}
	}
	p.Acts = []act{
		with("hello", contract.Preempt, map[string]string{"kept.txt": "harmless"}), rest(p, id),
		with("file "+secret, contract.Preempt, map[string]string{"in/" + secret + ".txt": "of " + secret}), rest(p, id),
		with("and now?", contract.Preempt, nil),
	}
	nothing := func(context.Context) error { return nil }
	p.Mid = []act{nothing, with("more", contract.Coalesce, map[string]string{"more.txt": "of the turn too"})}
	return p
}

func TestTheFilesOfABlockedTurnGoWithIt(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := filed()
		noError(t, p.Do(ctx), p.Rest(ctx, id), p.Check(id), goesOn(p.Stage))
		files, err := p.Edges.Table.Files(ctx, id)
		if diff := cmp.Diff([]contract.FileInfo{{Path: "kept.txt", Bytes: 8}}, files); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		log := strings.Join(told(t, p.Stage, id, "message.received", "nudge.delivered", "turn.failed"), "\n")
		if strings.Count(log, "withheld by") != 3 || strings.Count(log, `"files"`) != 1 {
			t.Errorf("the log says\n%s", log)
		}
	})
}

func TestWhereverABlockedTurnWithFilesIsCutOff(t *testing.T) {
	fake.Explore(t, fake.Flow{Name: "a blocked turn with files", Modes: []fake.Mode{fake.KillBefore, fake.KillAfter}, New: func() *fake.Run {
		p := filed()
		return p.Run(nil, func() error {
			files, err := p.Edges.Table.Files(context.Background(), id)
			if err := errors.Join(err, p.Check(id), goesOn(p.Stage)); err != nil {
				return err
			}
			if len(files) == 0 || files[0].Path != "kept.txt" || len(files) > 2 { // what came in the middle may have come after the block
				return fmt.Errorf("the files are %v", files)
			}
			return nil
		})
	}})
}
