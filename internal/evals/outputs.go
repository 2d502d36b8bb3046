package evals

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// outputs are the files that a run put out, by path. What is no text, or very long, has none.
type outputs map[string]string

// readOutputs reads them.
func readOutputs(dir string) (outputs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	all := outputs{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxFile {
			all[name] = ""
			return nil
		}
		data, err := root.ReadFile(filepath.FromSlash(name))
		if utf8.Valid(data) {
			all[name] = string(data)
		} else {
			all[name] = ""
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return all, nil
}

func (o outputs) names() []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// text is all that is text, file by file, about limit bytes at most.
func (o outputs) text(limit int) string {
	var b strings.Builder
	for _, name := range o.names() {
		text := o[name]
		if room := max(limit-b.Len(), 0); len(text) > room {
			text = strings.ToValidUTF8(text[:room], "") + "\n[cut]"
		}
		fmt.Fprintf(&b, "--- %s\n%s\n", name, text)
	}
	return b.String()
}

// quotes reports whether the text stands in an output, whatever its blanks.
func (o outputs) quotes(quote string) bool {
	quote = strings.Join(strings.Fields(quote), " ")
	if quote == "" {
		return false
	}
	for name, text := range o {
		if name == quote || strings.Contains(strings.Join(strings.Fields(text), " "), quote) {
			return true
		}
	}
	return false
}
