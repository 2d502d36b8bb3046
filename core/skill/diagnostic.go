package skill

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says how much a finding matters.
type Severity string

// The severities. When skills are loaded, an Error is a skill that is not there; for a validator it is a reason to fail.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Code names a kind of finding; programs may rely on it.
type Code string

// The codes.
const (
	NameDirMismatch        Code = "name-dir-mismatch"
	NameTooLong            Code = "name-too-long"
	NameNotLowercase       Code = "name-not-lowercase"
	NameBadChars           Code = "name-bad-chars"
	NameHyphens            Code = "name-hyphens"
	NameMissing            Code = "name-missing"
	DescMissing            Code = "desc-missing"
	DescNotString          Code = "desc-not-string"
	DescTooLong            Code = "desc-too-long"
	DescCommentTruncated   Code = "desc-comment-truncated"
	YAMLRepaired           Code = "yaml-repaired"
	YAMLInvalid            Code = "yaml-invalid" // what Strict makes of YAMLRepaired and YAMLUnparseable
	YAMLUnparseable        Code = "yaml-unparseable"
	FrontmatterNotMapping  Code = "frontmatter-not-mapping"
	FrontmatterUnclosed    Code = "frontmatter-unclosed"
	NoFrontmatter          Code = "no-frontmatter"
	CompatTooLong          Code = "compat-too-long"
	MetadataNotStringMap   Code = "metadata-not-string-map"
	DuplicateKey           Code = "duplicate-key"
	AllowedToolsList       Code = "allowed-tools-list"
	AllowedToolsComma      Code = "allowed-tools-comma"
	AllowedToolsUnreadable Code = "allowed-tools-unreadable"
	UnknownField           Code = "unknown-field"
	FieldNotText           Code = "field-not-text"
	BOM                    Code = "bom"
	FenceWhitespace        Code = "fence-whitespace"
	ContentBefore          Code = "content-before-frontmatter"
	BodyEmpty              Code = "body-empty"
	BodyTooLong            Code = "body-too-long"
	SecondFrontmatter      Code = "second-frontmatter"
	FileCase               Code = "skill-file-case"
	FileMissing            Code = "skill-file-missing"
	TooLarge               Code = "too-large"
	NotUTF8                Code = "not-utf8"
	Unreadable             Code = "unreadable"
	NameCollision          Code = "name-collision"
	UntrustedScope         Code = "untrusted-scope"
	NestedSkill            Code = "nested-skill"
	ScanLimit              Code = "scan-limit"
	SymlinkEscape          Code = "symlink-escape"
)

// Diagnostic is one finding about one file.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"` // from 1; 0: the whole file
	Code     Code     `json:"code"`
	Text     string   `json:"text"`
	Other    string   `json:"other,omitempty"`   // the other path of a collision or a nested skill
	Skipped  bool     `json:"skipped,omitempty"` // the file at Path gives no skill
}

// String is the finding on one line, as compilers print theirs.
func (d Diagnostic) String() string {
	place := d.Path
	if d.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, d.Line)
	}
	return fmt.Sprintf("%s: %s: %s (%s)", place, d.Severity, d.Text, d.Code)
}

// severity gives the weight of a finding when loading, if it does not cost the skill, and when validating.
func (c Code) severity() (load, strict Severity) {
	switch c {
	case BOM, FenceWhitespace, ContentBefore, BodyEmpty, BodyTooLong, SecondFrontmatter, AllowedToolsComma, DescCommentTruncated:
		return Note, Warning
	case AllowedToolsList, UnknownField:
		return Note, Error
	case NestedSkill:
		return Note, Note
	case ScanLimit, NameCollision, UntrustedScope:
		return Warning, Warning
	}
	return Warning, Error
}

// Strict gives the findings as a validator sees them: everything that breaks the format, or works in some hosts only, is an
// Error. YAML that had to be repaired is invalid. Idempotent.
func Strict(found []Diagnostic) []Diagnostic {
	out := make([]Diagnostic, 0, len(found))
	for _, d := range found {
		_, d.Severity = d.Code.severity()
		if d.Code == YAMLRepaired || d.Code == YAMLUnparseable {
			d.Code = YAMLInvalid
		}
		out = append(out, d)
	}
	return out
}

// Failed reports whether any finding is an Error.
func Failed(found []Diagnostic) bool {
	return slices.ContainsFunc(found, func(d Diagnostic) bool { return d.Severity == Error })
}

// maxFindings is how many findings about one file are kept; the one for which there is no skill is kept always.
const maxFindings = 100

// report collects the findings about one file at a time.
type report struct {
	path  string
	found []Diagnostic
	about string // the path that told counts
	told  int
}

// tell adds a finding with which the skill still loads.
func (r *report) tell(code Code, line int, format string, args ...any) {
	if r.about != r.path {
		r.about, r.told = r.path, 0
	}
	r.told++
	text := fmt.Sprintf(format, args...)
	switch {
	case r.told > maxFindings:
		return
	case r.told == maxFindings:
		text += "; what else is wrong with this file is left out"
	}
	load, _ := code.severity()
	r.add(Diagnostic{Severity: load, Code: code, Line: line, Text: text})
}

// skip adds the finding for which there is no skill, and gives false.
func (r *report) skip(code Code, line int, format string, args ...any) bool {
	r.add(Diagnostic{Severity: Error, Code: code, Line: line, Text: fmt.Sprintf(format, args...), Skipped: true})
	return false
}

func (r *report) add(d Diagnostic) {
	d.Path = cmp.Or(d.Path, r.path)
	r.found = append(r.found, d)
}
