package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// sameName gives the form in which names are compared: letters that look alike because they are the same are the same.
func sameName(name string) string { return norm.NFKC.String(name) }

// checkName tells what is wrong with a name; all of it loads.
func (r *report) checkName(name, folder string, line int) {
	if n := utf8.RuneCountInString(name); n > MaxName {
		r.tell(NameTooLong, line, "the name has %d characters, more than %d", n, MaxName)
	}
	if name != strings.ToLower(name) {
		r.tell(NameNotLowercase, line, "the name %q has capital letters", name)
	}
	if strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	}) {
		r.tell(NameBadChars, line, "the name %q has characters other than letters, digits and hyphens", name)
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		r.tell(NameHyphens, line, "the name %q begins or ends with a hyphen or has two in a row", name)
	}
	if folder != "" && sameName(name) != sameName(folder) {
		r.tell(NameDirMismatch, line, "the name %q is not that of its folder, %q", name, folder)
	}
}
