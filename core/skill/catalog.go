package skill

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultCatalog is how many characters a catalogue has at most.
const DefaultCatalog = 8000

const instructions = `The following skills hold instructions for particular tasks.
When a task matches a description, call activate_skill with that name before going on, and follow what it returns.
Read a file that the instructions name with read_skill_file; its path is relative to the skill's folder.
`

// Catalog is the part of a system prompt that tells a model which skills there are: at most max characters, 0: DefaultCatalog; it
// never takes fewer than about 500.
// If the skills do not fit, descriptions are shortened; if that is not enough only names are listed, and at last not all of
// them; the text says what is missing. Without a skill that the model sees it is empty. The same set gives the same text.
func (s Set) Catalog(max int) string {
	if max <= 0 {
		max = DefaultCatalog
	}
	var shown []Skill
	for _, one := range s.skills {
		if !one.HiddenFromModel {
			shown = append(shown, one)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	if text := list(shown, MaxDescription, ""); utf8.RuneCountInString(text) <= max {
		return text
	}
	return cutCatalog(shown, max)
}

// cutCatalog finds the longest descriptions with which the list fits.
func cutCatalog(shown []Skill, max int) string {
	const shortest = 20 // less than that says nothing
	fits := func(text string) bool { return utf8.RuneCountInString(text) <= max }
	low, high := shortest, MaxDescription
	best := list(shown, low, shortened)
	if !fits(best) {
		return names(shown, max)
	}
	for low < high-1 {
		mid := (low + high) / 2
		if text := list(shown, mid, shortened); fits(text) {
			low, best = mid, text
		} else {
			high = mid
		}
	}
	return best
}

const shortened = "Some descriptions are shortened.\n"

// list writes the skills with descriptions of at most length characters.
func list(shown []Skill, length int, note string) string {
	var b strings.Builder
	b.WriteString(instructions + note + "<available_skills>\n")
	for _, one := range shown {
		fmt.Fprintf(&b, "<skill><name>%s</name><description>%s</description></skill>\n", escape(one.Name), escape(shorten(one.Description, length)))
	}
	b.WriteString("</available_skills>")
	return b.String()
}

// names writes as many names as fit.
func names(shown []Skill, max int) string {
	var b strings.Builder
	length := utf8.RuneCountInString(instructions) + 200 // what stands around the names
	n := 0
	for _, one := range shown {
		line := "<skill><name>" + escape(one.Name) + "</name></skill>\n"
		if length += utf8.RuneCountInString(line); length > max {
			break
		}
		b.WriteString(line)
		n++
	}
	note := "There are too many skills for their descriptions.\n"
	if rest := len(shown) - n; rest > 0 {
		note = fmt.Sprintf("There are too many skills for their descriptions, and %d more are not listed.\n", rest)
	}
	return instructions + note + "<available_skills>\n" + b.String() + "</available_skills>"
}

// shorten cuts text to length characters, the last one a sign that it goes on.
func shorten(text string, length int) string {
	if utf8.RuneCountInString(text) <= length {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:length-1]), " \n") + "…"
}

// escape makes text that cannot end the element it stands in.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// attribute makes text that cannot end the attribute it stands in.
func attribute(text string) string {
	return strings.NewReplacer(`"`, "&quot;", "\n", "&#10;").Replace(escape(text))
}
