package skill

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Root is a folder to look for skills in.
type Root struct {
	FS   fs.FS  // links are followed within it, never out of it: os.Root's FS for a folder on disk
	Path string // in FS; "" is all of FS. A skill's own folder or its SKILL.md is fine too. One that is not there has no skills.
	// A Project whose Path ends in .<host>/skills is the folder above: links of its skills stay in there.
	Name  string // how people call Path, for findings; "": Path
	Scope Scope  // "": Builtin
	// Trusted says that a person has agreed to skills of this Project; without it there are none. Other scopes do not ask.
	Trusted bool
	// Flat takes the Markdown files right in Path, but README.md, for skills too.
	Flat bool
}

// Finder looks for skills. The zero value is ready.
type Finder struct {
	Order   []Scope // which scope wins, the first one; nil: Project, User, Builtin, Upload, Organisation
	Depth   int     // of folders below a root; 0: 6
	Folders int     // in each root; 0: 2000
}

// Load reads the skills of a program: folders and flat files at the top of fsys. A broken skill is a finding, never an error.
func Load(fsys fs.FS) ([]Skill, []Diagnostic) {
	return Finder{}.Find(Root{FS: fsys, Flat: true})
}

// Find gives every skill of the roots, also those with one name, in the order in which they win: by scope, then in the order
// of the roots, then by path, in each folder links last. A folder with a SKILL.md is not searched further; what is reached twice over links counts once.
// No file is read but SKILL.md and flat ones.
func (f Finder) Find(roots ...Root) ([]Skill, []Diagnostic) {
	order := f.Order
	if order == nil {
		order = []Scope{Project, User, Builtin, Upload, Organisation}
	}
	rank := func(s Scope) int {
		if i := slices.Index(order, cmp.Or(s, Builtin)); i >= 0 {
			return i
		}
		return len(order)
	}
	roots = slices.Clone(roots)
	slices.SortStableFunc(roots, func(a, b Root) int { return rank(a.Scope) - rank(b.Scope) })
	w := walk{depth: cmp.Or(f.Depth, 6), most: cmp.Or(f.Folders, 2000), seen: map[place]bool{}}
	for _, root := range roots {
		w.search(root)
	}
	return w.skills, w.found
}

// place is a folder or file, however it was reached.
type place struct {
	fsys any
	path string
}

// walk is one search.
type walk struct {
	report
	depth, most int
	root        Root
	fsID        any // equal for roots with one file system
	folders     int // of this root so far
	full        bool
	linked      []linked // met in this root, for the end of its search
	seen        map[place]bool
	skills      []Skill
}

func (w *walk) search(root Root) {
	if !w.open(root) {
		return
	}
	w.folder(".", 0)
	for _, l := range w.linked {
		w.load(l.rel, l.real, l.target)
	}
}

// linked is a folder whose SKILL.md is a link. It counts after the folder that the link may lead to.
type linked struct{ rel, real, target string }

// open begins with a root.
func (w *walk) open(root Root) bool {
	root.Scope = cmp.Or(root.Scope, Builtin)
	root.Path = path.Clean(cmp.Or(root.Path, "."))
	if path.Base(root.Path) == FileName {
		root.Path = path.Dir(root.Path)
	}
	root.Name = strings.TrimSuffix(cmp.Or(root.Name, root.Path), "/"+FileName)
	w.root, w.fsID, w.folders, w.full, w.linked = root, identity(root.FS), 0, false, nil
	if root.FS == nil || !fs.ValidPath(root.Path) {
		w.skipped(Unreadable, ".", "%q is not a path in a file system", root.Path)
		return false
	}
	return true
}

// shown is how people know a path that is given relative to the root.
func (w *walk) shown(rel string) string { return path.Join(w.root.Name, rel) }

func (w *walk) skipped(code Code, rel, format string, args ...any) {
	w.path = w.shown(rel)
	w.skip(code, 0, format, args...)
}

// folder searches a folder, given relative to the root.
func (w *walk) folder(rel string, depth int) {
	real, ok := w.resolve(rel)
	if !ok || !w.first(real) || !w.mayEnter(rel, depth) {
		return
	}
	entries, err := fs.ReadDir(w.root.FS, real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		w.skipped(Unreadable, rel, "the folder cannot be read: %v", err)
		return
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == FileName }) {
		w.skill(rel, real)
		w.nested(rel, real, entries)
		return
	}
	for _, e := range linksLast(entries) {
		w.entry(path.Join(rel, e.Name()), e, depth)
	}
}

// linksLast sorts by name, and links after what they may point to.
func linksLast(entries []fs.DirEntry) []fs.DirEntry {
	isLink := func(e fs.DirEntry) int { return int(e.Type() & fs.ModeSymlink) }
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(cmp.Compare(isLink(a), isLink(b)), cmp.Compare(a.Name(), b.Name()))
	})
	return entries
}

// entry looks at something in a folder that is no skill.
func (w *walk) entry(rel string, e fs.DirEntry, depth int) {
	name, isDir := e.Name(), e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		real, ok := w.resolve(rel)
		if !ok {
			return
		}
		info, err := fs.Stat(w.root.FS, real)
		isDir = err == nil && info.IsDir()
	}
	switch {
	case isDir && name != ".git" && name != "node_modules":
		w.folder(rel, depth+1)
	case !isDir && strings.EqualFold(name, FileName):
		w.skipped(FileCase, rel, "the file must be named exactly %s", FileName)
	case !isDir && depth == 0 && w.root.Flat && strings.EqualFold(path.Ext(name), ".md") && !strings.EqualFold(name, "readme.md"):
		w.flat(rel)
	}
}

// mayEnter keeps the bounds of the search and says once when one is reached.
func (w *walk) mayEnter(rel string, depth int) bool {
	w.folders++
	if depth <= w.depth && w.folders <= w.most {
		return true
	}
	if !w.full {
		w.full = true
		w.path = w.shown(rel)
		w.tell(ScanLimit, 0, "not everything was searched: at most %d folders, %d deep", w.most, w.depth)
	}
	return false
}

// resolve gives the path in the file system without links. One that leads out is told, one that leads nowhere is not.
func (w *walk) resolve(rel string) (string, bool) {
	real, err := realPath(w.root.FS, path.Join(w.root.Path, rel))
	if err == nil && !inside(w.root.boundary(), real) {
		err = errEscape
	}
	switch {
	case errors.Is(err, errEscape):
		w.skipped(SymlinkEscape, rel, "%v", err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		w.skipped(Unreadable, rel, "cannot be read: %v", err)
	}
	return real, err == nil
}

// boundary is the folder that links must not leave.
func (r Root) boundary() string {
	host := path.Dir(r.Path)
	if r.Scope == Project && path.Base(r.Path) == "skills" && strings.HasPrefix(path.Base(host), ".") && host != "." {
		return path.Dir(host)
	}
	return "."
}

// first reports whether the place has not been seen before.
func (w *walk) first(real string) bool {
	p := place{w.fsID, real}
	if w.seen[p] {
		return false
	}
	w.seen[p] = true
	return true
}
