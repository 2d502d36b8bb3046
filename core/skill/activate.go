package skill

import (
	"fmt"
	"strings"
)

// maxBody is how many bytes of instructions an activation gives; the rest is read as a file.
const maxBody = 128 << 10

// openTag and closeTag enclose the text of an activation; activeAlready ends that of one that is not needed.
const (
	openTag       = "<skill_content name="
	closeTag      = "</skill_content>"
	activeAlready = " is already active: its instructions stand earlier in this conversation."
)

// Content is what an activation puts into a conversation: the instructions as they are, how to reach the bundled files, and
// which there are. Very long instructions end with a note of where to read on.
func (s Skill) Content() string { return s.content(s.Markdown) }

func (s Skill) content(body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\"%s\" digest=\"%s\">\n", openTag, attribute(s.Name), s.Digest())
	if s.Compatibility != "" {
		fmt.Fprintf(&b, "Needs: %s\n\n", s.Compatibility)
	}
	part := cutRunes([]byte(body), maxBody)
	b.Write(part)
	b.WriteString("\n\n")
	if len(part) < len(body) {
		fmt.Fprintf(&b, "The instructions go on: call read_skill_file with path %s and offset %d.\n", FileName, len(part))
	}
	if folder := s.Folder(); folder != "" {
		fmt.Fprintf(&b, "Skill directory: %s\n", folder)
	}
	s.resources(&b)
	b.WriteString(closeTag)
	return b.String()
}

// Words is a text of the user's without what Command put there: the words behind the skill's content, which are none where they stand
// in the instructions themselves.
func Words(text string) string {
	if first, rest, _ := strings.Cut(text, "\n\n"); strings.HasSuffix(first, activeAlready) {
		return rest
	}
	if end := strings.LastIndex(text, closeTag); end >= 0 && opened.MatchString(text) {
		return strings.TrimSpace(text[end+len(closeTag):])
	}
	return text
}

func (s Skill) resources(b *strings.Builder) {
	files, more := s.Resources()
	if len(files) == 0 {
		return
	}
	b.WriteString("Relative paths in this skill are relative to the skill directory. Read its files with read_skill_file.\n<skill_resources>\n")
	for _, name := range files {
		fmt.Fprintf(b, "<file>%s</file>\n", escape(name))
	}
	if more > 0 {
		fmt.Fprintf(b, "%d more files are not listed.\n", more)
	}
	b.WriteString("</skill_resources>\n")
}

// Brief is the text a fresh session gets that is to do one task by the skill: a subagent, which inherits nothing else.
func (s Skill) Brief(task string) string {
	return s.Content() + "\n\nFollow these instructions for this task, and answer with a summary of what you did and found:\n" + task
}

// Command reads /name args, as a user writes it, and gives the text for the model to find in its place: the skill's content
// with args, or a note that it is active already. $ARGUMENTS in the instructions is replaced by args; no command in them is ever
// run. ok is false for text that names no skill the user may call. active may be nil.
func (s Set) Command(line string, active *Active) (text string, used Skill, ok bool) {
	rest, slash := strings.CutPrefix(strings.TrimSpace(line), "/")
	if !slash {
		return "", Skill{}, false
	}
	used, args, ok := s.called(rest)
	if !ok {
		return "", Skill{}, false
	}
	const placeholder = "$ARGUMENTS"
	if strings.Contains(used.Markdown, placeholder) {
		active.Begin(used)
		return used.content(strings.ReplaceAll(used.Markdown, placeholder, args)), used, true
	}
	text = alreadyActive(used)
	if active.Begin(used) {
		text = used.Content()
	}
	if args != "" {
		text += "\n\n" + args
	}
	return text, used, true
}

// maxCalled is how many bytes of a message are looked at for a name.
const maxCalled = 2048

// called finds the skill with the longest name that text begins with, in whatever spelling of the same letters.
func (s Set) called(text string) (used Skill, args string, ok bool) {
	names := s.callable()
	for i := range min(len(text), maxCalled) + 1 {
		if i < len(text) && !strings.ContainsRune(" \t\n", rune(text[i])) {
			continue
		}
		if one, known := names[sameName(text[:i])]; known {
			used, args, ok = one, strings.TrimSpace(text[i:]), true
		}
	}
	return used, args, ok
}

// callable gives the skills that a user can call by what they are called: a name, or name@scope. The plain name is the winner's.
func (s Set) callable() map[string]Skill {
	names := map[string]Skill{}
	add := func(name string, one Skill) {
		if _, taken := names[sameName(name)]; !taken && !one.HiddenFromUser {
			names[sameName(name)] = one
		}
	}
	for _, one := range s.skills {
		add(one.Name, one)
	}
	for _, one := range append(s.All(), s.shadowed...) {
		if one.Scope != "" {
			add(one.Ref(), one)
		}
	}
	return names
}

func alreadyActive(s Skill) string {
	return fmt.Sprintf("The skill %q", s.Name) + activeAlready
}
