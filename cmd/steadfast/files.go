package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// files are the commands about a session's workspace.
type files struct {
	List filesList `cmd:"" help:"List the files of a session."`
	Get  filesGet  `cmd:"" help:"Print the text of a file."`
}

type filesList struct {
	Session string `arg:"" help:"The session's id."`
}

// Run implements the command.
func (l filesList) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	all, raw, err := cl.Files(ctx, l.Session)
	switch {
	case err != nil:
		return err
	case s.json:
		s.print(raw, "")
		return nil
	case len(all.Files) == 0:
		s.note("no files")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, f := range all.Files {
		if _, err := fmt.Fprintf(w, "%s\t%d\t%s\n", f.Path, f.Bytes, f.Artifact); err != nil {
			return err
		}
	}
	return w.Flush()
}

type filesGet struct {
	Session string `arg:"" help:"The session's id."`
	Path    string `arg:"" help:"The file, as files list names it."`
}

// Run implements the command.
func (g filesGet) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	text, err := cl.File(ctx, g.Session, g.Path)
	if err != nil {
		return err
	}
	if s.json {
		raw, err := json.Marshal(map[string]string{"path": g.Path, "content": text})
		s.print(raw, "")
		return err
	}
	_, err = fmt.Fprint(s.stdout, text)
	return err
}

// brought reads the files that a message brings: each is PATH, which comes under its last part, or NAME=PATH.
func brought(given []string) (map[string]string, error) {
	if len(given) == 0 {
		return nil, nil
	}
	all := map[string]string{}
	for _, one := range given {
		name, path, named := strings.Cut(one, "=")
		if !named {
			name, path = filepath.Base(one), one
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &client.Error{Code: "invalid", Message: "file: " + err.Error()}
		}
		if !utf8.Valid(text) { // JSON would change it without a word
			return nil, &client.Error{Code: "invalid", Message: "file: " + path + " is no UTF-8 text"}
		}
		if _, taken := all[name]; taken {
			return nil, &client.Error{Code: "invalid", Message: "file: two are named " + name + ": give one another name, as NAME=PATH"}
		}
		all[name] = string(text)
	}
	return all, nil
}
