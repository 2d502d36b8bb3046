// Package iam is the local IAM: it tells which function makes an AWS call, and lets it through only if the function's
// own policies in the template grant it. It also keeps book of what was granted and used.
//
// A function is known by its access key id, "fn-" and its name; every other key is the developer, who may do anything.
// Signatures are not verified: this keeps honest programs honest, and keeps nobody out. Policies are the template's
// Allow statements with * and ?; there are no conditions, no denials and no resource policies.
package iam

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// KeyPrefix begins the access key id of a function.
const KeyPrefix = "fn-"

// Guard checks calls against the template. Safe for concurrent use.
type Guard struct {
	stack *sam.Stack
	log   *slog.Logger

	mu     sync.Mutex
	used   map[use]int
	denied map[use]int
}

// use is one action on one resource by one function.
type use struct{ function, action, resource string }

// New is a guard for the functions of the stack, which it only reads. Denied calls are logged; log may be nil.
func New(stack *sam.Stack, log *slog.Logger) *Guard {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Guard{stack: stack, log: log, used: map[use]int{}, denied: map[use]int{}}
}

// Denied is the error of a call that the function's policies do not grant.
type Denied struct{ Function, Action, Resource, Account string }

func (d *Denied) Error() string {
	return fmt.Sprintf("User: arn:aws:sts::%s:assumed-role/%s/%s is not authorized to perform: %s on resource: %s because no identity-based policy allows the %s action",
		d.Account, d.Function, d.Function, d.Action, d.Resource, d.Action)
}

// Caller is the function that signed the request; ok is false for the developer.
func Caller(r *http.Request) (function string, ok bool) {
	_, rest, found := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !found {
		return "", false
	}
	key, _, _ := strings.Cut(rest, "/")
	return strings.CutPrefix(key, KeyPrefix)
}

// Check returns a *Denied unless the function may do the action on the resource, and takes a note either way. A function
// that the template does not have may do nothing.
func (g *Guard) Check(function, action, resource string) error {
	u := use{function, action, resource}
	allowed := slices.ContainsFunc(g.grants(function), func(gr Grant) bool { return gr.covers(action, resource) })
	g.mu.Lock()
	defer g.mu.Unlock()
	if !allowed {
		g.denied[u]++
		g.log.Warn("a call is denied: the template does not grant it", "function", function, "action", action, "resource", resource)
		return &Denied{function, action, resource, g.stack.Account}
	}
	g.used[u]++
	return nil
}

// Grant is one action and one resource of an Allow statement, wildcards as they stand there.
type Grant struct {
	Action, Resource string
	Uses             int // calls that it covered
}

func (g Grant) covers(action, resource string) bool {
	return match(strings.ToLower(g.Action), strings.ToLower(action)) && match(g.Resource, resource)
}

func (g *Guard) grants(function string) []Grant {
	var out []Grant
	for _, f := range g.stack.Functions {
		if f.Name != function {
			continue
		}
		for _, s := range f.Policies {
			for _, a := range s.Actions {
				for _, r := range s.Resources {
					out = append(out, Grant{Action: a, Resource: r})
				}
			}
		}
	}
	return out
}

// match compares with IAM's wildcards: * for any characters, ? for one.
func match(pattern, s string) bool {
	star, from := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Report tells for each function what its policies grant and what of it was used.
type Report struct{ Functions []FunctionReport }

// FunctionReport is one function's part, sorted by action and resource.
type FunctionReport struct {
	Function string
	Calls    int
	Used     []Grant
	Unused   []Grant
	Denied   []Call
}

// Call is an action on a resource that was refused, and how often.
type Call struct {
	Action, Resource string
	Times            int
}

// Report is the state of the books.
func (g *Guard) Report() Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out Report
	for _, f := range g.stack.Functions {
		out.Functions = append(out.Functions, g.report(f.Name))
	}
	return out
}

func (g *Guard) report(function string) FunctionReport {
	r := FunctionReport{Function: function}
	for u, n := range g.used {
		if u.function == function {
			r.Calls += n
		}
	}
	for _, gr := range g.grants(function) {
		for u, n := range g.used {
			if u.function == function && gr.covers(u.action, u.resource) {
				gr.Uses += n
			}
		}
		if gr.Uses > 0 {
			r.Used = append(r.Used, gr)
		} else {
			r.Unused = append(r.Unused, gr)
		}
	}
	for u, n := range g.denied {
		if u.function == function {
			r.Denied = append(r.Denied, Call{u.action, u.resource, n})
		}
	}
	byName := func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), cmp.Compare(a.Resource, b.Resource))
	}
	slices.SortFunc(r.Used, byName)
	slices.SortFunc(r.Unused, byName)
	slices.SortFunc(r.Denied, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), cmp.Compare(a.Resource, b.Resource))
	})
	return r
}

// String is the report as text, one line for each grant.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Functions {
		fmt.Fprintf(&b, "%s: %d calls\n", f.Function, f.Calls)
		for _, c := range f.Denied {
			fmt.Fprintf(&b, "  denied %4d  %s on %s\n", c.Times, c.Action, c.Resource)
		}
		for _, gr := range f.Used {
			fmt.Fprintf(&b, "  used   %4d  %s on %s\n", gr.Uses, gr.Action, gr.Resource)
		}
		for _, gr := range f.Unused {
			fmt.Fprintf(&b, "  never used   %s on %s\n", gr.Action, gr.Resource)
		}
	}
	return b.String()
}
