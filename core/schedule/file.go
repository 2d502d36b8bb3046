package schedule

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Definition is a schedule of the program: a file with a prompt, or a handler.
type Definition struct {
	ID          string
	Expression  string // five fields, as it was written
	Cron        Cron
	TimeZone    string // IANA name; "": UTC
	Description string
	Prompt      string   // of a file
	Handler     *Handler // or nil
}

// Next is the first time after after at which it fires, as the scheduler has it: a wall time that clocks skip is skipped.
func (d Definition) Next(after time.Time) time.Time {
	zone, err := Zone(d.TimeZone)
	if err != nil {
		return time.Time{}
	}
	return d.Cron.Next(after, zone, SkipGap)
}

// Names are the names of its schedules with their expressions: one, or two when either of its day fields counts.
func (d Definition) Names() map[string]string {
	names := map[string]string{}
	for i, e := range d.Cron.Expressions() {
		name := d.ID
		if i > 0 {
			name += ".2" // an id has no dot
		}
		names[Name(File, name)] = e
	}
	return names
}

// Set is the schedules of a program, in order of their ids.
type Set struct{ all []Definition }

// idForm is what a schedule may be called.
const idForm = `^[a-z0-9][a-z0-9_-]{0,47}$`

// NewSet reads the Markdown files at the top of files, which may be nil, and adds the handlers. README.md is passed over; other Markdown
// files in folders below are wrong. Everything that is wrong is in the error, and what is right in the set. Faults: Invalid.
func NewSet(files fs.FS, handlers ...Handler) (Set, error) {
	var s Set
	var problems []error
	if files != nil {
		names, err := markdown(files)
		if err != nil {
			problems = append(problems, err)
		}
		for _, name := range names {
			d, err := readFile(files, name)
			problems = s.add(d, name, err, problems)
		}
	}
	for _, h := range handlers {
		d, err := h.definition()
		problems = s.add(d, "handler "+h.ID, err, problems)
	}
	slices.SortFunc(s.all, func(a, b Definition) int { return strings.Compare(a.ID, b.ID) })
	if len(problems) == 0 {
		return s, nil
	}
	return s, fault.New(fault.Invalid, "schedules: %s", errors.Join(problems...))
}

func (s *Set) add(d Definition, from string, err error, problems []error) []error {
	if err == nil && !regexp.MustCompile(idForm).MatchString(d.ID) {
		err = errors.New("an id is 1 to 48 lower-case letters, digits, - and _, and begins with one of the first two")
	}
	if _, taken := s.Get(d.ID); err == nil && taken {
		err = fmt.Errorf("the id %q is taken", d.ID)
	}
	if err != nil {
		return append(problems, fmt.Errorf("%s: %w", from, err))
	}
	s.all = append(s.all, d)
	return problems
}

// All gives the schedules.
func (s Set) All() []Definition { return slices.Clone(s.all) }

// Get gives a schedule by its id.
func (s Set) Get(id string) (Definition, bool) {
	i := slices.IndexFunc(s.all, func(d Definition) bool { return d.ID == id })
	if i < 0 {
		return Definition{}, false
	}
	return s.all[i], true
}

// markdown lists the Markdown files but README.md, in folders below too: none of them is to be passed over without a word.
func markdown(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.EqualFold(path.Ext(name), ".md") && path.Base(name) != "README.md" {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func readFile(files fs.FS, name string) (Definition, error) {
	switch {
	case strings.Contains(name, "/"):
		return Definition{}, fault.New(fault.Invalid, "schedules lie at the top of their folder")
	case !strings.HasSuffix(name, ".md"):
		return Definition{}, fault.New(fault.Invalid, "the name of a schedule ends in .md")
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return Definition{}, err
	}
	return ParseFile(strings.TrimSuffix(path.Base(name), ".md"), string(data))
}

// ParseFile reads a schedule written as Markdown: lines with cron, and timezone and description if need be, between two lines of ---,
// then the prompt. Faults: Invalid.
func ParseFile(id, text string) (Definition, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	head, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
	if !ok || !strings.HasPrefix(text, "---\n") || body != "" && body[0] != '\n' {
		return Definition{}, fault.New(fault.Invalid, `it must begin with a line of ---, a line like cron: "0 9 * * 1-5", and a line of ---`)
	}
	d := Definition{ID: id, Prompt: strings.TrimSpace(body)}
	if err := d.readHead(head); err != nil {
		return Definition{}, err
	}
	switch {
	case d.Expression == "":
		return Definition{}, fault.New(fault.Invalid, "cron is missing")
	case d.Prompt == "":
		return Definition{}, fault.New(fault.Invalid, "there is no prompt below the second line of ---")
	case len(d.Prompt) > contract.MaxMessageBytes:
		return Definition{}, fault.New(fault.Invalid, "the prompt has %d bytes, the limit is %d", len(d.Prompt), contract.MaxMessageBytes)
	}
	return d, d.parse()
}

// readHead reads lines of key: value, each key once.
func (d *Definition) readHead(head string) error {
	into := map[string]*string{"cron": &d.Expression, "timezone": &d.TimeZone, "description": &d.Description}
	for _, line := range strings.Split(head, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		field := into[strings.TrimSpace(name)]
		switch {
		case !ok || field == nil:
			return fault.New(fault.Invalid, "%q: cron, timezone and description may stand here", clip(line))
		case *field != "":
			return fault.New(fault.Invalid, "%s stands here twice", strings.TrimSpace(name))
		}
		*field = unquote(value)
	}
	return nil
}

// unquote takes quotes or a comment away.
func unquote(value string) string {
	value = strings.TrimSpace(value)
	for _, quote := range []string{`"`, `'`} {
		if rest, ok := strings.CutPrefix(value, quote); ok {
			if inner, after, ok := strings.Cut(rest, quote); ok && (strings.TrimSpace(after) == "" || strings.HasPrefix(strings.TrimSpace(after), "#")) {
				return strings.TrimSpace(inner)
			}
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

func (d *Definition) parse() error {
	if _, err := Zone(d.TimeZone); err != nil {
		return err
	}
	var err error
	d.Cron, err = ParseCron(d.Expression)
	return err
}
