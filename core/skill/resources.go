package skill

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// MaxResources is how many bundled files are listed.
const MaxResources = 100

// DefaultRead and MaxRead are how many bytes of a file are read at once.
const (
	DefaultRead = 32 << 10
	MaxRead     = 128 << 10
)

// maxWalk bounds the search for bundled files.
const maxWalk = 5000

// Resources lists the bundled files that can be read, as sorted slash paths relative to the skill's folder: at most
// MaxResources, and how many more there are. SKILL.md, dot files, node_modules and the skill's own evals are not among them.
func (s Skill) Resources() (files []string, more int) {
	if s.files == nil {
		for name := range s.Files {
			if readable(name) && !hiddenFile(name) {
				files = append(files, name)
			}
		}
	} else if s.dir != "" {
		l := listing{s: s, seen: map[string]bool{}}
		l.folder(".")
		files = l.files
	}
	slices.Sort(files)
	if len(files) > MaxResources {
		more = len(files) - MaxResources
		files = files[:MaxResources]
	}
	return files, more
}

// hiddenFile reports whether a file is not for the model: what the author's tools left, and the answers of the evals.
func hiddenFile(name string) bool {
	parts := strings.Split(name, "/")
	return name == FileName || parts[0] == "evals" ||
		slices.ContainsFunc(parts, func(p string) bool { return p == "node_modules" || strings.HasPrefix(p, ".") })
}

// listing walks a skill's folder.
type listing struct {
	s       Skill
	seen    map[string]bool // folders, without links
	visited int
	files   []string
}

func (l *listing) folder(rel string) {
	real, err := l.s.real(rel)
	if err != nil || l.seen[real] {
		return
	}
	l.seen[real] = true
	entries, err := fs.ReadDir(l.s.files, real)
	if err != nil {
		return
	}
	for _, e := range linksLast(entries) {
		name := path.Join(rel, e.Name())
		if l.visited++; l.visited > maxWalk || hiddenFile(name) {
			continue
		}
		target, err := l.s.real(name)
		if err != nil || l.s.closed(target) {
			continue
		}
		switch info, err := fs.Stat(l.s.files, target); {
		case err != nil:
		case info.IsDir():
			l.folder(name)
		case info.Mode().IsRegular() && readable(name):
			l.files = append(l.files, name)
		}
	}
}

// real gives the place of a file without links, which is inside the skill's folder.
func (s Skill) real(name string) (string, error) {
	target, err := realPath(s.files, path.Join(s.dir, name))
	if err == nil && !inside(s.dir, target) {
		err = errEscape
	}
	return target, err
}

// closed reports whether a place in the skill's folder is not for the model: the answers of its evals, and the history of its folder.
func (s Skill) closed(target string) bool {
	return inside(path.Join(s.dir, "evals"), target) || inside(path.Join(s.dir, ".git"), target)
}

// readable reports whether ReadFile takes the name as it is.
func readable(name string) bool {
	clean, err := cleanPath(name)
	return err == nil && clean == name
}

// ReadFile reads a bundled file from byte offset on: limit bytes, 0: DefaultRead, at most MaxRead, cut between characters.
// SKILL.md reads as the instructions. Faults: Invalid (no relative path inside the skill), Denied (a link that leads out, the
// skill's evals), NotFound.
func (s Skill) ReadFile(name string, offset int64, limit int) (Excerpt, error) {
	name, err := cleanPath(name)
	if err != nil {
		return Excerpt{}, err
	}
	if limit <= 0 {
		limit = DefaultRead
	}
	offset, limit = max(offset, 0), min(limit, MaxRead)
	if name == FileName {
		return excerpt(strings.NewReader(s.Markdown), name, int64(len(s.Markdown)), offset, limit)
	}
	if first, _, _ := strings.Cut(name, "/"); first == "evals" || first == ".git" {
		return Excerpt{}, fault.New(fault.Denied, "the files in %s are not for reading", first)
	}
	if s.files == nil {
		text, ok := s.Files[name]
		if !ok {
			return Excerpt{}, s.notFound(name)
		}
		return excerpt(strings.NewReader(text), name, int64(len(text)), offset, limit)
	}
	return s.readFrom(name, offset, limit)
}

func (s Skill) readFrom(name string, offset int64, limit int) (Excerpt, error) {
	if s.dir == "" {
		return Excerpt{}, s.notFound(name)
	}
	target, err := s.real(name)
	switch {
	case errors.Is(err, errEscape):
		return Excerpt{}, fault.New(fault.Denied, "%s leads out of the skill's folder", name)
	case err != nil:
		return Excerpt{}, s.notFound(name)
	case s.closed(target):
		return Excerpt{}, fault.New(fault.Denied, "%s is not for reading", name)
	}
	info, err := fs.Stat(s.files, target)
	if err != nil {
		return Excerpt{}, s.notFound(name)
	}
	if !info.Mode().IsRegular() {
		return Excerpt{}, fault.New(fault.Invalid, "%s is a folder or no regular file", name)
	}
	f, err := s.files.Open(target)
	if err != nil {
		return Excerpt{}, fault.Wrap(fault.Unavailable, err, "open %s of skill %s", name, s.Name)
	}
	defer f.Close()
	return excerpt(f, name, info.Size(), offset, limit)
}

func (s Skill) notFound(name string) error {
	files, _ := s.Resources()
	if len(files) == 0 {
		return fault.New(fault.NotFound, "the skill %s has no file %s; it bundles none", s.Name, name)
	}
	return fault.New(fault.NotFound, "the skill %s has no file %s; it has %s", s.Name, name, strings.Join(files[:min(len(files), 20)], ", "))
}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// cleanPath checks a path that a model or a link in a text names.
func cleanPath(name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fault.New(fault.Invalid, "%q %s: give a path relative to the skill's folder, such as references/guide.md", name, why)
	}
	switch {
	case strings.TrimSpace(name) == "":
		return refuse("is empty")
	case strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return refuse("has characters that no path has")
	case strings.Contains(name, `\`):
		return refuse("has a backslash")
	case path.IsAbs(name) || drive.MatchString(name):
		return refuse("is absolute")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return refuse("leads out of the skill's folder")
	}
	clean := path.Clean(name)
	if clean == "." {
		return refuse("is the folder itself")
	}
	return clean, nil
}
