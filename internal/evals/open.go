package evals

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/skill"
)

// Subject is a skill that is measured. Close it when done.
type Subject struct {
	Skill skill.Skill
	Dir   string // its folder
	Found []skill.Diagnostic
	root  *os.Root
}

// Open reads the skill in the folder dir. Faults: NotFound, Invalid if it does not load.
func Open(dir string) (*Subject, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.NotFound, "%v", err)
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("find %s: %w", dir, err), root.Close())
	}
	list, found := skill.Finder{}.Find(skill.Root{FS: root.FS(), Name: filepath.Base(full)}) // a model is told no path of this machine
	if len(list) == 1 {
		return &Subject{Skill: list[0], Dir: full, Found: found, root: root}, nil
	}
	why := "no " + skill.FileName
	for _, d := range found {
		if d.Severity == skill.Error {
			why = d.String()
		}
	}
	if len(list) > 1 {
		why = fmt.Sprintf("%d skills; give the folder of one", len(list))
	}
	return nil, errors.Join(fault.New(fault.Invalid, "%s: %s", dir, why), root.Close())
}

// Close closes the folder.
func (s *Subject) Close() error { return s.root.Close() }

// maxFile bounds a file that is read whole.
const maxFile = 4 << 20

// Read reads a file below the skill's folder, for the author's own tools: evals are not closed to them. Faults: NotFound, Limit.
func (s *Subject) Read(name string) ([]byte, error) {
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fault.New(fault.NotFound, "%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, fault.New(fault.Limit, "%s is larger than %d bytes", name, maxFile)
	}
	return data, nil
}

// Suite reads its test cases and sees that their files are there. Faults: NotFound, Invalid.
func (s *Subject) Suite() (Suite, error) {
	data, err := s.Read(SuiteFile)
	if err != nil {
		return Suite{}, err
	}
	suite, err := ParseSuite(data)
	if err != nil {
		return suite, err
	}
	if suite.SkillName != "" && suite.SkillName != s.Skill.Name {
		return suite, fault.New(fault.Invalid, "%s is of the skill %q, this one is %q", SuiteFile, suite.SkillName, s.Skill.Name)
	}
	for _, c := range suite.Cases {
		for _, name := range c.Files {
			if _, err := s.Read(name); err != nil {
				return suite, fmt.Errorf("eval %s: %w", c.ID, err)
			}
		}
	}
	return suite, nil
}

// inputs are the files that a case works on.
func (s *Subject) inputs(c Case) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range c.Files {
		data, err := s.Read(name)
		if err != nil {
			return nil, err
		}
		all[name] = string(data)
	}
	return all, nil
}

// Digest identifies all that the skill is made of, but its evals.
func (s *Subject) Digest() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "evals" || d.Name() == "node_modules" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := s.Read(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(h, "%d:%s %x\n", len(name), name, sum)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("digest of %s: %w", s.Dir, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// casesDigest identifies what the cases ask, without how it is graded.
func (s *Subject) casesDigest(cases []Case) (string, error) {
	h := sha256.New()
	for _, c := range cases {
		fmt.Fprintf(h, "%q %q %q\n", c.ID, c.Dir(), c.Prompt)
		inputs, err := s.inputs(c)
		if err != nil {
			return "", err
		}
		for _, name := range c.Files {
			fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256([]byte(inputs[name])))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
