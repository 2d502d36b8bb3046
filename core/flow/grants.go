package flow

import "strings"

// Grants say which verified users may start tasks as which systems: SYSTEM_TASK_PRINCIPALS.
type Grants []Grant

// Grant is one sub:systemId, where systemId may be "*".
type Grant struct{ Sub, System string }

// ParseGrants reads comma-separated grants. The last colon splits; a malformed grant grants nothing.
func ParseGrants(text string) Grants {
	var grants Grants
	for _, one := range strings.Split(text, ",") {
		one = strings.TrimSpace(one)
		i := strings.LastIndexByte(one, ':')
		if i > 0 && i < len(one)-1 {
			grants = append(grants, Grant{one[:i], one[i+1:]})
		}
	}
	return grants
}

// Allow reports whether sub may act as system. An empty sub or system never may.
func (g Grants) Allow(sub, system string) bool {
	for _, one := range g {
		if sub != "" && system != "" && one.Sub == sub && (one.System == "*" || one.System == system) {
			return true
		}
	}
	return false
}
