// Package skill finds, reads, discloses and activates Agent Skills: folders with a SKILL.md that teach an agent a procedure
// when a task calls for it. A model sees names and descriptions first (Set.Catalog), the instructions when it activates a
// skill, and a bundled file when it asks for one (Set.Tools).
//
// Nothing is lost in silence: Parse, Finder.Find and NewSet load whatever can be read safely and tell of every problem in a
// Diagnostic with severity, path, line and code. A broken skill never stops its neighbours. Strict turns the same findings
// into those of a validator.
//
// Files are read from an fs.FS and never from outside a skill's folder, whatever names and links say. The package runs no
// script, calls no model and grants nothing: allowed-tools is only reported.
package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// The limits of the format, in characters.
const (
	MaxName          = 64
	MaxDescription   = 1024
	MaxCompatibility = 500
)

// The limits of this reader, in bytes. The format has none.
const (
	MaxFile        = 1 << 20  // a SKILL.md
	MaxFrontmatter = 64 << 10 // its metadata
)

// FileName is the name of the file that makes a folder a skill.
const FileName = "SKILL.md"

// Scope says where a skill comes from.
type Scope string

// The scopes, in the order in which they win when two skills have one name.
const (
	Project      Scope = "project"      // the folder being worked on; must be trusted
	User         Scope = "user"         // the user's own folder
	Builtin      Scope = "builtin"      // part of the program
	Upload       Scope = "upload"       // sent by a principal
	Organisation Scope = "organisation" // shared by everybody
)

// Skill is one skill. A literal with Name, Description and Markdown is a skill written in Go; Files are what it bundles, by
// relative slash path.
type Skill struct {
	Name          string
	Description   string
	Markdown      string // the instructions
	Files         map[string]string
	Metadata      map[string]string
	License       string
	Compatibility string   // what it needs to run
	AllowedTools  []string // calls that may be approved beforehand; never a limit and never a grant by itself
	Scope         Scope
	Path          string // of its SKILL.md, as shown to people; empty for a literal

	HiddenFromModel bool // not in the catalogue; a user can still call it
	HiddenFromUser  bool // no /name for it

	files fs.FS  // where the bundled files are; nil: Files
	dir   string // its folder in files, without links
}

// Folder is the skill's folder as shown to people, or "".
func (s Skill) Folder() string {
	if s.Path == "" || path.Base(s.Path) != FileName {
		return ""
	}
	return path.Dir(s.Path)
}

// Digest identifies what an activation puts into a conversation: 64 hex digits.
func (s Skill) Digest() string {
	h := sha256.New()
	for _, part := range []string{s.Name, s.Description, s.Compatibility, s.Markdown} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Ref is how to ask for exactly this skill when another of its name wins: name@scope.
func (s Skill) Ref() string {
	if s.Scope == "" {
		return s.Name
	}
	return s.Name + "@" + string(s.Scope)
}

// origin names the skill in a diagnostic.
func (s Skill) origin() string {
	if s.Path != "" {
		return s.Path
	}
	return "the skill " + strings.ToValidUTF8(s.Name, "\uFFFD") + " in Go"
}
