package main

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
)

type skillsPush struct {
	Path string `arg:"" help:"The skill's folder, its name in agent/skills, or a .zip or .skill file of it."`
}

// counted is a number of things, in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// maxSent is how many bytes of a skill are read; the stack refuses less.
const maxSent = 8 << 20

// Run implements the command.
func (p skillsPush) Run(c *cli, s *surroundings) error {
	fsys, one, done, err := s.soundSkill(p.Path, "nothing was sent")
	if err != nil {
		return err
	}
	defer done()
	files, err := skillFiles(fsys)
	if err != nil {
		return err
	}
	ctx, stop := s.context()
	defer stop()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	sent, raw, err := cl.PushSkill(ctx, one.Name, files)
	if err != nil {
		return err
	}
	s.print(raw, "%s is there, %s, %d bytes; sessions that begin from now on have it", sent.Name, counted(sent.Files, "file"), sent.Bytes)
	return nil
}

// skillFiles reads what belongs to a skill: not its evals, which hold the answers, and nothing that tools leave behind. Links are
// not followed.
func skillFiles(fsys fs.FS) (files []client.SkillFile, err error) {
	bytes := 0
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		switch {
		case name == ".":
			return nil
		case d.IsDir() && (name == "evals" || base == "node_modules" || base == "__pycache__" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(base, "."):
			return nil
		case !d.Type().IsRegular():
			return &client.Error{Code: string(fault.Invalid), Message: name + " is a link or no regular file; send its content in its place"}
		}
		data, err := readUpTo(fsys, name, maxSent-bytes)
		if err != nil {
			return err
		}
		if bytes += len(data); bytes > maxSent {
			return &client.Error{Code: string(fault.Limit), Message: fmt.Sprintf("the skill has more than %d bytes", maxSent)}
		}
		f := client.SkillFile{Path: name}
		if utf8.Valid(data) {
			f.Text = string(data)
		} else {
			f.Bytes = data
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// readUpTo reads a file, and one byte more than limit at most: an archive may say less of its size than it holds.
func readUpTo(fsys fs.FS, name string, limit int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

type skillsRemove struct {
	Name string `arg:"" help:"The uploaded skill's name."`
}

// Run implements the command.
func (r skillsRemove) Run(c *cli, s *surroundings) error {
	ctx, stop := s.context()
	defer stop()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	if err := cl.RemoveSkill(ctx, r.Name); err != nil {
		return err
	}
	return s.answer(map[string]any{"name": r.Name, "removed": true}, "%s is removed; sessions that have it keep it", r.Name)
}

// listUploads shows what the user has sent to the stack.
func (s *surroundings) listUploads(c *cli) error {
	ctx, stop := s.context()
	defer stop()
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	list, raw, err := cl.Skills(ctx)
	if err != nil {
		return err
	}
	if s.json {
		s.print(raw, "")
		return nil
	}
	if len(list) == 0 {
		s.note("no skills sent yet")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SKILL\tSENT\tFILES\tBYTES\tDIGEST\tDESCRIPTION")
	for _, one := range list {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.12s\t%s\n", one.Name, one.SentAt, one.Files, one.Bytes, one.Digest, oneLine(one.Description))
	}
	return w.Flush()
}
