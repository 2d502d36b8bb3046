package skill

import (
	"io/fs"
	"path"
	"strings"
)

// Validate checks the skill in the folder dir of fsys as strictly as the format allows: see Strict. A folder without a SKILL.md
// is an Error too. Skills in folders below are not looked for.
func Validate(fsys fs.FS, dir string) []Diagnostic {
	return validate(Root{FS: fsys, Path: dir})
}

func validate(root Root) []Diagnostic {
	w := walk{depth: 1, most: 1, seen: map[place]bool{}}
	if !w.open(root) {
		return Strict(w.found)
	}
	real, ok := w.resolve(".")
	if !ok {
		return missing(w.found, w.shown(FileName))
	}
	entries, err := fs.ReadDir(w.root.FS, real)
	if err != nil {
		w.skipped(Unreadable, ".", "the folder cannot be read: %v", err)
	}
	w.root.Trusted = true
	for _, e := range entries {
		switch {
		case e.Name() == FileName:
			w.skill(".", real)
			w.nested(".", real, entries)
		case strings.EqualFold(e.Name(), FileName):
			w.skipped(FileCase, e.Name(), "the file must be named exactly %s", FileName)
		}
	}
	for _, l := range w.linked {
		w.load(l.rel, l.real, l.target)
	}
	if len(w.skills) == 0 && !Failed(w.found) {
		return missing(w.found, path.Join(w.root.Name, FileName))
	}
	return Strict(w.found)
}

func missing(found []Diagnostic, file string) []Diagnostic {
	r := report{path: file, found: found}
	if !Failed(found) {
		r.skip(FileMissing, 0, "there is no %s", FileName)
	}
	return Strict(r.found)
}
