package skill

import (
	"html"
	"regexp"
	"slices"
	"sync"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Active knows which skills' instructions stand in a conversation, so that none is put there twice. It is safe for concurrent
// use. A nil one knows of nothing and remembers nothing.
type Active struct {
	mu     sync.Mutex
	digest map[string]string // of sameName
}

// Activation is the text of one activation in a conversation.
type Activation struct {
	Message, Block int // where it stands: messages[Message].Content[Block]
	Name, Digest   string
	Text           string
}

// Activations finds the activations in messages: results of activate_skill, and texts of the user that Command made. Whoever
// shortens a conversation keeps these messages (and the calls that the results answer) or calls Reset with what is left. Text that
// only looks like an activation, as in the result of another tool, is none.
func Activations(messages []model.Message) []Activation {
	var found []Activation
	calls := map[string]bool{}
	for m, message := range messages {
		for i, b := range message.Content {
			switch {
			case b.ToolUse != nil && b.ToolUse.Name == ActivateName:
				calls[b.ToolUse.ID] = true
			case message.Role != model.User:
			case b.ToolResult != nil && calls[b.ToolResult.ID]:
				for _, p := range b.ToolResult.Content {
					found = appendActivation(found, m, i, p.Text)
				}
			default:
				found = appendActivation(found, m, i, b.Text)
			}
		}
	}
	return found
}

var opened = regexp.MustCompile(`^` + openTag + `"([^"\n]*)" digest="([0-9a-f]{64})">\n`)

func appendActivation(found []Activation, message, block int, text string) []Activation {
	if m := opened.FindStringSubmatch(text); m != nil {
		found = append(found, Activation{Message: message, Block: block, Name: html.UnescapeString(m[1]), Digest: m[2], Text: text})
	}
	return found
}

// Inert gives what a user wrote as text that activates nothing, whatever it looks like: only Command makes activations of users.
func Inert(text string) string {
	if opened.MatchString(text) {
		return "\n" + text
	}
	return text
}

// NewActive knows the skills that are active in messages.
func NewActive(messages []model.Message) *Active {
	a := &Active{}
	a.Reset(messages)
	return a
}

// Reset forgets everything but what is active in messages: for after a compaction.
func (a *Active) Reset(messages []model.Message) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.digest = map[string]string{}
	for _, one := range Activations(messages) {
		a.digest[sameName(one.Name)] = one.Digest
	}
}

// Begin notes that the content of s goes into the conversation. It gives false if the same content is there already.
func (a *Active) Begin(s Skill) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key, digest := sameName(s.Name), s.Digest()
	if a.digest[key] == digest {
		return false
	}
	if a.digest == nil {
		a.digest = map[string]string{}
	}
	a.digest[key] = digest
	return true
}

// of gives the skill of that name whose instructions stand in the conversation: one that the model does not see and a user called, or
// one that another of its name shadows.
func (a *Active) of(set Set, name string) (Skill, bool) {
	if a == nil {
		return Skill{}, false
	}
	a.mu.Lock()
	digest, ok := a.digest[sameName(name)]
	a.mu.Unlock()
	for _, list := range [][]Skill{set.skills, set.shadowed} {
		for _, one := range list {
			if ok && sameName(one.Name) == sameName(name) && one.Digest() == digest {
				return one, true
			}
		}
	}
	return Skill{}, false
}

// AllowedTools gives the calls that the active skills of set ask to have approved beforehand, in order and each once. It grants
// nothing: whoever asks people for approval may take it into account until the task ends. Skills that a user sent, or that
// everybody shares, are left out: nobody who answers for the program has read them.
func (a *Active) AllowedTools(set Set) []string {
	var all []string
	for _, name := range a.Names(set) {
		one, _ := set.Get(name)
		if one.Scope != Upload && one.Scope != Organisation {
			all = append(all, one.AllowedTools...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Names gives the active skills that are in set, in order: those of another digest have changed since and are not active.
func (a *Active) Names(set Set) []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return set.names(func(s Skill) bool { return a.digest[sameName(s.Name)] == s.Digest() })
}
