package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
)

// TestAgencyTemplate: what it prints for the types that are hosted stands in template.yaml as it is.
func TestAgencyTemplate(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r := at(t)("")
	r.run(t, 0, "agency", "template")
	parts := strings.Split("\n"+strings.TrimSpace(r.out.String()), "\n# Under Events of ")[1:]
	if len(parts) != 4 {
		t.Fatalf("%d parts, want events, tasks, delays and check-ins:\n%s", len(parts), r.out.String())
	}
	for _, part := range parts {
		head, yaml, _ := strings.Cut(part, "\n")
		function := strings.TrimSuffix(head, ":")
		if _, of, ok := strings.Cut(string(raw), "\n  "+function+":\n"); !ok || !strings.Contains(of, yaml) {
			t.Errorf("%s in template.yaml lacks:\n%s", function, yaml)
		}
	}
	r = at(t)("")
	r.run(t, 0, "agency", "template", "reviewer", "--json")
	var w []agency.Wiring
	if err := json.Unmarshal([]byte(r.out.String()), &w); err != nil || len(w) != 1 || w[0].Source != "agency.reviewer" {
		t.Errorf("--json: %+v, %v", w, err)
	}
}

// TestTemplateOfOddNames: what YAML would read as something else stands in quotes.
func TestTemplateOfOddNames(t *testing.T) {
	got := templateOf(agency.Wiring{Name: "front desk", Source: "agency.front desk", DetailTypes: []string{"Order: Placed, Paid", "yes", "a # b", "50% off"}})
	for _, want := range []string{`        FrontDeskEvents:`, `detail-type: ["Order: Placed, Paid", "yes", "a # b", "50% off"]`, "source: [agency.front desk]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

const recorded = `{"id":"evt-1","detail-type":"Pull Request Opened","source":"code.reviews","time":"2026-01-05T15:00:00Z","detail":{"repo":"shop","pr":7,"reviewers":["ann","bob","gus"]}}

{"id":"evt-2","detail-type":"Pull Request Opened","source":"code.reviews","time":"2026-01-05T15:01:00Z","detail":{"repo":"shop","pr":8,"reviewers":["bob"]}}
{"detail-type":"Lunch","source":"code.reviews","time":"2026-01-05T15:02:00Z"}
`

// write makes a file with text.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAgencyReplay: recorded events meet the rules and gates in memory, each at its own time or all at one.
func TestAgencyReplay(t *testing.T) {
	rows := write(t, "rows.json", `{"colleagues":{"ann":{"name":"Ann"},"bob":{"name":"Bob","cooldownMinutes":15,"responseDelay":{"multiplier":0}}}}`)
	events := write(t, "events.ndjson", recorded)
	r := at(t)("")
	r.run(t, 0, "agency", "replay", events, "--type", "reviewer", "--rows", rows)
	same(t, "decisions", r.out.String(), `2026-01-05T15:00:00.000Z  evt-1  "Pull Request Opened"
  ann        review     requested in 24m15s
  bob        review     requested
  gus        review     unknown_agent
2026-01-05T15:01:00.000Z  evt-2  "Pull Request Opened"
  bob        review     cooldown
2026-01-05T15:02:00.000Z  line-4  "Lunch"
                        no_rule
`)
	r = at(t)("")
	r.run(t, 0, "agency", "replay", events, "--type", "reviewer", "--rows", rows, "--at", "2026-02-01T00:00:00Z", "--json")
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	same(t, "the last line", lines[len(lines)-1], `{"event":"line-4","detailType":"Lunch","at":"2026-02-01T00:00:00.000Z","decisions":[{"decision":"no_rule"}]}`)
}

func TestAgencyErrors(t *testing.T) {
	event := write(t, "event.json", `{"source":"code.reviews","detail":{}}`)
	lines := write(t, "lines.ndjson", "{}\n")
	rows := write(t, "rows.json", `{}`)
	timeless := write(t, "timeless.ndjson", `{"detail-type":"Lunch","source":"code.reviews"}`)
	other := write(t, "other.json", `{"colleges":{}}`)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no event", []string{"agency", "route", event}, "is no event: JSON with detail-type, source and detail is meant"},
		{"no file", []string{"agency", "route", event + "x"}, "no such file"},
		{"no events", []string{"agency", "replay", lines, "--type", "reviewer", "--rows", rows}, "line 1 is no event"},
		{"no time", []string{"agency", "replay", timeless, "--type", "reviewer", "--rows", rows}, "line 1 has no time: give --at"},
		{"other rows", []string{"agency", "replay", timeless, "--type", "reviewer", "--rows", other}, `unknown field "colleges"`},
		{"no such type", []string{"agency", "replay", lines, "--type", "painter", "--rows", rows}, `no agent type "painter" is hosted: there are ["reviewer"]`},
		{"no rows", []string{"agency", "replay", lines, "--type", "reviewer", "--rows", lines + "x"}, "no such file"},
		{"whose template", []string{"agency", "template", "painter"}, `no agent type "painter"`},
		{"which table", []string{"agency", "show", "reviewer/ann", "--url", "https://example.com"}, "which table? Give --table or TABLE_NAME"},
		{"nobody there", []string{"agency", "pause", "reviewer", "--url", "http://127.0.0.1:1"}, "nothing listens"},
		{"which agent", []string{"agency", "tasks", "ann", "--table", "t"}, `"ann" is not an agent: type/agent is meant`},
		{"what type", []string{"agency", "show", "painter/ann", "--table", "t"}, `no agent type "painter"`},
		{"whose pause", []string{"agency", "resume", "painter", "--table", "t"}, `no agent type "painter"`},
		{"whose check-in", []string{"agency", "check-in", "painter", "--table", "t"}, `no agent type "painter"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin := at(t)
			t.Setenv("TABLE_NAME", "")
			r := begin("")
			r.run(t, 1, tt.args...)
			if !strings.Contains(r.err.String(), tt.want) || r.out.String() != "" {
				t.Errorf("stderr %q, stdout %q, want %q", r.err.String(), r.out.String(), tt.want)
			}
		})
	}
}
