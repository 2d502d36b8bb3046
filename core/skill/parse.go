package skill

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// Advice of the format on the length of the instructions.
const (
	adviceLines = 500
	adviceBytes = 20_000 // about 5000 tokens
)

// Parse reads the text of a SKILL.md. folder is the name of the folder it is in, "" if that is not known; file stands in the
// findings. ok is false if there is no skill in it, and then a finding is Skipped. It never panics, and gives the same for the
// same text.
func Parse(file, folder string, text []byte) (s Skill, found []Diagnostic, ok bool) {
	r := &report{path: file}
	s, ok = r.parse(folder, text)
	return s, r.found, ok
}

func (r *report) parse(folder string, data []byte) (Skill, bool) {
	text, ok := r.decode(data)
	if !ok {
		return Skill{}, false
	}
	p, ok := r.split(text)
	if !ok {
		return Skill{}, false
	}
	fields, ok := r.fields(p.block, p.line)
	if !ok {
		return Skill{}, false
	}
	s := Skill{Path: r.path, Markdown: p.body}
	if !r.fill(&s, fields, folder) {
		return Skill{}, false
	}
	r.checkBody(p)
	return s, true
}

// parseFlat reads a skill that is one Markdown file: metadata is optional, and a description that is missing is the first line.
func (r *report) parseFlat(data []byte) (Skill, bool) {
	name := strings.TrimSuffix(path.Base(r.path), path.Ext(r.path))
	text, ok := r.decode(data)
	if !ok {
		return Skill{}, false
	}
	p := parts{body: strings.TrimSpace(text)}
	if _, _, begins := opening(text); begins {
		if p, ok = r.split(text); !ok {
			return Skill{}, false
		}
	}
	fields, ok := r.fields(p.block, p.line)
	if !ok {
		return Skill{}, false
	}
	fields = withDefault(fields, "description", firstLine(p.body))
	s := Skill{Path: r.path, Markdown: p.body}
	return s, r.fill(&s, withDefault(fields, "name", name), name)
}

// firstLine is the first line of Markdown with text in it, without the signs of a heading or a list.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#>*-")); line != "" {
			return line
		}
	}
	return ""
}

// decode gives the text with \n as its only line end.
func (r *report) decode(data []byte) (string, bool) {
	if len(data) > MaxFile {
		return "", r.skip(TooLarge, 0, "the file has %d bytes, more than %d", len(data), MaxFile)
	}
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		r.tell(BOM, 1, "the file begins with a byte order mark")
		data = rest
	}
	if !utf8.Valid(data) {
		return "", r.skip(NotUTF8, 1+bytes.Count(data[:invalidAt(data)], []byte("\n")), "the file is not UTF-8")
	}
	text := string(data)
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text, true
}

// invalidAt is where the first broken rune of data is.
func invalidAt(data []byte) int {
	at := 0
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// parts are a file cut at its fences.
type parts struct {
	block    string // the metadata
	line     int    // of its first line in the file
	body     string // what follows, trimmed
	bodyLine int
}

// split cuts text at its fences.
func (r *report) split(text string) (parts, bool) {
	at, line, ok := opening(text)
	if !ok {
		return parts{}, r.skip(NoFrontmatter, 1, "the file does not begin with a line of three dashes, so it has no name and no description")
	}
	if line > 1 {
		r.tell(ContentBefore, 1, "there is something before the first line of three dashes")
	}
	fence, rest := cutLine(text[at:])
	if fence != "---" {
		r.tell(FenceWhitespace, line, "blanks follow the three dashes")
	}
	block, after, ok := cutFence(rest)
	if !ok {
		return parts{}, r.skip(FrontmatterUnclosed, line, "no second line of three dashes ends the metadata")
	}
	if len(block) > MaxFrontmatter {
		return parts{}, r.skip(TooLarge, line, "the metadata has %d bytes, more than %d", len(block), MaxFrontmatter)
	}
	p := parts{block: block, line: line + 1, body: strings.TrimSpace(after)}
	p.bodyLine = p.line + strings.Count(block, "\n") + 1
	return p, true
}

// opening finds the first fence of text: its place and its line. Only blank lines and comments may come before it.
func opening(text string) (at, line int, ok bool) {
	rest := text
	for line = 1; rest != ""; line++ {
		first, after := cutLine(rest)
		switch {
		case isFence(first):
			return len(text) - len(rest), line, true
		case strings.HasPrefix(strings.TrimSpace(first), "<!--"):
			comment, tail, closed := strings.Cut(rest, "-->")
			first, after = cutLine(tail)
			if !closed || strings.TrimSpace(first) != "" {
				return 0, 0, false
			}
			line += strings.Count(comment, "\n")
		case strings.TrimSpace(first) != "":
			return 0, 0, false
		}
		rest = after
	}
	return 0, 0, false
}

// isFence reports whether a line is three dashes and blanks at most.
func isFence(line string) bool {
	return strings.HasPrefix(line, "---") && strings.TrimRight(line, " \t") == "---"
}

// cutFence cuts text at the next fence.
func cutFence(text string) (before, after string, ok bool) {
	for at := 0; at < len(text); {
		line, rest := cutLine(text[at:])
		if isFence(line) {
			return text[:at], rest, true
		}
		at = len(text) - len(rest)
	}
	return "", "", false
}

func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

// checkBody looks at the instructions, for which there is no rule but advice.
func (r *report) checkBody(p parts) {
	lines := strings.Count(p.body, "\n") + 1
	switch {
	case p.body == "":
		r.tell(BodyEmpty, p.bodyLine, "there are no instructions")
	case lines > adviceLines || len(p.body) > adviceBytes:
		r.tell(BodyTooLong, p.bodyLine, "the instructions have %d lines and %d bytes: move details to files in references", lines, len(p.body))
	}
	first, rest := cutLine(p.body)
	if !isFence(first) {
		return
	}
	if block, _, ok := cutFence(rest); ok && secondBlock.MatchString(block) {
		r.tell(SecondFrontmatter, p.bodyLine, "a second block of metadata follows the first; it counts as instructions")
	}
}
