package skill

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// fill puts the fields into s.
func (r *report) fill(s *Skill, fields []field, folder string) bool {
	var name, description field
	for _, f := range fields {
		switch f.key {
		case "name":
			name = f
		case "description":
			description = f
		case "license":
			s.License = r.plainText(f)
		case "compatibility":
			s.Compatibility = r.compatibility(f)
		case "metadata":
			s.Metadata = r.metadata(f)
		case "allowed-tools":
			var ok bool
			if s.AllowedTools, ok = r.allowedTools(f); !ok {
				return false
			}
		default:
			r.hostField(s, f)
		}
	}
	s.Name = r.name(name, folder)
	var ok bool
	s.Description, ok = r.description(description)
	return ok
}

// hostField reads a field outside the format: two that many hosts know, and the rest is only noted.
func (r *report) hostField(s *Skill, f field) {
	value, _ := f.text()
	switch f.key {
	case "disable-model-invocation":
		s.HiddenFromModel = isYes(value)
	case "user-invocable":
		s.HiddenFromUser = isNo(value)
	}
	r.tell(UnknownField, f.line, "%q is not a field of the format", f.key)
}

func isYes(word string) bool {
	word = strings.ToLower(word)
	return word == "true" || word == "yes" || word == "on"
}

func isNo(word string) bool {
	word = strings.ToLower(word)
	return word == "false" || word == "no" || word == "off"
}

func (r *report) name(f field, folder string) string {
	if f.value != nil {
		if name, ok := f.text(); ok && name != "" {
			r.checkName(name, folder, f.line)
			return name
		}
	}
	if folder == "" {
		folder = "skill"
	}
	r.tell(NameMissing, max(f.line, 1), "the name is missing, the folder's is used: %s", folder)
	return folder
}

func (r *report) description(f field) (string, bool) {
	if f.value == nil {
		return "", r.skip(DescMissing, 1, "the description is missing")
	}
	text, ok := f.text()
	switch {
	case f.value.Kind == yaml.SequenceNode:
		return "", r.skip(DescNotString, f.line, "the description is a list, not a text")
	case !ok || text == "":
		return "", r.skip(DescMissing, f.line, "the description is empty")
	}
	if f.value.Style == 0 && f.value.LineComment != "" {
		r.tell(DescCommentTruncated, f.line, "the description ends at %q because a # after a blank begins a comment: put it in quotes", tail(text))
	}
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		r.tell(DescTooLong, f.line, "the description has %d characters, more than %d", n, MaxDescription)
	}
	return text, true
}

// tail is the end of a text for a message.
func tail(text string) string {
	if runes := []rune(text); len(runes) > 20 {
		return "..." + string(runes[len(runes)-20:])
	}
	return text
}

// plainText is the text of an optional field; what is no text is left out and told.
func (r *report) plainText(f field) string {
	text, ok := f.text()
	if !ok && !isNull(f.value) {
		r.tell(FieldNotText, f.line, "%s is not a text and is left out", f.key)
	}
	return text
}

func (r *report) compatibility(f field) string {
	text := r.plainText(f)
	if n := utf8.RuneCountInString(text); n > MaxCompatibility {
		r.tell(CompatTooLong, f.line, "compatibility has %d characters, more than %d", n, MaxCompatibility)
	}
	return text
}

// metadata keeps what is text, and tells of the rest.
func (r *report) metadata(f field) map[string]string {
	if isNull(f.value) {
		return nil
	}
	if f.value.Kind != yaml.MappingNode {
		r.tell(MetadataNotStringMap, f.line, "metadata is not a map of texts and is left out")
		return nil
	}
	out := make(map[string]string, len(f.value.Content)/2)
	for _, entry := range r.unique(pairs(f.value, f.base)) {
		switch {
		case isNull(entry.value):
			out[entry.key] = ""
		case entry.value.Kind == yaml.ScalarNode:
			out[entry.key] = entry.value.Value
		default:
			r.tell(MetadataNotStringMap, entry.line, "metadata.%s is not a text and is left out", entry.key)
		}
	}
	return out
}
