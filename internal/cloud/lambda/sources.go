package lambda

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// fingerprint tells in a few milliseconds whether anything that a build may read has changed: name, size and time of every
// Go file but tests, of go.mod and go.sum, and of every file below a package's folder, because it may be embedded.
func fingerprint(dir string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), os.Getenv("GOFLAGS"), buildFlags())
	if err := addFolder(sum, dir, "", false); err != nil {
		return "", fmt.Errorf("look for changed sources: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// addFolder adds the folder path below root. inPackage says that a folder above it, other than root, holds Go files.
func addFolder(sum hash.Hash, root, path string, inPackage bool) error {
	entries, err := os.ReadDir(filepath.Join(root, path))
	if err != nil {
		return err
	}
	if path != "" {
		inPackage = inPackage || hasGo(entries)
	}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if e.IsDir() {
			if !skipped(root, name) {
				err = addFolder(sum, root, name, inPackage)
			}
		} else if isSource(e.Name(), inPackage) {
			err = addFile(sum, name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func addFile(w io.Writer, name string, e os.DirEntry) error {
	info, err := e.Info()
	if os.IsNotExist(err) {
		return nil // deleted this moment: the next look sees it
	}
	if err == nil {
		fmt.Fprintln(w, name, info.Size(), info.ModTime().UnixNano())
	}
	return err
}

func hasGo(entries []os.DirEntry) bool {
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") {
			return true
		}
	}
	return false
}

func isSource(name string, inPackage bool) bool {
	switch {
	case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "."):
		return false
	case strings.HasSuffix(name, ".go"), name == "go.mod", name == "go.sum":
		return true
	}
	return inPackage
}

// skipped leaves out what no build reads: hidden folders, test data, and other modules.
func skipped(root, path string) bool {
	name := filepath.Base(path)
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(root, path, "go.mod"))
	return err == nil
}
