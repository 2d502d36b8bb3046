package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

func nothing(context.Context, schedule.Run) error { return nil }

func TestParseFile(t *testing.T) {
	tests := []struct{ name, text, want, why string }{
		{"as documented", "---\ncron: \"0 9 * * 1-5\"\n---\nPull open incidents.\n", "0 9 * * 1-5||Pull open incidents.", ""},
		{"single quotes", "---\ncron: '0 9 * * *'\n---\nGo.", "0 9 * * *||Go.", ""},
		{"no quotes", "---\ncron: */5 * * * *  # often\n---\n\nGo.\n\nOn.\n", "*/5 * * * *||Go.\n\nOn.", ""},
		{"a zone, a comment, a description", "---\n# at nine\ncron: @daily\ntimezone: Europe/Berlin\ndescription: says: hello\n---\nGo.", "@daily|Europe/Berlin|Go.", ""},
		{"from Windows", "\ufeff---\r\ncron: \"@daily\" # x\r\n---\r\nGo.\r\n", "@daily||Go.", ""},
		{"a rule in the body", "---\ncron: \"@daily\"\n---\nGo.\n---\nOn.", "@daily||Go.\n---\nOn.", ""},
		{"no head", "Go.", "", "must begin with"},
		{"no end of the head", "---\ncron: \"@daily\"\nGo.", "", "must begin with"},
		{"a longer line", "---\ncron: \"@daily\"\n----\nGo.", "", "must begin with"},
		{"no cron", "---\ndescription: x\n---\nGo.", "", "cron is missing"},
		{"a bad cron", "---\ncron: \"0 9 * *\"\n---\nGo.", "", "five fields"},
		{"a date that never comes", "---\ncron: \"0 0 30 2 *\"\n---\nGo.", "", "no month"},
		{"a bad zone", "---\ncron: \"@daily\"\ntimezone: Mars/Base\n---\nGo.", "", "timezone"},
		{"no body", "---\ncron: \"@daily\"\n---\n\n", "", "no prompt"},
		{"a key that is unknown", "---\ncron: \"@daily\"\nmodel: x\n---\nGo.", "", "may stand here"},
		{"a key twice", "---\ncron: \"@daily\"\ncron: \"@weekly\"\n---\nGo.", "", "twice"},
		{"too long", "---\ncron: \"@daily\"\n---\n" + strings.Repeat("x", contract.MaxMessageBytes+1), "", "the limit is"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d, err := schedule.ParseFile("a", tc.text)
			if tc.why != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.why) {
					t.Errorf("ParseFile = %v, want Invalid with %q", err, tc.why)
				}
				return
			}
			if got := d.Expression + "|" + d.TimeZone + "|" + d.Prompt; err != nil || got != tc.want {
				t.Errorf("ParseFile = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestNewSet(t *testing.T) {
	files := fstest.MapFS{
		"heartbeat.md":   {Data: []byte("---\ncron: \"*/30 * * * *\"\n---\nBeat.")},
		"README.md":      {Data: []byte("How to.")},
		"schedules.go":   {Data: []byte("package schedules")},
		"deep/README.md": {Data: []byte("How to.")},
		"deep/notes.txt": {Data: []byte("not looked at")},
	}
	s, err := schedule.NewSet(files, schedule.Handler{ID: "alerts", Cron: "0 0 13 * 5", Run: nothing})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range s.All() {
		ids = append(ids, d.ID)
	}
	if diff := cmp.Diff([]string{"alerts", "heartbeat"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	alerts, _ := s.Get("alerts")
	want := map[string]string{"file.alerts": "cron(0 0 13 * ? *)", "file.alerts.2": "cron(0 0 ? * 6 *)"}
	if diff := cmp.Diff(want, alerts.Names()); diff != "" {
		t.Errorf("schedules of either day (-want +got):\n%s", diff)
	}
	from := time.Date(2026, 3, 12, 1, 0, 0, 0, time.UTC)
	if got := alerts.Next(from); !got.Equal(time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("Next = %s", got)
	}
	if _, ok := s.Get("README"); ok {
		t.Error("README.md became a schedule")
	}
}

// TestSetsThatAreWrong tell everything at once, and keep what is right.
func TestSetsThatAreWrong(t *testing.T) {
	good := []byte("---\ncron: \"@daily\"\n---\nGo.")
	s, err := schedule.NewSet(fstest.MapFS{
		"a.md": {Data: good}, "B.md": {Data: good}, "c.md": {Data: []byte("---\ncron: \"@noon\"\n---\nGo.")}, "d.md": {Data: []byte("---\ncron: \"@daily\"\n---\n")},
		"with.dot.md": {Data: good}, "deep/h.md": {Data: good}, "i.MD": {Data: good},
	}, schedule.Handler{ID: "a", Cron: "@daily", Run: nothing}, schedule.Handler{ID: "e", Cron: "@daily"}, schedule.Handler{ID: "f", Cron: "x", Run: nothing},
		schedule.Handler{ID: "g", Cron: "@daily", Run: nothing})
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("NewSet = %v, want Invalid", err)
	}
	for _, problem := range []string{"B.md: an id", "c.md: cron", "d.md: there is no prompt", "with.dot.md: an id", "deep/h.md: schedules lie at the top", "i.MD: the name", `handler a: the id "a" is taken`, "handler e: Run", "handler f: cron"} {
		if !strings.Contains(err.Error(), problem) {
			t.Errorf("the error does not tell %q:\n%v", problem, err)
		}
	}
	if all := s.All(); len(all) != 2 || all[0].ID != "a" || all[1].ID != "g" {
		t.Errorf("what is right: %v", all)
	}
}

// noted keeps what a run asks for.
type noted struct{ input string }

func (n *noted) Receive(context.Context, schedule.Channel, contract.Message) (contract.Delivery, error) {
	return contract.Delivery{}, nil
}

func (n *noted) CallTool(_ context.Context, _ string, input json.RawMessage) (json.RawMessage, error) {
	n.input = string(input)
	return input, nil
}

func TestCallToolEncodes(t *testing.T) {
	n := &noted{}
	r := schedule.Run{Hands: n}
	for want, input := range map[string]any{`{}`: nil, `{"value":0}`: map[string]any{"value": 0}} {
		if _, err := r.CallTool(t.Context(), "a", input); err != nil || n.input != want {
			t.Errorf("input %s, %v, want %s", n.input, err, want)
		}
	}
	if _, err := r.CallTool(t.Context(), "a", func() {}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an input that is no JSON = %v", err)
	}
}

func ExampleNewSet() {
	s, err := schedule.NewSet(fstest.MapFS{
		"standup.md": {Data: []byte("---\ncron: \"0 9 * * 1-5\"\n---\nSummarize what was merged since yesterday.\n")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	standup, _ := s.Get("standup")
	fmt.Println(standup.Prompt, standup.Names())
	// Output: Summarize what was merged since yesterday. map[file.standup:cron(0 9 ? * 2-6 *)]
}
