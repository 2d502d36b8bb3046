package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// Functions that work on what was accepted. Nobody waits for their answers, so nobody is told when they cannot run.
var (
	turnFunctions = []string{"run-turn"}
	taskFunctions = []string{"run-agent-task", "run-turn"}
)

// vigil gives a context that also ends when one of functions does not build at the steadfast dev at url: whoever waits for them would
// wait in vain. context.Cause then says so; what is being built, which takes a while, is told once. No url is another stack, which is not
// asked. done must be called.
func (s *surroundings) vigil(ctx context.Context, url string, functions []string) (kept context.Context, done context.CancelFunc) {
	kept, end := context.WithCancelCause(ctx)
	done = func() { end(nil) }
	if url == "" {
		return kept, done
	}
	go func() {
		tick := time.NewTicker(2 * s.poll)
		defer tick.Stop()
		for told := false; ; {
			select {
			case <-kept.Done():
				return
			case <-tick.C:
			}
			found, err := client.DevBuilds(kept, url)
			if err != nil {
				continue // whoever waits finds out
			}
			if err := broken(found, functions); err != nil {
				end(err)
				return
			}
			if len(found.Building) > 0 && !told {
				told = true
				s.note("[building %s]", few(found.Building))
			}
		}
	}()
	return kept, done
}

// devOf is where the steadfast dev is that cl talks to; none for another stack.
func devOf(cl *client.Client) string {
	if cl.Renew == nil {
		return ""
	}
	return cl.URL
}

// broken says which of functions does not build; nil is any.
func broken(found client.Builds, functions []string) error {
	for _, name := range slices.Sorted(maps.Keys(found.Broken)) {
		switch {
		case functions == nil: // somebody asked it for an answer
			return &client.Error{Code: "unavailable", Message: fmt.Sprintf("%s does not build:\n%s", name, indentLines(found.Broken[name]))}
		case slices.Contains(functions, name):
			return &client.Error{Code: "unavailable", Message: fmt.Sprintf("%s does not build; what was sent to it waits until it does:\n%s",
				name, indentLines(found.Broken[name]))}
		}
	}
	return nil
}

// outOf is what ended a wait: err, or what its vigil has seen.
func outOf(kept context.Context, err error) error {
	var seen *client.Error
	if err != nil && errors.As(context.Cause(kept), &seen) {
		return seen
	}
	return err
}

// few are the names, or how many there are.
func few(functions []string) string {
	if len(functions) > 3 {
		return fmt.Sprintf("%d functions", len(functions))
	}
	return strings.Join(functions, ", ")
}

func indentLines(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
