package turn

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// memory is what is kept of the session's user; nil for a system, which is nobody.
func (o *owner) memory() loop.Memory {
	if o.Memories == nil || o.state.Principal.Type != contract.UserPrincipal {
		return nil
	}
	return o.Memories(o.state.Principal, o.id)
}

// addMemory gives a turn the tool that searches the memory, as the session's choice of tools has it.
func (o *owner) addMemory(s *setup, c session.Config) {
	s.memory = o.memory()
	if s.memory != nil && (c.Tools == nil || slices.Contains(c.Tools, memory.SearchName)) {
		s.tools = append(slices.Clone(s.tools), memory.Search(s.memory))
	}
}

// recall puts what matters for the user's words behind the instructions. It is asked again by whoever goes on with the turn, also
// where that ends in results of tools: it stands in no message.
func (o *owner) recall(ctx context.Context, s *setup, messages []model.Message) {
	if s.memory == nil {
		return
	}
	recalled, err := loop.Recall(ctx, s.memory, userWords(messages))
	if err != nil {
		o.log.WarnContext(ctx, "nothing is recalled", "turn", o.state.TurnID(), "error", err)
	}
	s.request.System = loop.WithRecalled(s.request.System, recalled)
}

// keepInMind records a turn that was answered, before its end is written: whoever does it again after a crash records the same, which
// is kept once. One that was stopped meanwhile has no answer.
func (o *owner) keepInMind(ctx context.Context, out loop.Outcome) {
	m := o.memory()
	if m == nil || out.Stop == "" {
		return
	}
	if s, err := o.Table.State(ctx, o.id); err == nil && (s.Stopped() || !s.Mine(o.me.Owner, o.me.Fence)) {
		return
	}
	h, err := o.load(ctx)
	if err == nil {
		err = loop.Record(ctx, m, o.exchange(h, out))
	}
	if err != nil {
		o.log.WarnContext(ctx, "the turn is not remembered", "turn", o.state.TurnID(), "error", err)
	}
}

func (o *owner) exchange(h snapshot.History, out loop.Outcome) loop.Exchange {
	began, ok := snapshot.Time(o.state.Opening)
	if !ok {
		began = time.UnixMilli(o.state.CreatedAt)
	}
	return loop.Exchange{Number: o.state.TurnSeq, At: began, User: userWords(h.Messages), Assistant: out.Final.PlainText()}
}

// userWords are what the user said since the last answer, without the instructions of skills called by /name.
func userWords(messages []model.Message) string {
	var said []string
	for _, m := range slices.Backward(messages) {
		if m.Role == model.Assistant && len(m.Calls()) == 0 {
			break
		}
		if m.Role != model.User {
			continue
		}
		for _, b := range slices.Backward(m.Content) {
			if words := skill.Words(b.Text); b.ToolResult == nil && !snapshot.StandsIn(b) && strings.TrimSpace(words) != "" {
				said = append(said, words)
			}
		}
	}
	slices.Reverse(said)
	return strings.Join(said, "\n\n")
}
