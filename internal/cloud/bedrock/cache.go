package bedrock

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"sync"
	"time"
)

// What the service keeps of a prompt before a cache point, and for how long since it was last read.
const (
	minCached  = 1024 // tokens; a shorter prefix is not kept
	cachedTime = 5 * time.Minute
)

// cache remembers which prefixes were sent, as the service does to tell what was read from its cache and what was written to it. It
// keeps no text.
type cache struct {
	mu   sync.Mutex
	seen map[uint64]time.Time // when each was last read or written
}

// prefix is what stands before a cache point.
type prefix struct {
	sum    uint64
	tokens int
}

// split shares the input tokens of a request among what was read, what was written and the rest.
func (c *cache) split(req Request, input int, now time.Time) (rest, read, written int) {
	points := prefixes(req, input)
	if len(points) == 0 {
		return input, 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[uint64]time.Time{}
	}
	longest := 0
	for _, p := range points {
		longest = max(longest, p.tokens)
		if last, kept := c.seen[p.sum]; kept && now.Sub(last) < cachedTime {
			read = max(read, p.tokens)
		}
	}
	for _, p := range points {
		c.seen[p.sum] = now
	}
	for sum, last := range c.seen {
		if now.Sub(last) >= cachedTime {
			delete(c.seen, sum)
		}
	}
	return input - longest, read, longest - read
}

// prefixes are what stands before the cache points, in the service's order: tools, system text, messages. Each has its share of the
// input tokens; those that are too short to be kept are left out.
func prefixes(req Request, input int) []prefix {
	var all []prefix
	h, size := fnv.New64a(), 0
	pass := func(kind string, part any) {
		if kind == "cachePoint" {
			all = append(all, prefix{h.Sum64(), size})
			return
		}
		raw, _ := json.Marshal(part) // it came as JSON
		size += len(raw)
		_, _ = h.Write(raw) // a hash never fails
	}
	pass("model", req.ModelID)
	if req.Tools != nil {
		for _, t := range req.Tools.Tools {
			pass(t.Kind, t)
		}
	}
	for _, b := range req.System {
		pass(b.Kind, b)
	}
	for _, m := range req.Messages {
		pass("role", m.Role)
		for _, b := range m.Content {
			pass(b.Kind, b)
		}
	}
	for i := range all {
		all[i].tokens = all[i].tokens * input / size // were bytes
	}
	return slices.DeleteFunc(all, func(p prefix) bool { return p.tokens < minCached })
}
