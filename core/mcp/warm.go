package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// The defaults of Warm.
const (
	DefaultKeep    = 8
	DefaultKeepFor = 10 * time.Minute
)

// Warm lends servers to turns and keeps them connected for the next turn of the same session. They are never lent to another
// session, nor with another spec: headers may carry a user's identity. It is safe for concurrent use.
type Warm struct {
	Dialer  Dialer
	Keep    int              // sessions whose servers stay connected; default DefaultKeep, negative: none
	KeepFor time.Duration    // since they were connected, and their tools listed; default DefaultKeepFor
	Now     func() time.Time // default time.Now

	mu   sync.Mutex
	kept []kept              // the longest unused first
	slow map[place]time.Time // until when a server rests
}

// kept are servers that wait for the next turn.
type kept struct {
	session string
	specs   [sha256.Size]byte
	servers *Servers
	since   time.Time
}

// Lend gives the tools of a session's servers, what the model has to be told about those it has to do without, and what gives
// the servers back; call that exactly once, when no tool runs any more. Without servers it gives nothing and costs nothing. It
// is for one turn at a time. Faults: as Dialer.Connect.
func (w *Warm) Lend(ctx context.Context, sessionID string, specs map[string]contract.MCPServer) (tools []tool.Tool, note string, giveBack func(), err error) {
	if len(specs) == 0 {
		return nil, "", func() {}, nil
	}
	text, err := json.Marshal(specs)
	if err != nil {
		return nil, "", nil, fault.Wrap(fault.Invalid, err, "the MCP servers of session %s", sessionID)
	}
	k := kept{session: sessionID, specs: sha256.Sum256(text)}
	if !w.take(&k) {
		k.since = w.now()
		ask, resting := w.rested(sessionID, specs)
		if k.servers, err = w.Dialer.Connect(ctx, ask); err != nil {
			return nil, "", nil, err
		}
		w.remember(sessionID, specs, k.servers.missing)
		k.servers.missing = append(k.servers.missing, resting...)
	}
	return k.servers.Tools(), k.servers.Note(), func() { w.giveBack(k) }, nil
}

func (w *Warm) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

// take looks for servers of the session that are still good, and ends those whose time is over.
func (w *Warm) take(k *kept) (found bool) {
	life := w.KeepFor
	if life == 0 {
		life = DefaultKeepFor
	}
	now := w.now()
	w.mu.Lock()
	var over, rest []kept
	for _, old := range w.kept {
		switch {
		case now.Sub(old.since) >= life, old.session == k.session && old.specs != k.specs, !old.servers.keepable():
			over = append(over, old)
		case !found && old.session == k.session:
			*k, found = old, true
		default:
			rest = append(rest, old)
		}
	}
	w.kept = rest
	w.mu.Unlock()
	_ = closeAll(over) // whether their servers took note or not
	return found
}

func (w *Warm) giveBack(k kept) {
	limit := w.Keep
	if limit == 0 {
		limit = DefaultKeep
	}
	over := []kept{k}
	if k.servers.keepable() && limit > 0 {
		w.mu.Lock()
		w.kept = append(w.kept, k)
		n := max(0, len(w.kept)-limit)
		over = w.kept[:n:n]
		w.kept = w.kept[n:]
		w.mu.Unlock()
	}
	_ = closeAll(over)
}

// Close ends all connections that are kept. Those that are lent end when they are given back and their time is over.
func (w *Warm) Close() error {
	w.mu.Lock()
	all := w.kept
	w.kept = nil
	w.mu.Unlock()
	return closeAll(all)
}

func closeAll(all []kept) error {
	errs := make([]error, len(all))
	var done sync.WaitGroup
	for i, k := range all {
		done.Go(func() { errs[i] = k.servers.Close() })
	}
	done.Wait()
	return errors.Join(errs...)
}

// keepable reports whether a later turn may use the servers: one that is missing, or whose tools have changed, is to be asked again
// then, and the stream of an old transport does not outlive a pause of the process.
func (s *Servers) keepable() bool {
	for _, l := range s.links {
		if !l.kept() {
			return false
		}
	}
	return len(s.missing) == 0
}
