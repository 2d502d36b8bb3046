package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
)

// ledger adds up what the functions of all clouds were granted and used.
type ledger struct {
	mu   sync.Mutex
	uses map[string]int // "function: action on resource" -> calls; 0: granted and never used
}

var books ledger

// add takes a cloud's report in. A call that was denied is an error: the template grants too little.
func (l *ledger) add(r iam.Report) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uses == nil {
		l.uses = map[string]int{}
	}
	var errs []error
	for _, f := range r.Functions {
		for _, g := range slices.Concat(f.Used, f.Unused) {
			l.uses[fmt.Sprintf("%s: %s on %s", f.Function, g.Action, g.Resource)] += g.Uses
		}
		for _, d := range f.Denied {
			errs = append(errs, fmt.Errorf("%s was denied %s on %s, %d times", f.Function, d.Action, d.Resource, d.Times))
		}
	}
	return errors.Join(errs...)
}

// close holds the template against what the whole suite has used: what is never used is not granted. It does nothing after
// a part of the suite. STEADFAST_IAM names a file for the whole book.
func (l *ledger) close(passed bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	var book []byte
	for _, grant := range slices.Sorted(maps.Keys(l.uses)) {
		book = fmt.Appendf(book, "%6d  %s\n", l.uses[grant], grant)
		if l.uses[grant] == 0 {
			errs = append(errs, fmt.Errorf("granted and never used: %s", grant))
		}
	}
	if path := os.Getenv("STEADFAST_IAM"); path != "" {
		errs = append(errs, os.WriteFile(path, book, 0o600))
	}
	if only := flag.Lookup("test.run").Value.String(); !passed || only != "" || flag.Lookup("test.skip").Value.String() != "" {
		return nil
	}
	return errors.Join(errs...)
}
