package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/memory"
)

// wire is what a service sees of a request.
type wire struct {
	Method, Path, ContentType, Scope string
	Body                             map[string]any
}

// script answers with one reply after the other and keeps the requests.
type script struct {
	mu      sync.Mutex
	replies []reply
	asked   []wire
}

type reply struct {
	status     int
	kind, body string // the header X-Amzn-Errortype
	broken     bool   // the connection ends without an answer
}

func (s *script) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	_, scope, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=AKID/")
	_, scope, _ = strings.Cut(scope, "/") // the day
	scope, _, _ = strings.Cut(scope, ",")
	asked := wire{Method: req.Method, Path: req.URL.EscapedPath(), ContentType: req.Header.Get("Content-Type"), Scope: scope}
	_ = json.Unmarshal(body, &asked.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked)
	r := s.replies[min(len(s.asked), len(s.replies))-1]
	if r.broken {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if r.kind != "" {
		w.Header().Set("X-Amzn-Errortype", r.kind)
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

func (s *script) config(t *testing.T) aws.Config {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "token"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		},
	}
}

const (
	kept  = `{"event":{"memoryId":"m-1","actorId":"a","sessionId":"s","eventId":"0000#1","eventTimestamp":1,"payload":[]}}`
	found = `{"memoryRecordSummaries":[{"memoryRecordId":"r","content":{"text":"likes tea"},"memoryStrategyId":"s","namespaces":["/facts/ada/"],"createdAt":1,"score":0.5}],"nextToken":"n"}`
)

// TestTheWireIsThatOfAWSsClient: what the service sees of both calls is what its own client sends.
func TestTheWireIsThatOfAWSsClient(t *testing.T) {
	ours, theirs := &script{replies: []reply{{status: 201, body: kept}, {status: 200, body: found}}}, &script{replies: []reply{{status: 201, body: kept}, {status: 200, body: found}}}
	at := time.UnixMilli(1_700_000_000_123)
	m := memory.AgentCore{Client: memory.NewClient(ours.config(t)), MemoryID: "m_1-0123456789", Actor: "ada", SessionID: "s1", Now: func() time.Time { return at }}
	if err := m.Record(t.Context(), loop.Exchange{Number: 7, At: at, User: "I like <tea> & \"é\" \u2028", Assistant: "Noted."}); err != nil {
		t.Fatal(err)
	}
	got, err := m.Recall(t.Context(), "what does <she> drink?")
	if diff := cmp.Diff([]string{"likes tea"}, got); err != nil || diff != "" {
		t.Fatalf("Recall: %v (-want +got):\n%s", err, diff)
	}
	theirClient(t, theirs.config(t), at, ours.asked[0].Body["clientToken"].(string))
	for _, asked := range [][]wire{ours.asked, theirs.asked} { // the namespaces are asked at once
		slices.SortStableFunc(asked, func(a, b wire) int {
			return strings.Compare(fmt.Sprint(a.Body["namespace"]), fmt.Sprint(b.Body["namespace"]))
		})
	}
	if diff := cmp.Diff(theirs.asked, ours.asked); diff != "" {
		t.Errorf("the wire (-theirs +ours):\n%s", diff)
	}
}

// theirClient records the same and recalls from the first namespace, then from the second.
func theirClient(t *testing.T, config aws.Config, at time.Time, token string) {
	t.Helper()
	c := bedrockagentcore.NewFromConfig(config)
	said := func(role types.Role, text string) types.PayloadType {
		return &types.PayloadTypeMemberConversational{Value: types.Conversational{Role: role, Content: &types.ContentMemberText{Value: text}}}
	}
	id := "m_1-0123456789"
	_, err := c.CreateEvent(t.Context(), &bedrockagentcore.CreateEventInput{
		MemoryId: &id, ActorId: new("ada"), SessionId: new("s1"), EventTimestamp: &at, ClientToken: &token,
		Payload:  []types.PayloadType{said(types.RoleUser, "I like <tea> & \"é\" \u2028"), said(types.RoleAssistant, "Noted.")},
		Metadata: map[string]types.MetadataValue{"turn": &types.MetadataValueMemberStringValue{Value: "7"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range memory.Namespaces("ada") {
		if _, err := c.RetrieveMemoryRecords(t.Context(), &bedrockagentcore.RetrieveMemoryRecordsInput{
			MemoryId: &id, Namespace: &namespace, MaxResults: new(int32(memory.MaxRecords)),
			SearchCriteria: &types.SearchCriteria{SearchQuery: new("what does <she> drink?"), TopK: new(int32(memory.MaxRecords))},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatMayPassIsTriedAgain as the SDK does, with the same token; what will not pass is not.
func TestWhatMayPassIsTriedAgain(t *testing.T) {
	fine := reply{status: 201, body: kept}
	tests := []struct {
		name    string
		replies []reply
		asked   int
		code    string // of the error; "": none
	}{
		{"at once", []reply{fine}, 1, ""},
		{"a server's fault, then well", []reply{{status: 503}, fine}, 2, ""},
		{"throttled twice", []reply{{status: 429, kind: "ThrottledException:http://x"}, {status: 400, body: `{"__type":"com.amazonaws#ThrottlingException"}`}, fine}, 3, ""},
		{"the answer is lost, and it comes twice", []reply{{broken: true}, fine}, 2, ""},
		{"down for longer", []reply{{status: 500, body: "<html>"}}, 3, "UnknownError"},
		{"not allowed", []reply{{status: 403, kind: "AccessDeniedException", body: `{"message":"no"}`}}, 1, "AccessDeniedException"},
		{"not understood", []reply{{status: 400, body: `{"code":"ValidationException"}`}}, 1, "ValidationException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{replies: tt.replies}
			m := memory.AgentCore{Client: memory.NewClient(s.config(t)), MemoryID: "m-1", Actor: "ada", SessionID: "s1"}
			err := m.Record(t.Context(), loop.Exchange{Number: 1, At: time.Unix(1, 0), User: "private"})
			code := ""
			if said := smithy.APIError(nil); errors.As(err, &said) {
				code = said.ErrorCode()
			}
			if len(s.asked) != tt.asked || code != tt.code || (err != nil) != (tt.code != "") || err != nil && (!fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "private")) {
				t.Errorf("asked %d times, %v (%s); want %d, %q", len(s.asked), err, code, tt.asked, tt.code)
			}
			for _, again := range s.asked {
				if diff := cmp.Diff(s.asked[0], again); diff != "" {
					t.Errorf("the repetition (-first +again):\n%s", diff)
				}
			}
		})
	}
}

// TestNoCredentials is an error like any other.
func TestNoCredentials(t *testing.T) {
	m := memory.AgentCore{Client: memory.NewClient(aws.Config{Region: "us-east-1"}), MemoryID: "m-1", Actor: "ada"}
	if _, err := m.Recall(t.Context(), "tea"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Recall = %v, want Unavailable", err)
	}
}

// TestNoAttemptAfterTheCaller: who no longer waits is not asked for.
func TestNoAttemptAfterTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{replies: []reply{{status: 503}}}
	config := s.config(t)
	config.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { cancel(); return time.Hour, nil })
		})
	}
	m := memory.AgentCore{Client: memory.NewClient(config), MemoryID: "m-1", Actor: "ada"}
	if err := m.Record(ctx, loop.Exchange{User: "tea"}); !fault.Is(err, fault.Unavailable) || len(s.asked) != 1 {
		t.Errorf("Record = %v after %d requests, want one", err, len(s.asked))
	}
}

// TestEndpoints: the region's own, in both partitions that have another ending.
func TestEndpoints(t *testing.T) {
	tests := []struct{ region, want string }{
		{"us-east-1", "https://bedrock-agentcore.us-east-1.amazonaws.com/memories/m-1/events"},
		{"us-gov-east-1", "https://bedrock-agentcore.us-gov-east-1.amazonaws.com/memories/m-1/events"},
		{"cn-north-1", "https://bedrock-agentcore.cn-north-1.amazonaws.com.cn/memories/m-1/events"},
	}
	for _, tt := range tests {
		asked := ""
		config := aws.Config{Region: tt.region, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), HTTPClient: doer(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String()
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}"))}, nil
		})}
		m := memory.AgentCore{Client: memory.NewClient(config), MemoryID: "m-1", Actor: "ada"}
		if err := m.Record(t.Context(), loop.Exchange{User: "tea"}); err != nil || asked != tt.want {
			t.Errorf("%s: asked %s, %v; want %s", tt.region, asked, err, tt.want)
		}
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// TestTriesThatWentWellCostNoQuota: a process that lives long has its second tries as long as they help.
func TestTriesThatWentWellCostNoQuota(t *testing.T) {
	fine := reply{status: 201, body: kept}
	s := &script{}
	for range 200 {
		s.replies = append(s.replies, reply{status: 503}, fine)
	}
	m := memory.AgentCore{Client: memory.NewClient(s.config(t)), MemoryID: "m-1", Actor: "ada", SessionID: "s1"}
	for i := range 200 {
		if err := m.Record(t.Context(), loop.Exchange{Number: int64(i), At: time.Unix(1, 0), User: "hi"}); err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
}
