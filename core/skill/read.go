package skill

import (
	"errors"
	"io"
	"io/fs"
	"path"
)

// skill reads the skill in a folder, at once or at the end.
func (w *walk) skill(rel, real string) {
	target, ok := w.resolve(path.Join(rel, FileName))
	switch {
	case !ok:
	case path.Base(target) != FileName:
		w.skipped(SymlinkEscape, path.Join(rel, FileName), "the link must lead to a file named %s", FileName)
	case target != path.Join(real, FileName):
		w.linked = append(w.linked, linked{rel, real, target})
	default:
		w.load(rel, real, target)
	}
}

// load reads the skill in a folder from its SKILL.md, whose place is target.
func (w *walk) load(rel, real, target string) {
	if !w.first(target) {
		return
	}
	w.read(path.Join(rel, FileName), target, func(r *report, data []byte) (Skill, bool) {
		s, ok := r.parse(folderName(w.shown(rel)), data)
		s.files, s.dir = w.root.FS, real
		return s, ok
	})
}

// flat reads a skill that is one file.
func (w *walk) flat(rel string) {
	if real, ok := w.resolve(rel); ok && w.first(real) {
		w.read(rel, real, (*report).parseFlat)
	}
}

// read reads the file of a skill and keeps the skill.
func (w *walk) read(rel, real string, parse func(r *report, data []byte) (Skill, bool)) {
	if w.root.Scope == Project && !w.root.Trusted {
		w.skipped(UntrustedScope, rel, "the project is not trusted, so its skills are not used")
		return
	}
	data, err := readBounded(w.root.FS, real)
	if err != nil {
		w.skipped(Unreadable, rel, "cannot be read: %v", err)
		return
	}
	w.path = w.shown(rel)
	s, ok := parse(&w.report, data)
	if !ok {
		return
	}
	s.Scope = w.root.Scope
	w.skills = append(w.skills, s)
}

// readBounded reads a regular file, and one byte more than a skill may have at most.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

func folderName(shown string) string {
	if base := path.Base(shown); base != "." && base != "/" && base != ".." {
		return base
	}
	return ""
}

// nested tells of a SKILL.md further down, which belongs to the skill above it. Links are not followed.
func (w *walk) nested(rel, real string, entries []fs.DirEntry) {
	const deep = 4
	var look func(at string, entries []fs.DirEntry, depth int)
	look = func(at string, entries []fs.DirEntry, depth int) {
		for _, e := range entries {
			inner := path.Join(at, e.Name())
			switch {
			case e.Name() == FileName && at != ".":
				w.path = w.shown(path.Join(rel, inner))
				load, _ := NestedSkill.severity()
				w.add(Diagnostic{Severity: load, Code: NestedSkill, Other: w.shown(path.Join(rel, FileName)), Text: "this is a file of the skill above it, not a skill"})
			case e.IsDir() && depth < deep && e.Name() != ".git" && e.Name() != "node_modules":
				below, err := fs.ReadDir(w.root.FS, path.Join(real, inner))
				if err == nil {
					look(inner, below, depth+1)
				}
			}
		}
	}
	look(".", entries, 0)
}
