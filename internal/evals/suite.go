package evals

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// SuiteFile is where a skill's test cases are, relative to its folder.
const SuiteFile = "evals/evals.json"

// Suite are the test cases of a skill.
type Suite struct {
	SkillName string `json:"skill_name"`
	Cases     []Case `json:"evals"`
}

// Case is one test case.
type Case struct {
	ID             ID          `json:"id"`
	Name           string      `json:"name,omitempty"`
	Prompt         string      `json:"prompt"`
	ExpectedOutput string      `json:"expected_output"`
	Files          []string    `json:"files,omitempty"` // relative to the skill's folder
	Assertions     []Assertion `json:"assertions,omitempty"`
}

// ID is a number or a text.
type ID string

// UnmarshalJSON takes both.
func (id *ID) UnmarshalJSON(data []byte) error {
	var n json.Number
	if json.Unmarshal(data, &n) == nil && !bytes.HasPrefix(data, []byte(`"`)) {
		*id = ID(n.String())
		return nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	*id = ID(text)
	return err
}

// MarshalJSON writes a number as a number.
func (id ID) MarshalJSON() ([]byte, error) {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(id) {
		return []byte(id), nil
	}
	return json.Marshal(string(id))
}

// Assertion is one thing that has to be true of what a run put out. With none of the checks set, a model judges it.
type Assertion struct {
	Text string `json:"text"`

	Contains string `json:"contains,omitempty"` // this text is there
	Lacks    string `json:"lacks,omitempty"`    // this text is not there
	Matches  string `json:"matches,omitempty"`  // a regular expression in Go's syntax matches
	File     string `json:"file,omitempty"`     // this file was put out; with another check, only it is looked at
	JSON     bool   `json:"json,omitempty"`     // File is JSON
	Script   string `json:"script,omitempty"`   // this script, relative to the skill's folder, ends with status 0
}

// Mechanical reports whether the assertion needs no judge.
func (a Assertion) Mechanical() bool {
	return a.Contains != "" || a.Lacks != "" || a.Matches != "" || a.File != "" || a.Script != ""
}

// UnmarshalJSON takes a text, or an object whose text may be called description.
func (a *Assertion) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		*a = Assertion{}
		return json.Unmarshal(data, &a.Text)
	}
	type plain Assertion
	var in struct {
		plain
		Description string `json:"description"`
		Name        string `json:"name"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*a = Assertion(in.plain)
	for _, text := range []string{in.Description, in.Name} {
		if a.Text == "" {
			a.Text = text
		}
	}
	return nil
}

// MarshalJSON writes what a model judges as a text.
func (a Assertion) MarshalJSON() ([]byte, error) {
	type plain Assertion
	if !a.Mechanical() {
		return json.Marshal(a.Text)
	}
	return json.Marshal(plain(a))
}

// ParseSuite reads test cases: an object with evals, or a bare list of them. Assertions may be called expectations. Faults:
// Invalid, with everything that is wrong.
func ParseSuite(data []byte) (Suite, error) {
	type aliased struct {
		Case
		Expectations []Assertion `json:"expectations"`
	}
	var in struct {
		SkillName string    `json:"skill_name"`
		Evals     []aliased `json:"evals"`
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		err = json.Unmarshal(data, &in.Evals)
	} else {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return Suite{}, fault.New(fault.Invalid, "%s: %v", SuiteFile, err)
	}
	s := Suite{SkillName: in.SkillName}
	for _, c := range in.Evals {
		c.Assertions = append(c.Assertions, c.Expectations...)
		s.Cases = append(s.Cases, c.Case)
	}
	return s, s.check()
}

func (s Suite) check() error {
	var wrong []string
	say := func(n int, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("evals[%d]: ", n)+fmt.Sprintf(format, args...))
	}
	if len(s.Cases) == 0 {
		return fault.New(fault.Invalid, "%s: there are no evals", SuiteFile)
	}
	ids, dirs := map[ID]bool{}, map[string]bool{}
	for i, c := range s.Cases {
		if strings.TrimSpace(c.Prompt) == "" {
			say(i, "the prompt is missing")
		}
		if c.ID == "" || ids[c.ID] {
			say(i, "the id %q is missing or taken", string(c.ID))
		}
		if dirs[c.Dir()] {
			say(i, "the name of its folder, %s, is taken", c.Dir())
		}
		ids[c.ID], dirs[c.Dir()] = true, true
		for _, name := range c.Files {
			if !fs.ValidPath(name) || strings.Contains(name, `\`) {
				say(i, "%q is no path relative to the skill's folder", name)
			}
		}
		for j, a := range c.Assertions {
			if problem := a.problem(); problem != "" {
				say(i, "assertions[%d]: %s", j, problem)
			}
		}
	}
	if len(wrong) > 0 {
		return fault.New(fault.Invalid, "%s: %s", SuiteFile, strings.Join(wrong, "; "))
	}
	return nil
}

func (a Assertion) problem() string {
	switch _, err := regexp.Compile(a.Matches); {
	case strings.TrimSpace(a.Text) == "":
		return "the text is missing"
	case err != nil:
		return err.Error()
	case a.JSON && a.File == "":
		return "json needs a file"
	case a.File != "" && !fs.ValidPath(a.File), a.Script != "" && !fs.ValidPath(a.Script):
		return "the path must be relative, and stay inside"
	}
	return ""
}

// Dir is the name of the case's folder in an iteration: eval- and its name, or its id and the first words of the prompt.
func (c Case) Dir() string {
	if name := slug(c.Name, 60); name != "" {
		return "eval-" + name
	}
	words := strings.Fields(c.Prompt)
	return "eval-" + slug(string(c.ID)+" "+strings.Join(words[:min(len(words), 5)], " "), 60)
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes a text a name of at most max letters, digits and hyphens.
func slug(text string, max int) string {
	text = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
	return strings.TrimRight(text[:min(len(text), max)], "-")
}
