package workspace

import (
	"io/fs"
	"slices"
	"strings"
)

// program is a folder of the program without the Go files that make a package of it.
type program struct{ fs.FS }

// Program gives the files of a folder that is also a Go package: all but the Go files directly in it.
func Program(folder fs.FS) fs.FS { return program{folder} }

func hidden(name string) bool { return strings.HasSuffix(name, ".go") && !strings.Contains(name, "/") }

// Open opens a file that is not hidden.
func (p program) Open(name string) (fs.File, error) {
	if hidden(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return p.FS.Open(name)
}

// ReadDir lists what is not hidden.
func (p program) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(p.FS, name)
	if name != "." {
		return list, err
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return hidden(e.Name()) }), err
}
