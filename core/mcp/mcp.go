// Package mcp lets a session use the tools of external MCP servers: it connects to them over HTTP, lists their tools, gives
// each a name and a schema that a model service takes, and calls them.
//
// A server is asked only at its own origin, which the host must allow, and gets the headers of its spec and nothing else of the
// host. Whatever a server does, it costs a tool result with an error, or the server is missing for a turn; it never breaks a
// turn, except that one which cannot be connected fails it unless its spec says continueOnError. The package starts no programs.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// The defaults of a Dialer.
const (
	DefaultConnectTimeout = 10 * time.Second
	DefaultCallTimeout    = time.Minute
	DefaultMaxAnswer      = 8 << 20 // bytes
)

// MaxTools is how many tools the servers of one session may have together, MaxDescribed how many bytes their descriptions and schemas.
// Those beyond are left out: a model reads them all in every step.
const (
	MaxTools     = 512
	MaxDescribed = 256 << 10
)

// Dialer connects to servers. The zero value is ready: it allows the hosts of the environment's MCP_ALLOWED_HOSTS, which are none
// if it is not set. It is safe for concurrent use.
type Dialer struct {
	AllowedHosts   contract.MCPHosts           // nil: MCP_ALLOWED_HOSTS, comma-separated
	LookupEnv      func(string) (string, bool) // the variables that headers may name; nil: os.LookupEnv
	Transport      http.RoundTripper           // nil: one that dials public addresses only, see transport
	ConnectTimeout time.Duration               // for connecting to a server and listing its tools; default DefaultConnectTimeout
	CallTimeout    time.Duration               // of one call with all its repetitions; default DefaultCallTimeout
	MaxAnswer      int64                       // bytes of one answer that are read; default DefaultMaxAnswer
	Log            *slog.Logger                // nil: discard
}

// Servers is a set of connected servers. Its tools are safe for concurrent use. Close it when no call runs any more.
type Servers struct {
	links   []*link
	tools   []tool.Tool
	missing []Missing
	leftOut int // tools that are not offered
	idle    func()
}

// Missing is a server that cannot be used, and why, in words that hold nothing the server said.
type Missing struct {
	Label, Reason string
}

// Connect connects to all servers that are not disabled, at the same time, and lists their tools. A server that fails is Missing
// if its spec says continueOnError; otherwise all are closed and the error names it. Faults: Invalid (a spec that is not allowed or
// a header that names a variable the host does not have), Unavailable (reason "mcp_unavailable").
func (d Dialer) Connect(ctx context.Context, specs map[string]contract.MCPServer) (*Servers, error) {
	d = d.filled()
	labels := slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(l string) bool { return specs[l].Disabled })
	if len(labels) > contract.MaxMCPServers {
		return nil, fault.New(fault.Invalid, "mcpServers: %d servers, the limit is %d", len(labels), contract.MaxMCPServers)
	}
	transport, idle := d.transport()
	d.Transport = transport
	began := time.Now()
	links, errs := make([]*link, len(labels)), make([]error, len(labels))
	var all sync.WaitGroup
	for i, label := range labels {
		all.Go(func() { links[i], errs[i] = d.connect(ctx, label, specs[label]) })
	}
	all.Wait()
	s := &Servers{idle: idle}
	fatal := context.Cause(ctx) // the turn's own reason to stop, if there is one
	for i, label := range labels {
		if errs[i] == nil {
			s.links = append(s.links, links[i])
			continue
		}
		d.Log.WarnContext(ctx, "MCP server not connected", "server", label, "reason", fault.Public(errs[i]))
		s.missing = append(s.missing, Missing{label, fault.Public(errs[i])})
		if !specs[label].ContinueOnError && fatal == nil {
			fatal = fmt.Errorf("connect MCP server %s: %w", label, named(label, errs[i]))
		}
	}
	if fatal != nil {
		return nil, errors.Join(fatal, s.Close())
	}
	s.offer(d)
	if len(s.links) > 0 {
		d.Log.InfoContext(ctx, "MCP servers connected", "servers", len(s.links), "tools", len(s.tools), "ms", time.Since(began).Milliseconds())
	}
	return s, nil
}

// named puts the server's label into what a caller may read.
func named(label string, err error) error {
	return fault.New(fault.CodeOf(err), "MCP server %s: %s", label, fault.Public(err)).Because("mcp_unavailable")
}

func (d Dialer) filled() Dialer {
	if d.AllowedHosts == nil {
		for entry := range strings.SplitSeq(os.Getenv("MCP_ALLOWED_HOSTS"), ",") {
			if entry = strings.TrimSpace(entry); entry != "" {
				d.AllowedHosts = append(d.AllowedHosts, entry)
			}
		}
	}
	if d.LookupEnv == nil {
		d.LookupEnv = os.LookupEnv
	}
	if d.ConnectTimeout <= 0 {
		d.ConnectTimeout = DefaultConnectTimeout
	}
	if d.CallTimeout <= 0 {
		d.CallTimeout = DefaultCallTimeout
	}
	if d.MaxAnswer <= 0 {
		d.MaxAnswer = DefaultMaxAnswer
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return d
}

// offer makes the tools of all servers, in the order of the labels.
func (s *Servers) offer(d Dialer) {
	taken, described := map[string]bool{}, 0
	for _, l := range s.links {
		_, listed := l.current()
		for _, t := range listed {
			r, err := newRemote(l, t)
			switch {
			case err == nil && taken[r.spec.Name]:
				err = errors.New("another tool has its name")
			case err == nil && len(s.tools) == MaxTools:
				err = fmt.Errorf("there are more than %d tools", MaxTools)
			case err == nil && described+r.size() > MaxDescribed:
				err = fmt.Errorf("the descriptions of all tools are larger than %d bytes", MaxDescribed)
			}
			if err != nil {
				s.leftOut++
				d.Log.Warn("MCP tool left out", "server", l.label, "tool", tool.Cut(t.Name, 80), "reason", err.Error())
				continue
			}
			taken[r.spec.Name] = true
			described += r.size()
			s.tools = append(s.tools, tool.Timeout(tool.RetryReads(r, 0, 0), d.CallTimeout))
		}
	}
}

// Tools gives the tools of all connected servers, with names that are the same in every turn, whichever other servers there are.
func (s *Servers) Tools() []tool.Tool { return s.tools }

// Missing gives the servers that could not be connected.
func (s *Servers) Missing() []Missing { return s.missing }

// Note tells the model which servers and tools it has to do without; "" if there are none.
func (s *Servers) Note() string {
	var b strings.Builder
	for _, m := range s.missing {
		fmt.Fprintf(&b, "The tools of the MCP server %q are not available now: %s.\n", m.Label, m.Reason)
	}
	if s.leftOut > 0 {
		fmt.Fprintf(&b, "Tools of the MCP servers that cannot be used: %d.\n", s.leftOut)
	}
	return strings.TrimSpace(b.String())
}

// Close ends all connections. It waits 2 s at most for servers to take note. Idempotent.
func (s *Servers) Close() error {
	var all sync.WaitGroup
	for _, l := range s.links {
		all.Go(l.close)
	}
	all.Wait()
	s.idle()
	return nil
}
