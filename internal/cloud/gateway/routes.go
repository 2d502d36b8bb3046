package gateway

import (
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// matched is a route of the HTTP API with what its path parameters stand for.
type matched struct {
	sam.HTTPRoute
	params map[string]string
	rank   string // of two that match, the smaller one is the more specific
}

// key is the route's key in events.
func (m matched) key() string {
	if m.Path == "$default" {
		return m.Path
	}
	return m.Method + " " + m.Path
}

// match picks the route that API Gateway would: fixed parts before parameters before {name+} before $default, and a
// method before ANY.
func match(routes []sam.HTTPRoute, method, path string) (matched, bool) {
	var best matched
	for _, r := range routes {
		if r.Method != method && r.Method != "ANY" {
			continue
		}
		m, ok := matchPath(r, path)
		if r.Method == "ANY" {
			m.rank += "~"
		}
		if ok && (best.rank == "" || m.rank < best.rank) {
			best = m
		}
	}
	return best, best.rank != ""
}

// matchPath holds path against one route. The rank has a letter for each part: f(ixed), p(arameter), q (greedy), z
// ($default).
func matchPath(r sam.HTTPRoute, path string) (matched, bool) {
	m := matched{HTTPRoute: r, params: map[string]string{}, rank: "/"}
	if r.Path == "$default" {
		m.rank = "z"
		return m, true
	}
	have := strings.Split(strings.Trim(path, "/"), "/")
	want := strings.Split(strings.Trim(r.Path, "/"), "/")
	for i, part := range want {
		name, isParam := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		greedy := strings.HasSuffix(name, "+")
		switch {
		case i >= len(have) || isParam && have[i] == "":
			return m, false
		case greedy:
			m.params[strings.TrimSuffix(name, "+")] = strings.Join(have[i:], "/")
			m.rank += "q"
			return m, true
		case isParam:
			m.params[name] = have[i]
			m.rank += "p"
		case part == have[i]:
			m.rank += "f"
		default:
			return m, false
		}
	}
	return m, len(have) == len(want)
}
