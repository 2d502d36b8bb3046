package evals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// check decides a mechanical assertion without a script.
func (a Assertion) check(out outputs) Result {
	r := Result{Text: a.Text, By: "check"}
	where := out.names()
	if a.File != "" {
		if _, there := out[a.File]; !there {
			r.Evidence = fmt.Sprintf("there is no file %s; there are: %s", a.File, strings.Join(where, ", "))
			return r
		}
		where = []string{a.File}
	}
	r.Passed = true
	for _, part := range []func([]string, outputs) (bool, string){a.contains, a.lacks, a.matches, a.isJSON} {
		ok, evidence := part(where, out)
		r.Passed = r.Passed && ok
		if evidence != "" {
			r.Evidence = strings.TrimPrefix(r.Evidence+"; "+evidence, "; ")
		}
	}
	if r.Evidence == "" {
		r.Evidence = fmt.Sprintf("%s is there, %d bytes", a.File, len(out[a.File]))
	}
	return r
}

func (a Assertion) contains(where []string, out outputs) (bool, string) {
	if a.Contains == "" {
		return true, ""
	}
	for _, name := range where {
		if strings.Contains(out[name], a.Contains) {
			return true, fmt.Sprintf("%s has %q", name, tool.Cut(a.Contains, 200))
		}
	}
	return false, fmt.Sprintf("%q is in none of: %s", tool.Cut(a.Contains, 200), strings.Join(where, ", "))
}

func (a Assertion) lacks(where []string, out outputs) (bool, string) {
	if a.Lacks == "" {
		return true, ""
	}
	for _, name := range where {
		if strings.Contains(out[name], a.Lacks) {
			return false, fmt.Sprintf("%s has %q", name, tool.Cut(a.Lacks, 200))
		}
	}
	return true, fmt.Sprintf("%q is in none of: %s", tool.Cut(a.Lacks, 200), strings.Join(where, ", "))
}

func (a Assertion) matches(where []string, out outputs) (bool, string) {
	if a.Matches == "" {
		return true, ""
	}
	pattern := regexp.MustCompile(a.Matches) // it was compiled when the cases were read
	for _, name := range where {
		if found := pattern.FindString(out[name]); found != "" || pattern.MatchString(out[name]) {
			return true, fmt.Sprintf("%s has %q", name, tool.Cut(found, 200))
		}
	}
	return false, fmt.Sprintf("nothing matches %s in: %s", a.Matches, strings.Join(where, ", "))
}

func (a Assertion) isJSON(_ []string, out outputs) (bool, string) {
	if !a.JSON {
		return true, ""
	}
	var value any
	if err := json.Unmarshal([]byte(out[a.File]), &value); err != nil {
		return false, fmt.Sprintf("%s is no JSON: %v", a.File, err)
	}
	return true, a.File + " is JSON"
}

// scriptTime is how long a script may take.
const scriptTime = time.Minute

// script decides an assertion by a script of the skill: it runs in the folder of the outputs, with that folder as its argument,
// and what it prints is the evidence. Faults: NotFound, Denied unless scripts may run, Unavailable if it cannot be run.
func (g Grader) script(ctx context.Context, a Assertion, dir string) (Result, error) {
	r := Result{Text: a.Text, By: "script"}
	if !g.Scripts {
		return r, fault.New(fault.Denied, "%q needs the script %s: allow it with --scripts", a.Text, a.Script)
	}
	if _, err := g.Subject.Read(a.Script); err != nil { // inside the skill's folder, and no link that leads out
		return r, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scriptTime, fault.New(fault.Unavailable, "%s took longer than %v", a.Script, scriptTime))
	defer cancel()
	full, err := filepath.Abs(dir)
	if err != nil {
		return r, fmt.Errorf("find %s: %w", dir, err)
	}
	var printed bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(g.Subject.Dir, filepath.FromSlash(a.Script)), full)
	command.Dir, command.Stdout, command.Stderr, command.WaitDelay = full, &printed, &printed, time.Second
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + full, "LANG=C.UTF-8"} // no credentials
	err = command.Run()
	r.Evidence = strings.TrimSpace(tool.Cut(strings.ToValidUTF8(printed.String(), "\uFFFD"), 2000))
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.As(err, &status):
		r.Evidence = strings.TrimSpace(fmt.Sprintf("%s (%s)", r.Evidence, status.ProcessState))
		return r, nil
	case err != nil:
		return r, fault.New(fault.Unavailable, "run %s: %v", a.Script, err)
	}
	r.Passed = true
	if r.Evidence == "" {
		r.Evidence = a.Script + " ended with status 0"
	}
	return r, nil
}
