package main

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// isArchive reports whether a path is that of a packed skill.
func isArchive(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".zip" || ext == ".skill"
}

// maxEntries bounds what an archive may list.
const maxEntries = 2000

// soundSkill opens a skill that breaks no rule of the format; of one that does the findings are printed, and what became of it.
func (s *surroundings) soundSkill(where, outcome string) (fs.FS, skill.Skill, func(), error) {
	fsys, one, found, done, err := openSkill(where)
	if err == nil && !skill.Failed(found) {
		return fsys, one, done, nil
	}
	if err != nil && len(found) == 0 {
		return nil, skill.Skill{}, nil, err
	}
	s.findings(found)
	if err == nil {
		done()
		err = &client.Error{Code: string(fault.Invalid), Message: where + " breaks the format"}
	}
	return nil, skill.Skill{}, nil, fmt.Errorf("%w; %s", err, outcome)
}

// openSkill opens a skill's folder, or an archive of one, and reads the skill strictly. fsys is rooted at the skill's folder.
func openSkill(where string) (fsys fs.FS, one skill.Skill, found []skill.Diagnostic, done func(), err error) {
	if isArchive(where) {
		fsys, done, err = openArchive(where)
	} else {
		given := where
		where = subjectFolder(given)
		if fsys, done, err = openFolder(where); fault.Is(err, fault.NotFound) {
			err = missingSkill(given)
		}
	}
	if err != nil {
		return nil, one, nil, nil, err
	}
	name := named(where)
	if isArchive(where) {
		name = strings.TrimSuffix(name, filepath.Ext(where)) // as if it were unpacked
	}
	list, found := skill.Finder{}.Find(skill.Root{FS: fsys, Name: name})
	if len(list) == 1 && fileIn(fsys, skill.FileName) {
		return fsys, list[0], skill.Strict(found), done, nil
	}
	dir, top, ok := onlyFolder(fsys)
	if isArchive(where) && len(list) == 1 && ok && fileIn(dir, skill.FileName) { // an archive has a folder at its top
		one, found, ok := reread(dir, where, top)
		if ok {
			return dir, one, skill.Strict(found), done, nil
		}
	}
	done()
	return nil, one, skill.Strict(found), nil, &client.Error{Code: string(fault.Invalid), Message: where + " is not one skill"}
}

// reread reads the skill of the only folder of an archive, under that folder's name.
func reread(dir fs.FS, where, name string) (skill.Skill, []skill.Diagnostic, bool) {
	list, found := skill.Finder{}.Find(skill.Root{FS: dir, Name: path.Join(filepath.ToSlash(where), name)})
	if len(list) != 1 {
		return skill.Skill{}, found, false
	}
	return list[0], found, true
}

func openFolder(dir string) (fs.FS, func(), error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fault.New(fault.NotFound, "%v", err)
	}
	return root.FS(), func() { _ = root.Close() }, nil // only read from
}

// openArchive opens a zip whose names all stay inside, and are no links.
func openArchive(file string) (fs.FS, func(), error) {
	r, err := zip.OpenReader(file)
	if err != nil {
		return nil, nil, &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("%s cannot be read as a zip: %v", file, err)}
	}
	if err := checkArchive(file, r.File); err != nil {
		_ = r.Close() // only read from
		return nil, nil, err
	}
	return r, func() { _ = r.Close() }, nil // only read from
}

func checkArchive(file string, entries []*zip.File) error {
	refuse := func(format string, args ...any) error {
		return &client.Error{Code: string(fault.Invalid), Message: file + ": " + fmt.Sprintf(format, args...)}
	}
	if len(entries) > maxEntries {
		return refuse("%d entries, the limit is %d", len(entries), maxEntries)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name, "/")
		folded := strings.ToLower(name)
		switch {
		case !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00"):
			return refuse("the entry %q is no path inside the archive", e.Name)
		case seen[folded]:
			return refuse("the entry %q is there twice", e.Name)
		case !e.Mode().IsDir() && !e.Mode().IsRegular():
			return refuse("the entry %q is a link or no regular file", e.Name)
		}
		seen[folded] = true
	}
	return nil
}

func fileIn(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// onlyFolder gives the folder at the top of fsys, if there is nothing beside it but what tools leave.
func onlyFolder(fsys fs.FS) (fs.FS, string, bool) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, "", false
	}
	only := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "__MACOSX" {
			continue
		}
		if only != "" || !e.IsDir() {
			return nil, "", false
		}
		only = e.Name()
	}
	dir, err := fs.Sub(fsys, only)
	return dir, only, only != "" && err == nil
}
