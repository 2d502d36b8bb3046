package mcp

import (
	"maps"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// tooSlow is why a server is missing that let its time pass.
const tooSlow = "it did not answer in time"

// RestSlow is for how long a session's server is not asked again that did not answer in time and may be missing: else it would cost
// each turn the time in which to connect. Other sessions ask it: their headers may be others.
const RestSlow = time.Minute

// place is a server of a session.
type place struct{ session, url string }

// maxSlow bounds how many are remembered.
const maxSlow = 1000

// rested gives the specs without those of servers that rest, and these as missing.
func (w *Warm) rested(session string, specs map[string]contract.MCPServer) (ask map[string]contract.MCPServer, resting []Missing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ask = maps.Clone(specs)
	for _, label := range slices.Sorted(maps.Keys(specs)) {
		spec := specs[label]
		if until, slow := w.slow[place{session, spec.URL}]; slow && spec.ContinueOnError && !spec.Disabled && w.now().Before(until) {
			resting = append(resting, Missing{label, tooSlow})
			delete(ask, label)
		}
	}
	return ask, resting
}

// remember notes which servers were too slow.
func (w *Warm) remember(session string, specs map[string]contract.MCPServer, missing []Missing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range missing {
		if m.Reason != tooSlow {
			continue
		}
		if w.slow == nil || len(w.slow) >= maxSlow {
			w.slow = map[place]time.Time{}
		}
		w.slow[place{session, specs[m.Label].URL}] = w.now().Add(RestSlow)
	}
}
