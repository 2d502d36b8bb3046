package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

type skillsPack struct {
	Path string `arg:"" help:"The skill's folder, or its name in agent/skills."`
	Out  string `help:"The file to write, in place of NAME.skill in the working folder." placeholder:"FILE"`
}

// Run implements the command. What is packed is what push sends; the same skill gives the same bytes.
func (p skillsPack) Run(_ *cli, s *surroundings) error {
	fsys, one, done, err := s.soundSkill(p.Path, "nothing was packed")
	if err != nil {
		return err
	}
	defer done()
	files, err := skillFiles(fsys)
	if err != nil {
		return err
	}
	packed, err := pack(fsys, one.Name, files)
	if err != nil {
		return err
	}
	out := p.Out
	if out == "" {
		out = one.Name + ".skill"
	}
	if err := os.WriteFile(out+".part", packed, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	if err := os.Rename(out+".part", out); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	return s.answer(map[string]any{"name": one.Name, "path": filepath.ToSlash(out), "files": len(files), "bytes": len(packed)},
		"%s is written, %s, %d bytes", out, counted(len(files), "file"), len(packed))
}

// pack makes a zip of the files in one folder, in their order; scripts stay executable.
func pack(fsys fs.FS, folder string, files []client.SkillFile) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		info, err := fs.Stat(fsys, f.Path)
		if err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
		h := &zip.FileHeader{Name: path.Join(folder, f.Path), Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)} // the first a zip knows
		h.SetMode(0o644 | info.Mode()&0o111)
		data := f.Bytes
		if data == nil {
			data = []byte(f.Text)
		}
		entry, err := w.CreateHeader(h)
		if err == nil {
			_, err = entry.Write(data)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", folder, err)
	}
	return out.Bytes(), nil
}
