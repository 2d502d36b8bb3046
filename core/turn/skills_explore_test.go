package turn_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/upload"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/stage"
)

// TestSkillsWhereverTheyAreCutOff: a skill of the program is activated by the model, one that was sent by its name; another version is
// sent in the middle. Wherever a worker dies, each stands once in the conversation, in the version that the session began with, and
// what is wrong with the skills is told once.
func TestSkillsWhereverTheyAreCutOff(t *testing.T) {
	push := func(p *stage.Play, name, body string) act {
		return func(ctx context.Context) error {
			file := upload.File{Path: "SKILL.md", Text: "---\nname: " + name + "\ndescription: Sent.\n---\n" + body}
			_, err := upload.Push{Edges: p.Edges}.Do(ctx, upload.PushIn{Caller: stage.User, Name: name, Files: []upload.File{file}})
			return err
		}
	}
	fake.Explore(t, fake.Flow{Name: "skills", New: func() *fake.Run {
		p := play(obedient)
		skilled(p.Stage, refund)
		p.Engine.Skills.Uploads = &upload.Sessions{Edges: p.Edges}
		p.Acts = []act{
			push(p, "sent", "First."), push(p, "refund", "Never seen."),
			send(p, id, "use refund", contract.Preempt), rest(p, id),
			push(p, "sent", "Second."),
			send(p, id, "/sent now", contract.Preempt), rest(p, id), send(p, id, "use sent", contract.Preempt),
		}
		return p.Run(story(p, id), func() error {
			if err := p.Check(id); err != nil {
				return err
			}
			return onceEach(p, map[string]string{"refund": refund.Markdown, "sent": "First."})
		})
	}})
}

// onceEach checks what stands in the stored conversation.
func onceEach(p *stage.Play, want map[string]string) error {
	ctx := context.Background()
	h, err := p.Edges.Table.History(ctx, id, p.State(id).Tip)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, a := range skill.Activations(h.Messages) {
		seen[a.Name]++
		if one := (skill.Skill{Name: a.Name, Description: map[string]string{"refund": refund.Description, "sent": "Sent."}[a.Name], Markdown: want[a.Name]}); one.Digest() != a.Digest {
			return fmt.Errorf("%s stands there in another version: %s", a.Name, a.Text)
		}
	}
	if len(seen) != 2 || seen["refund"] != 1 || seen["sent"] != 1 {
		return fmt.Errorf("activations: %v", seen)
	}
	list, err := p.Events(ctx, id)
	if err != nil {
		return err
	}
	reported := 0
	for _, e := range list {
		if e.Type == (contract.SkillsReported{}).EventType() {
			reported++
		}
	}
	if reported != 1 {
		return fmt.Errorf("reported %d times", reported)
	}
	return nil
}

// TestAnUploadThatIsLostIsTold: the session goes on without it, also when none can be read.
func TestAnUploadThatIsLostIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(&fake.Model{Answer: obedient})
		lost := &sender{found: []skill.Diagnostic{{Severity: skill.Error, Path: "uploads/x/SKILL.md", Code: skill.FileMissing, Text: "gone", Skipped: true}}}
		s.Engine.Skills.Uploads = lost
		say(t, t.Context(), s, "hello")
		if got := told(t, s, id, "skills.reported"); len(got) != 1 {
			t.Errorf("told %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(&fake.Model{Answer: obedient})
		skilled(s, refund)
		s.Engine.Skills.Uploads = &sender{err: fault.New(fault.Internal, "row so-and-so is broken")}
		say(t, t.Context(), s, "use refund")
		want := `skills.reported {"findings":[{"severity":"error","path":"uploads","code":"unreadable","text":"something went wrong","skipped":true}]}`
		if got := told(t, s, id, "skills.reported"); len(got) != 1 || got[0] != want {
			t.Errorf("told %v, want %s", got, want)
		}
		if got := turnResults(t, t.Context(), s, id); len(got) != 1 || got[0] != "success: "+refund.Content() {
			t.Errorf("the turn came to %v", got)
		}
	})
}
