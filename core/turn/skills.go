package turn

import (
	"context"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Skills are what sessions can activate. The zero value: nothing.
type Skills struct {
	Set     skill.Set          // of every session
	Found   []skill.Diagnostic // what is wrong with them and with those that did not load
	Uploads Uploads            // nil: nobody sends skills of their own
}

// Uploads gives the skills that a principal has sent, as this session sees them: the same ones for all its life. A skill that
// cannot be read is a finding. It must be safe for concurrent use. Faults: Unavailable.
type Uploads interface {
	Of(ctx context.Context, sessionID string, p contract.Principal) ([]skill.Skill, []skill.Diagnostic, error)
}

// skills are those of the session that is owned.
type skills struct {
	known  known
	active *skill.Active // what stands in the conversation of the running turn; nil: it has no skills
}

// known is what was read of them, once for an ownership.
type known struct {
	set   skill.Set
	found []skill.Diagnostic
	read  bool
}

// knowSkills gives them. What everybody has wins over what the principal sent.
func (o *owner) knowSkills(ctx context.Context) (known, error) {
	if o.known.read {
		return o.known, nil
	}
	k := known{set: o.Skills.Set, found: o.Skills.Found, read: true}
	if o.Skills.Uploads != nil {
		sent, found, err := o.Skills.Uploads.Of(ctx, o.id, o.state.Principal)
		if fault.Retryable(err) || ctx.Err() != nil {
			return known{}, err
		}
		if err != nil { // no reason to leave the session without an answer
			o.log.ErrorContext(ctx, "the skills that were sent cannot be read", "error", err)
			found = []skill.Diagnostic{{Severity: skill.Error, Path: "uploads", Code: skill.Unreadable, Text: fault.Public(err), Skipped: true}}
		}
		k.add(sent, found)
	}
	o.known = k
	return k, nil
}

func (k *known) add(sent []skill.Skill, found []skill.Diagnostic) {
	if len(sent) == 0 && len(found) == 0 {
		return
	}
	all := slices.Concat(k.set.All(), k.set.Shadowed(), sent)
	var collisions []skill.Diagnostic
	k.set, collisions = skill.NewSet(all...)
	k.found = slices.Clone(k.found)
	for _, d := range slices.Concat(found, collisions) {
		if !slices.Contains(k.found, d) {
			k.found = append(k.found, d)
		}
	}
}

// offers reports whether a session that picked its tools takes skills too.
func offers(c session.Config) bool {
	return c.Tools == nil || slices.Contains(c.Tools, skill.ActivateName)
}

// addSkills gives a turn the catalogue and the tools of its skills.
func (o *owner) addSkills(ctx context.Context, s *setup, c session.Config) error {
	if !offers(c) {
		return nil
	}
	k, err := o.knowSkills(ctx)
	if err != nil {
		return err
	}
	if len(k.set.All()) == 0 {
		return nil
	}
	o.active = &skill.Active{} // what it knows comes with the history
	if catalog := k.set.Catalog(0); catalog != "" {
		s.request.System = strings.TrimSpace(s.request.System + "\n\n" + catalog)
	}
	s.tools = append(slices.Clone(s.tools), k.set.Tools(o.active)...)
	return nil
}

// ownTools are the names that a session picked, without those that its skills and its memory bring.
func (o *owner) ownTools(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return n == skill.ActivateName || n == skill.ReadName || n == memory.SearchName && o.memory() != nil
	})
}

// reportSkills puts what is wrong with the skills into the log of a session that begins.
func (o *owner) reportSkills(ctx context.Context) error {
	if o.state.TurnSeq > 0 {
		return nil
	}
	k, err := o.knowSkills(ctx)
	if err != nil || len(k.found) == 0 {
		return err
	}
	const most = 50
	var report contract.SkillsReported
	for _, d := range k.found[:min(len(k.found), most)] {
		report.Findings = append(report.Findings, contract.SkillFinding{
			Severity: string(d.Severity), Path: d.Path, Line: d.Line, Code: string(d.Code), Text: tool.Cut(d.Text, 500), Skipped: d.Skipped,
		})
	}
	report.More = len(k.found) - len(report.Findings)
	o.buffer = o.events("", report)
	return nil
}

// said are messages as the model finds them: where the user wrote /name, the skill's instructions stand, so that no step of
// the model is needed to activate it. A task whose request is /name and words does the words by the skill, in a session of its own;
// in the session that asked for the task the skill is not active.
func (o *owner) said(ctx context.Context, messages []store.Message, t *task.Task) ([]model.Block, error) {
	all, err := o.spoken(ctx, messages, t)
	if err != nil {
		return nil, err
	}
	files, err := o.keepFiles(ctx, messages)
	return append(all, files...), err
}

// spoken is what the messages say in words.
func (o *owner) spoken(ctx context.Context, messages []store.Message, t *task.Task) ([]model.Block, error) {
	all := blocks(messages)
	for i := range all {
		all[i].Text = skill.Inert(all[i].Text)
	}
	if !slices.ContainsFunc(messages, func(m store.Message) bool { return strings.HasPrefix(strings.TrimSpace(m.Text), "/") }) {
		return all, nil
	}
	if ok, err := o.configured(ctx); !ok {
		return all, err
	}
	config := o.config.Config
	if t != nil {
		override(&config, *t)
	}
	if !offers(config) {
		return all, nil
	}
	k, err := o.knowSkills(ctx)
	if err != nil {
		return nil, err
	}
	active, err := o.activeNow(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if text, used, ok := k.set.Command(all[i].Text, active); ok {
			o.log.InfoContext(ctx, "skill activated by the user", "skill", used.Name, "digest", used.Digest())
			all[i].Text = text
		}
	}
	return all, nil
}

// activeNow knows what is active at the end of the history. One that cannot be read has nothing in it.
func (o *owner) activeNow(ctx context.Context) (*skill.Active, error) {
	if o.state.Tip == "" || o.state.Tries > session.MaxTries {
		return &skill.Active{}, nil
	}
	h, err := o.load(ctx)
	if err != nil {
		o.log.ErrorContext(ctx, "the history cannot be read", "error", err)
		if fault.Retryable(err) {
			return nil, err
		}
		return &skill.Active{}, nil
	}
	return skill.NewActive(h.Messages), nil
}
