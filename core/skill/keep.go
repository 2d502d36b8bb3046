package skill

import (
	"slices"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Kept gives the activations that stay when messages are made shorter, in order: of each skill the newest, which is the one that
// counts, and of those the newest ones with about so many bytes of text together; the very newest may have twice as many. bytes 0: all
// activations that there are.
func Kept(messages []model.Message, bytes int) []Activation {
	all := Activations(messages)
	if bytes <= 0 {
		return all
	}
	var kept []Activation
	seen := map[string]bool{}
	room := 2 * bytes
	for _, a := range slices.Backward(all) {
		name := sameName(a.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		if len(a.Text) > room {
			break
		}
		kept = append(kept, a)
		room = min(room, bytes) - len(a.Text)
	}
	slices.Reverse(kept)
	return kept
}

// Lost names the skills that a model sees whose instructions stood in before and stand no longer in after, in order.
func (s Set) Lost(before, after []model.Message) []string {
	stood, stands := namesOf(Activations(before)), namesOf(Activations(after))
	return s.names(func(one Skill) bool {
		key := sameName(one.Name)
		return !one.HiddenFromModel && stood[key] && !stands[key]
	})
}

func namesOf(all []Activation) map[string]bool {
	names := map[string]bool{}
	for _, a := range all {
		names[sameName(a.Name)] = true
	}
	return names
}
