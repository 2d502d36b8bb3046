// Package upload keeps the skills that a principal sends: checked as strictly as the format allows before anybody sees them, seen
// by their owner alone, and the same for all the life of a session that has begun with them.
//
//	send ──check──▶ content, under its digest ──one transaction with──▶ list ──first turn──▶ session's own list
//
// Content never changes, so writing it twice is harmless, and a session whose list names it finds it although a newer version was
// sent or the skill was removed. Content that no session has used for a year goes. The package runs nothing and calls no model.
package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// What a principal may send.
const (
	MaxSkills = 32
	MaxFiles  = 100
	MaxBytes  = 1 << 20 // of all files of a skill
)

// MaxBody is the largest body of a request that sends a skill: its files, as base64 in JSON.
const MaxBody = 2 << 20

// File is one file of a skill: text, or bytes.
type File struct {
	Path  string `json:"path"` // relative to the skill's folder
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"base64,omitempty"`
}

func (f File) content() string {
	if f.Bytes != nil {
		return string(f.Bytes)
	}
	return f.Text
}

// Listed is one uploaded skill in its owner's list.
type Listed struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Digest      string           `json:"digest"` // of all its files
	Files       int              `json:"files"`
	Bytes       int              `json:"bytes"`
	SentAt      contract.Instant `json:"sentAt"`
}

// check makes a list entry of files, if they are a sound skill. Faults: Invalid, which names everything that is wrong.
func check(name string, files []File) (Listed, error) {
	if err := checkName(name); err != nil {
		return Listed{}, err
	}
	l := Listed{Name: name, Files: len(files)}
	if len(files) > MaxFiles {
		return l, fault.New(fault.Invalid, "files: %d, the limit is %d", len(files), MaxFiles)
	}
	seen := map[string]bool{}
	main := ""
	found := false
	for i, f := range files {
		if err := checkPath(f.Path); err != nil {
			return l, fault.New(fault.Invalid, "files[%d].path: %v", i, err)
		}
		folded := strings.ToLower(f.Path)
		if seen[folded] {
			return l, fault.New(fault.Invalid, "files[%d].path: %q is there twice", i, f.Path)
		}
		if f.Text != "" && f.Bytes != nil {
			return l, fault.New(fault.Invalid, "files[%d]: has text and base64", i)
		}
		seen[folded] = true
		if l.Bytes += len(f.content()); l.Bytes > MaxBytes {
			return l, fault.New(fault.Invalid, "files: more than %d bytes together", MaxBytes)
		}
		if f.Path == skill.FileName {
			main, found = f.content(), true
		}
	}
	for p := range seen { // a name is a file or a folder, never both
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return l, fault.New(fault.Invalid, "files: %q is a file and a folder", dir)
			}
		}
	}
	if !found {
		return l, fault.New(fault.Invalid, "files: there is no %s", skill.FileName)
	}
	one, findings, _ := skill.Parse(name+"/"+skill.FileName, name, []byte(main))
	if err := refuse(skill.Strict(findings)); err != nil {
		return l, err
	}
	l.Description, l.Digest = one.Description, digest(files)
	return l, nil
}

func checkName(name string) error {
	if name == "" || len(name) > skill.MaxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fault.New(fault.Invalid, "name: must be 1 to %d lowercase letters, digits and hyphens", skill.MaxName)
	}
	return nil
}

func checkPath(name string) error {
	switch {
	case len(name) > 200 || strings.Count(name, "/") > 8:
		return fmt.Errorf("is too long or too deep")
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00:") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("%q is no path inside the skill's folder", name)
	}
	return nil
}

// refuse makes one fault of all errors.
func refuse(found []skill.Diagnostic) error {
	var wrong []string
	for _, d := range found {
		if d.Severity == skill.Error {
			wrong = append(wrong, d.String())
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%s", strings.Join(wrong, "\n"))
}

// digest identifies all files: 64 hex digits.
func digest(files []File) string {
	h := sha256.New()
	for _, f := range sorted(files) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(f.Path), f.Path, len(f.content()), f.content())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sorted(files []File) []File {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// made is the skill of stored files.
func made(name, body string) (skill.Skill, error) {
	var files []File
	if err := json.Unmarshal([]byte(body), &files); err != nil {
		return skill.Skill{}, fault.Wrap(fault.Internal, err, "read the files of skill %s", name)
	}
	contents := map[string]string{}
	for _, f := range files {
		contents[f.Path] = f.content()
	}
	where := "uploads/" + name + "/" + skill.FileName
	one, found, ok := skill.Parse(where, name, []byte(contents[skill.FileName]))
	if !ok {
		return one, refuse(found)
	}
	delete(contents, skill.FileName)
	one.Files, one.Scope, one.Path = contents, skill.Upload, where
	return one, nil
}
