package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
)

// permission is a line of the report for programs. Times is how often it was used, or refused.
type permission struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Times    int    `json:"times"`
}

// functionPermissions is what one function may do and did.
type functionPermissions struct {
	Function  string       `json:"function"`
	Calls     int          `json:"calls"`
	Used      []permission `json:"used"`
	NeverUsed []permission `json:"neverUsed"`
	Denied    []permission `json:"denied"`
}

// permissions prints what was granted and used, granted and never used, and denied.
func (s *surroundings) permissions(r iam.Report) error {
	if !s.json {
		s.print(nil, "\n%s", strings.TrimSpace(r.String()))
		return nil
	}
	all := []functionPermissions{}
	for _, f := range r.Functions {
		one := functionPermissions{Function: f.Function, Calls: f.Calls, Used: grants(f.Used), NeverUsed: grants(f.Unused), Denied: []permission{}}
		for _, d := range f.Denied {
			one.Denied = append(one.Denied, permission{d.Action, d.Resource, d.Times})
		}
		all = append(all, one)
	}
	raw, err := json.Marshal(map[string]any{"functions": all})
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	s.print(raw, "")
	return nil
}

func grants(of []iam.Grant) []permission {
	out := []permission{}
	for _, g := range of {
		out = append(out, permission{g.Action, g.Resource, g.Uses})
	}
	return out
}
