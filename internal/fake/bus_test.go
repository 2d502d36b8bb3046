package fake_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

func publish(t *testing.T, b *fake.Bus, entries ...ebtypes.PutEventsRequestEntry) (*eventbridge.PutEventsOutput, error) {
	t.Helper()
	return b.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries})
}

func TestBusEntries(t *testing.T) {
	from := func(source string) ebtypes.PutEventsRequestEntry {
		e := entry("A", "{}")
		e.Source = &source
		return e
	}
	tests := []struct {
		name  string
		entry ebtypes.PutEventsRequestEntry
		want  string
	}{
		{"fine", entry("A", `{"a":1}`), ""},
		{"detail is no object", entry("A", `[1]`), "MalformedDetail"},
		{"detail is null", entry("A", `null`), "MalformedDetail"},
		{"detail is no JSON", entry("A", `{`), "MalformedDetail"},
		{"128 characters", entry(strings.Repeat("é", 128), `{}`), ""},
		{"129 characters", entry(strings.Repeat("é", 129), `{}`), "InvalidArgument"},
		{"no source", from(""), "InvalidArgument"},
		{"source of AWS", from("aws.ec2"), "NotAuthorizedForSourceException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := publish(t, &fake.Bus{}, entry("First", "{}"), tt.entry)
			if err != nil {
				t.Fatal(err)
			}
			if got := aws.ToString(out.Entries[1].ErrorCode); got != tt.want || out.Entries[0].EventId == nil {
				t.Errorf("entry = %q, want %q; the first must be accepted", got, tt.want)
			}
			if failed := tt.want != ""; failed != (out.FailedEntryCount == 1) {
				t.Errorf("FailedEntryCount = %d", out.FailedEntryCount)
			}
		})
	}
}

func TestBusCalls(t *testing.T) {
	eleven := make([]ebtypes.PutEventsRequestEntry, 11)
	for i := range eleven {
		eleven[i] = entry("A", "{}")
	}
	large := `{"x":"` + strings.Repeat("x", 600*1024) + `"}`
	for name, entries := range map[string][]ebtypes.PutEventsRequestEntry{"none": nil, "eleven": eleven, "over 1 MB": {entry("A", large), entry("A", large)}} {
		if _, err := publish(t, &fake.Bus{}, entries...); codeOf(err) != "ValidationException" {
			t.Errorf("%s = %v, want ValidationException", name, err)
		}
	}
}

func TestP17BusFaults(t *testing.T) {
	throttled := 0
	b := &fake.Bus{Names: []string{"default"}, FailEntry: func(e fake.Event) string {
		if e.DetailType == "Throttled" && throttled == 0 {
			throttled++
			return "ThrottlingException"
		}
		return ""
	}}
	out, err := publish(t, b, entry("A", "{}"), entry("Throttled", "{}"))
	if err != nil || out.FailedEntryCount != 1 || aws.ToString(out.Entries[1].ErrorCode) != "ThrottlingException" {
		t.Fatalf("PutEvents = %+v, %v, want entry 1 throttled", out, err)
	}
	if out, _ = publish(t, b, entry("Throttled", "{}")); out.FailedEntryCount != 0 {
		t.Errorf("again = %+v, want success", out)
	}
	elsewhere := entry("B", "{}")
	elsewhere.EventBusName = aws.String("typo")
	if out, _ = publish(t, b, elsewhere); out.FailedEntryCount != 0 || len(b.Lost()) != 1 || len(b.Of("B")) != 0 {
		t.Errorf("an unknown bus = %+v, lost %v, want success and nothing delivered", out, b.Lost())
	}
}

func TestDrain(t *testing.T) {
	w := &fake.World{}
	b := &fake.Bus{
		World:     w,
		Duplicate: func(e fake.Event) int { return map[string]int{"Twice": 1}[e.DetailType] },
		Drop:      func(e fake.Event) bool { return e.DetailType == "Dropped" },
		Order:     func(x, y fake.Event) int { return strings.Compare(y.DetailType, x.DetailType) },
	}
	if _, err := publish(t, b, entry("Once", "{}"), entry("Twice", "{}"), entry("Dropped", "{}"), entry("Fails", "{}")); err != nil {
		t.Fatal(err)
	}
	w.Disturb(fake.Disturbance{Name: "bus.PutEvents", Worker: "delivery-1", Mode: fake.KillAfter})
	var seen []string
	count, err := b.Drain(t.Context(), func(ctx context.Context, e fake.Event) error {
		seen = append(seen, fake.WorkerName(ctx)+" "+e.DetailType)
		switch e.DetailType {
		case "Twice":
			_, err := b.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{entry("Follows", "{}")}})
			return err
		case "Fails":
			return errors.New("no")
		}
		return nil
	})
	// The first delivery of Twice dies after it put its event, so it is delivered again, after its duplicate.
	want := []string{
		"delivery-1 Twice", "delivery-2 Twice", "delivery-3 Twice", "delivery-4 Once", "delivery-5 Follows",
		"delivery-6 Follows", "delivery-7 Follows", "delivery-8 Fails", "delivery-9 Fails", "delivery-10 Fails",
	}
	if diff := cmp.Diff(want, seen); diff != "" || err != nil || count != len(want) {
		t.Errorf("Drain = %d, %v; deliveries (-want +got):\n%s", count, err, diff)
	}
	if len(b.DeadLetters()) != 1 || len(b.Waiting()) != 0 {
		t.Errorf("dead letters = %v, waiting = %v", b.DeadLetters(), b.Waiting())
	}
}

func TestEventAsAFunctionGetsIt(t *testing.T) {
	b := &fake.Bus{}
	if _, err := publish(t, b, entry("A", `{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	want := `{"version":"0","id":"00000000-0000-4000-8000-000000000001","detail-type":"A","source":"toy","account":"000000000000",` +
		`"time":"2026-01-01T00:00:00Z","region":"us-east-1","resources":[],"detail":{"a":1}}`
	if got := string(b.Events()[0].JSON()); got != want {
		t.Errorf("JSON() = %s, want %s", got, want)
	}
}
