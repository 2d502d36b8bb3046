package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// recorder is a service that notes what it is asked and answers with what a namespace holds.
type recorder struct {
	mu      sync.Mutex
	paths   []string
	bodies  []map[string]any
	records map[string][]map[string]any // by namespace
	fail    int                         // status of all answers; 0: none fails
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var asked map[string]any
	_ = json.Unmarshal(body, &asked)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paths, r.bodies = append(r.paths, req.Method+" "+req.URL.Path), append(r.bodies, asked)
	w.Header().Set("Content-Type", "application/json")
	if r.fail != 0 {
		w.WriteHeader(r.fail)
		return
	}
	if strings.HasSuffix(req.URL.Path, "/retrieve") {
		namespace, _ := asked["namespace"].(string)
		_ = json.NewEncoder(w).Encode(map[string]any{"memoryRecordSummaries": append([]map[string]any{}, r.records[namespace]...)})
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"event":{"memoryId":"m-1","actorId":"a","sessionId":"s","eventId":"0000#1","eventTimestamp":1,"payload":[]}}`)
}

func record(text, namespace string, score float64) map[string]any {
	return map[string]any{"memoryRecordId": text, "content": map[string]any{"text": text}, "memoryStrategyId": "s",
		"namespaces": []string{namespace}, "createdAt": 1, "score": score}
}

func dial(t *testing.T, r *recorder, actor, session string) memory.AgentCore {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	client := memory.NewClient(aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	return memory.AgentCore{Client: client, MemoryID: "m-1", Actor: actor, SessionID: session, Now: func() time.Time { return time.Unix(2000, 0) }}
}

func TestRecordIsOneEvent(t *testing.T) {
	r := &recorder{}
	m := dial(t, r, "5f3b-user", "s1")
	turn := loop.Exchange{Number: 7, At: time.Unix(1000, 0), User: "I like tea.", Assistant: "Noted."}
	for range 2 {
		if err := m.Record(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	token, _ := r.bodies[0]["clientToken"].(string)
	want := map[string]any{
		"actorId": "5f3b-user", "sessionId": "s1", "eventTimestamp": 1000.0, "clientToken": token,
		"metadata": map[string]any{"turn": map[string]any{"stringValue": "7"}},
		"payload": []any{
			map[string]any{"conversational": map[string]any{"role": "USER", "content": map[string]any{"text": "I like tea."}}},
			map[string]any{"conversational": map[string]any{"role": "ASSISTANT", "content": map[string]any{"text": "Noted."}}},
		},
	}
	for i, body := range r.bodies { // the second as the first, so that the service ignores it
		if diff := cmp.Diff(want, body); diff != "" || r.paths[i] != "POST /memories/m-1/events" || token == "" {
			t.Errorf("%s (-want +got):\n%s", r.paths[i], diff)
		}
	}
	turn.Number++
	if err := m.Record(t.Context(), turn); err != nil || r.bodies[2]["clientToken"] == token {
		t.Errorf("the next turn has the same token, %v", err)
	}
}

func TestP33TimesAreNeverInTheFutureAndNumbersOrder(t *testing.T) {
	r := &recorder{}
	m := dial(t, r, "u", "s1")
	for i, at := range []int64{5000, 2000, 0} { // the clock says 2000
		turn := loop.Exchange{Number: int64(i), User: "x"}
		if at > 0 {
			turn.At = time.Unix(at, 0)
		}
		if err := m.Record(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		if got := r.bodies[i]["eventTimestamp"]; got != 2000.0 {
			t.Errorf("turn of %d written for %v, want 2000", at, got)
		}
	}
}

func TestRecallAsksExactNamespaces(t *testing.T) {
	r := &recorder{records: map[string][]map[string]any{
		"/facts/a1/":               {record("lives in Delft", "/facts/a1/", 0.4)},
		"/users/a1/preferences/":   {record("likes tea", "/users/a1/preferences/", 0.9), record("likes tea", "/users/a1/preferences/", 0.8)},
		"/facts/a10/":              {record("secret of a10", "/facts/a10/", 1)},
		"/users/a10/preferences/":  {},
		"/facts/a1/a10/":           {record("below a1", "/facts/a1/a10/", 1)},
		"/facts/":                  {record("of everybody", "/facts/", 1)},
		"/users/a1/preferences/x/": {record("below", "", 1)},
	}}
	m := dial(t, r, "a1", "s1")
	got, err := m.Recall(t.Context(), "  what does she drink? ")
	if diff := cmp.Diff([]string{"likes tea", "lives in Delft"}, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	slices.SortFunc(r.bodies, func(a, b map[string]any) int { // they are asked at once
		return strings.Compare(fmt.Sprint(a["namespace"]), fmt.Sprint(b["namespace"]))
	})
	for i, namespace := range memory.Namespaces("a1") {
		want := map[string]any{"namespace": namespace, "maxResults": 10.0, "searchCriteria": map[string]any{"searchQuery": "what does she drink?", "topK": 10.0}}
		if diff := cmp.Diff(want, r.bodies[i]); diff != "" || r.paths[i] != "POST /memories/m-1/retrieve" {
			t.Errorf("%s (-want +got):\n%s", r.paths[i], diff)
		}
	}
	if got, err := m.Recall(t.Context(), " \n"); got != nil || err != nil || len(r.bodies) != 2 {
		t.Errorf("blank words: %v, %v after %d calls, want no call", got, err, len(r.bodies))
	}
}

func TestNoActorReachesAnother(t *testing.T) {
	actors := []string{"a1", "a10", "a1/", "a1/../a2", "/a1", "A1", "a 1", "ä1", "x-abc", strings.Repeat("a", 300), strings.Repeat("a", 301), "facts/a1", "a1/preferences", "a*", "{actorId}"}
	actorID := regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,254}$`)
	seen := map[string]string{}
	for _, actor := range actors {
		for _, namespace := range memory.Namespaces(actor) {
			if other, taken := seen[namespace]; taken {
				t.Errorf("%q and %q share %s", actor, other, namespace)
			}
			seen[namespace] = actor
		}
		id := strings.Split(memory.Namespaces(actor)[0], "/")
		if len(id) != 4 || !actorID.MatchString(id[2]) {
			t.Errorf("%q is in %s", actor, memory.Namespaces(actor)[0])
		}
	}
}

func TestAnUnreachableServiceIsUnavailable(t *testing.T) {
	m := dial(t, &recorder{fail: http.StatusInternalServerError}, "u", "s")
	if _, err := m.Recall(t.Context(), "tea"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Recall = %v", err)
	}
	if err := m.Record(t.Context(), loop.Exchange{User: "secret words"}); !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Record = %v", err)
	}
}

func TestTableRemembersByWords(t *testing.T) {
	clock, dynamo := &fake.Clock{}, fake.NewDynamo("t")
	dynamo.Now = clock.Now
	rows := store.Table{Name: "t", DynamoDB: dynamo, Now: clock.Now}
	of := func(user string) memory.Table {
		return memory.Table{Rows: rows, Owner: task.User(user), SessionID: "s"}
	}
	say := func(m memory.Table, n int64, text string) {
		t.Helper()
		for range 2 { // recorded again after a crash
			if err := m.Record(t.Context(), loop.Exchange{Number: n, At: time.UnixMilli(n * 1000), User: text, Assistant: "ok"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	say(of("a1"), 1, "My cat is called Minka and likes tuna.")
	say(of("a1"), 2, "The cat is ill.")
	say(of("a1"), 3, "I work in Delft")
	say(of("a10"), 1, "my cat is a secret")
	say(of("a1"), 4, "and you?")

	recall := func(m loop.Memory, query string) []string {
		t.Helper()
		got, err := m.Recall(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff([]string{"My cat is called Minka and likes tuna.", "The cat is ill."}, recall(of("a1"), "Is my cat Minka well?")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, query := range []string{"", "and you?", "quantum"} {
		if got := recall(of("a1"), query); got != nil {
			t.Errorf("%q recalls %q", query, got)
		}
	}
	if got := recall(of("a2"), "cat"); got != nil {
		t.Errorf("another user recalls %q", got)
	}
	clock.Advance(memory.Life + time.Second)
	if got := recall(of("a1"), "cat"); got != nil {
		t.Errorf("after its life: %q", got)
	}
}

type notes []string

func (n notes) Recall(context.Context, string) ([]string, error) { return n, nil }
func (n notes) Record(context.Context, loop.Exchange) error      { return nil }
func (n notes) Flush(context.Context) error                      { return nil }

func TestSearchMemory(t *testing.T) {
	search := memory.Search(notes{"likes tea"})
	out, err := search.Call(tool.Context{Context: t.Context()}, json.RawMessage(`{"query":"tea"}`))
	got, _ := json.Marshal(out)
	if err != nil || string(got) != `{"memories":["likes tea"]}` {
		t.Errorf("%s, %v", got, err)
	}
	out, err = memory.Search(notes(nil)).Call(tool.Context{Context: t.Context()}, json.RawMessage(`{"query":"tea"}`))
	if got, _ := json.Marshal(out); err != nil || string(got) != `{"memories":[]}` {
		t.Errorf("%s, %v", got, err)
	}
	if spec := search.Spec(); spec.Name != "search_memory" || !spec.ReadOnly {
		t.Errorf("spec %+v", spec)
	}
}

func TestWithRecalledIsBounded(t *testing.T) {
	if got := loop.WithRecalled("Be kind.", nil); got != "Be kind." {
		t.Errorf("nothing recalled: %q", got)
	}
	got := loop.WithRecalled("Be kind.", []string{"likes\ntea", strings.Repeat("x", 9000)})
	if !strings.HasPrefix(got, "Be kind.\n\n") || !strings.HasSuffix(got, ":\n- likes tea") {
		t.Errorf("recalled: %q", got)
	}
}
