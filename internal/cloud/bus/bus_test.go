package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// functions takes events over, or refuses them as long as fail is set.
type functions struct {
	mu    sync.Mutex
	fail  error
	calls []string // function, trigger, payload
	tries int
}

func (f *functions) Enqueue(_ context.Context, function, trigger string, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if f.fail != nil {
		return f.fail
	}
	f.calls = append(f.calls, function+" | "+trigger+" | "+string(payload))
	return nil
}

func stack() *sam.Stack {
	return &sam.Stack{Region: "us-east-1", Account: "000000000000", Buses: []string{"default", "own"}, Rules: []sam.Rule{
		{Name: "Run", Bus: "default", Function: "run-turn", Pattern: []byte(`{"source":["app"],"detail-type":["Run"]}`), MaxRetries: 3, MaxAge: time.Hour, DeadLetters: "arn:aws:sqs:us-east-1:000000000000:dead"},
		{Name: "Other", Bus: "own", Function: "other", Pattern: []byte(`{"source":[{"exists":true}]}`), MaxRetries: 1, MaxAge: time.Hour},
	}}
}

func open(t *testing.T, cfg bus.Config) *bus.Bus {
	t.Helper()
	if cfg.Stack == nil {
		cfg.Stack = stack()
	}
	b, err := bus.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func client(t *testing.T, b *bus.Bus) *eventbridge.Client {
	srv := httptest.NewServer(b)
	t.Cleanup(srv.Close)
	return eventbridge.New(eventbridge.Options{Region: "us-east-1", BaseEndpoint: aws.String(srv.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("fn-test", "x", "")})
}

func entry(source, detailType, detail string) types.PutEventsRequestEntry {
	e := types.PutEventsRequestEntry{}
	for p, v := range map[**string]string{&e.Source: source, &e.DetailType: detailType, &e.Detail: detail} {
		if v != "" {
			*p = &v
		}
	}
	return e
}

func drain(t *testing.T, b *bus.Bus) {
	t.Helper()
	if err := b.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestEnvelope(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f})
	var heard []string
	defer b.Subscribe(func(e bus.Event) { heard = append(heard, e.ID) })()
	at := time.Unix(1_800_000_000, 500_000_000)
	e := entry("app", "Run", `{"b": 1.50, "a": "<&>"}`)
	e.Time, e.Resources = &at, []string{"arn:x"}
	out, err := client(t, b).PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{e}})
	if err != nil || out.FailedEntryCount != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	id := *out.Entries[0].EventId
	b.Close()
	want := `run-turn | rule Run | {"version":"0","id":"` + id + `","detail-type":"Run","source":"app","account":"000000000000","time":"2027-01-15T08:00:00Z",` +
		`"region":"us-east-1","resources":["arn:x"],"detail":{"b":1.50,"a":"<&>"}}`
	if diff := cmp.Diff([]string{want}, f.calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{id}, heard); diff != "" {
		t.Error(diff)
	}
}

func TestEntriesFailOneByOne(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f, FailPut: func(e bus.Event) (string, string) {
		if e.DetailType == "Fail" {
			return "InternalFailure", "try again"
		}
		return "", ""
	}})
	entries := []types.PutEventsRequestEntry{
		entry("app", "Run", `{}`), entry("app", "Run", `[1]`), entry("app", "Run", `{"a":`), entry("app", "Run", `"x"`), entry("aws.app", "Run", `{}`),
		entry("", "Run", `{}`), entry("app", "", `{}`), entry("app", "Run", ""), entry("app", strings.Repeat("ä", 129), `{}`), entry("app", "Fail", `{}`),
	}
	out, err := client(t, b).PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Entries {
		got = append(got, aws.ToString(r.ErrorCode))
		if (r.EventId == nil) == (r.ErrorCode == nil) {
			t.Errorf("entry has both id and error, or neither: %+v", r)
		}
	}
	want := []string{"", "MalformedDetail", "MalformedDetail", "MalformedDetail", "NotAuthorizedForSourceException", "InvalidArgument", "InvalidArgument", "InvalidArgument", "InvalidArgument", "InternalFailure"}
	if diff := cmp.Diff(want, got); diff != "" || out.FailedEntryCount != 9 {
		t.Errorf("%d failed\n%s", out.FailedEntryCount, diff)
	}
	b.Close()
	if len(f.calls) != 1 {
		t.Errorf("delivered %d, want the one good entry", len(f.calls))
	}
}

func TestCallsThatFailAsAWhole(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f})
	c := client(t, b)
	half := entry("app", "Run", `{"a":"`+strings.Repeat("x", 512<<10)+`"}`)
	deep := strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001)
	tests := []struct {
		name    string
		entries []types.PutEventsRequestEntry
		want    string
	}{
		{"eleven entries", make11(), "between 1 and 10"},
		{"none", []types.PutEventsRequestEntry{}, "between 1 and 10"},
		{"1 MB in all", []types.PutEventsRequestEntry{half, half}, "over the limit"},
		{"nothing complete", []types.PutEventsRequestEntry{entry("app", "Run", "")}, "None of the entries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: tt.entries})
			var api smithy.APIError
			if !errors.As(err, &api) || api.ErrorCode() != "ValidationException" || !strings.Contains(api.ErrorMessage(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	out, err := c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{half, entry("app", "Run", deep)}})
	if err != nil || out.FailedEntryCount != 1 || aws.ToString(out.Entries[1].ErrorCode) != "MalformedDetail" {
		t.Errorf("half a megabyte and a deep one: %+v, %v", out, err)
	}
}

func make11() []types.PutEventsRequestEntry {
	var out []types.PutEventsRequestEntry
	for range 11 {
		out = append(out, entry("app", "Run", "{}"))
	}
	return out
}

func TestBuses(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f})
	results, err := b.Put([]bus.Entry{
		{Source: "app", DetailType: "Run", Detail: "{}", Bus: "own"},
		{Source: "app", DetailType: "Run", Detail: "{}", Bus: "arn:aws:events:us-east-1:000000000000:event-bus/own"},
		{Source: "app", DetailType: "Run", Detail: "{}", Bus: "unknown"},
	})
	if err != nil || results[2].EventID == "" {
		t.Fatalf("%+v, %v: an unknown bus takes and drops", results, err)
	}
	b.Close()
	if len(f.calls) != 2 || !strings.HasPrefix(f.calls[0], "other | rule Other |") {
		t.Errorf("calls %v", f.calls)
	}
}

func TestRetriesAndDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type letter struct {
			Queue, Body string
			Attributes  map[string]string
		}
		var letters []letter
		lost := 1 // the first attempt at the dead letters fails
		f := &functions{fail: errors.New("no room")}
		b := open(t, bus.Config{Invoker: f, DeadLetter: func(queue string, body []byte, attributes map[string]string) error {
			if lost--; lost >= 0 {
				return errors.New("queue away")
			}
			letters = append(letters, letter{queue, string(body), maps.Clone(attributes)})
			return nil
		}})
		results, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: "{}"}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1*time.Second + 2*time.Second + 4*time.Second + time.Second + time.Millisecond)
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Drain(short); err != nil {
			t.Error(err)
		}
		if f.tries != 4 || len(letters) != 1 || b.Pending() != 0 {
			t.Fatalf("%d tries, %d letters, %d pending", f.tries, len(letters), b.Pending())
		}
		want := letter{"arn:aws:sqs:us-east-1:000000000000:dead", letters[0].Body, map[string]string{
			"RULE_ARN": "arn:aws:events:us-east-1:000000000000:rule/Run", "TARGET_ARN": "arn:aws:lambda:us-east-1:000000000000:function:run-turn",
			"ERROR_CODE": "SDK_CLIENT_ERROR", "ERROR_MESSAGE": "no room", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts", "RETRY_ATTEMPTS": "3"}}
		if diff := cmp.Diff(want, letters[0]); diff != "" || !strings.Contains(letters[0].Body, results[0].EventID) {
			t.Error(letters[0].Body, diff)
		}
	})
}

func TestAgeEndsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stack()
		s.Rules[0].MaxRetries, s.Rules[0].MaxAge = 185, time.Minute
		f := &functions{fail: errors.New("no room")}
		var condition string
		b := open(t, bus.Config{Stack: s, Invoker: f, DeadLetter: func(_ string, _ []byte, a map[string]string) error {
			condition = a["EXHAUSTED_RETRY_CONDITION"]
			return nil
		}})
		if _, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: "{}"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if condition != "MaximumEventAgeInSeconds" || f.tries != 7 { // at 0, 1, 3, 7, 15, 31 and 63 s
			t.Errorf("%s after %d tries", condition, f.tries)
		}
	})
}

func TestUndeliveredEventsSurviveKill(t *testing.T) {
	data := t.TempDir()
	away := &functions{fail: errors.New("away")}
	b := open(t, bus.Config{Invoker: away, Data: data, Backoff: func(int) time.Duration { return time.Hour }})
	var ids []string
	for range 3 {
		r, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: `{"x":1}`}, {Source: "app", DetailType: "Unwanted", Detail: `{}`}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r[0].EventID)
	}
	f := &functions{}
	second := open(t, bus.Config{Invoker: f, Data: data}) // beside the first, which is as good as killed
	drain(t, second)
	second.Close()
	var got []string
	for _, c := range f.calls {
		var e bus.Event
		if err := json.Unmarshal([]byte(strings.SplitN(c, " | ", 3)[2]), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.ID)
	}
	if diff := cmp.Diff(ids, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Error(diff)
	}
	third := &functions{}
	open(t, bus.Config{Invoker: third, Data: data}).Close()
	if third.tries != 0 {
		t.Errorf("%d delivered again after they were delivered", third.tries)
	}
}

func TestRuleThatWentAway(t *testing.T) {
	data := t.TempDir()
	b := open(t, bus.Config{Invoker: &functions{fail: errors.New("away")}, Data: data, Backoff: func(int) time.Duration { return time.Hour }})
	if _, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: `{}`}}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	s := stack()
	s.Rules = nil
	f := &functions{}
	b = open(t, bus.Config{Stack: s, Invoker: f, Data: data})
	b.Close()
	if f.tries != 0 || b.Pending() != 0 {
		t.Errorf("%d tries, %d pending", f.tries, b.Pending())
	}
}

func TestDuplicatesAndParallelPuts(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f, Data: t.TempDir(), Duplicate: func(bus.Event) int { return 1 }})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: fmt.Sprintf(`{"i":%d}`, i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	drain(t, b)
	counts := map[string]int{}
	for _, c := range f.calls {
		counts[c]++
	}
	if len(counts) != 20 || len(f.calls) != 40 {
		t.Errorf("%d calls of %d events", len(f.calls), len(counts))
	}
}

// TestHeldEvents are accepted and heard, and reach no rule.
func TestHeldEvents(t *testing.T) {
	f := &functions{}
	b := open(t, bus.Config{Invoker: f, Hold: func(e bus.Event) bool { return strings.Contains(string(e.Detail), "hold") }})
	heard := 0
	b.Subscribe(func(bus.Event) { heard++ })
	for _, detail := range []string{`{"hold":1}`, `{"go":1}`} {
		if got, err := b.Put([]bus.Entry{{Source: "app", DetailType: "Run", Detail: detail}}); err != nil || got[0].EventID == "" {
			t.Errorf("Put of %s = %v, %v", detail, got, err)
		}
	}
	drain(t, b)
	if heard != 2 || len(f.calls) != 1 || !strings.Contains(f.calls[0], "go") {
		t.Errorf("%d heard, calls %q", heard, f.calls)
	}
}

func TestBadRuleIsNamed(t *testing.T) {
	s := stack()
	s.Rules[1].Pattern = []byte(`{"source":"x"}`)
	if _, err := bus.Open(bus.Config{Stack: s}); err == nil || !strings.Contains(err.Error(), "rule Other") {
		t.Errorf("Open = %v", err)
	}
}
