package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

var (
	filters = regexp.MustCompile(`(?s)FilterPattern: '([^']*)'\s+MetricTransformations:\s+- \{[^\n]*MetricName: (\w+), MetricValue: ([^,]+),`)
	named   = regexp.MustCompile(`\$\.(\w+)`)
	spoken  = regexp.MustCompile(`\$\.msg = "([^"]+)"`)
)

// TestWhatIsCounted: the template counts lines of the log of run-turn. Each of its filters names a message and fields that a turn with a
// tool call writes, or one whose session is deleted meanwhile, so that no metric stays empty because a word of the log has changed.
func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	s.connect("ada", "").ask(id, "What time is it?")
	gone, p := uuid.NewString(), s.connect("ada", "")
	p.say(gone, "say 2000 words slow 20 ms")
	p.untilText(0)
	s.as("ada", "DELETE", "/agent/sessions/"+gone, "").is(t, 204)
	template, err := os.ReadFile(filepath.Join(project, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := filters.FindAllStringSubmatch(string(template), -1)
	if n := strings.Count(string(template), "AWS::Logs::MetricFilter"); n == 0 || len(all) != n {
		t.Fatalf("%d of %d filters are understood", len(all), n)
	}
	for _, f := range all {
		pattern, metric, value := f[1], f[2], f[3]
		said, of := spoken.FindStringSubmatch(pattern)[1], id
		if said == "session lost" {
			of = gone
		}
		line := s.logged(said, of)
		for _, field := range named.FindAllStringSubmatch(pattern+" "+value, -1) {
			if _, ok := line[field[1]]; !ok {
				t.Errorf("%s: %s names %q, and the line is %v", metric, pattern, field[1], line)
			}
		}
	}
}

// logged waits for a line about a session with a message, and gives its fields.
func (s stack) logged(message, session string) map[string]any {
	s.t.Helper()
	var line map[string]any
	eventually(s.t, "the line "+message, func() bool {
		for _, text := range s.log.lines(`"msg":"`+message+`"`, session) {
			if json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &line) == nil {
				return true
			}
		}
		return false
	})
	return line
}
