package skill

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"strings"
)

var errEscape = errors.New("the link leads out of the folder")

// maxLinks is how many links one path may have.
const maxLinks = 40

// realPath follows the links in name by itself and gives the path without any. A link that leads out of fsys, an absolute one
// and a circle of links is errEscape. A file system without links gives name.
func realPath(fsys fs.FS, name string) (string, error) {
	links, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return name, nil
	}
	done, rest := ".", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if done == "." {
				return "", errEscape
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		info, err := links.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		target, err := links.ReadLink(next)
		if err != nil {
			return "", err
		}
		if hops++; hops > maxLinks || filepath.IsAbs(target) || path.IsAbs(target) {
			return "", errEscape
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done, nil
}

// inside reports whether name is in folder or is it.
func inside(folder, name string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// identity gives something that is equal for the same file system, as far as that can be told, and for no other.
func identity(fsys fs.FS) any {
	v := reflect.ValueOf(fsys)
	switch {
	case !v.IsValid() || v.Comparable():
		return fsys
	case v.Kind() == reflect.Map, v.Kind() == reflect.Slice:
		return v.Pointer()
	}
	return new(int)
}
