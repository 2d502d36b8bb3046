package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud"
)

const hooksParameter = "/steadfast/hooks"

// listener is another system's webhook: it keeps what it is told, verified, once it is up.
type listener struct {
	mu   sync.Mutex
	up   bool
	told map[string]contract.AgentSessionEvent // by event
	bad  error
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = channel.Verify([]byte(cloud.LocalSecret(hooksParameter)), body, r.Header.Get(channel.SignatureHeader), time.Now())
	}
	var e contract.AgentSessionEvent
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.bad = err
		w.WriteHeader(http.StatusBadRequest)
	case !l.up:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		l.told[r.Header.Get(channel.EventHeader)] = e
	}
}

func (l *listener) of(eventType string) (found []contract.AgentSessionEvent, bad error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.told {
		if e.Type == eventType {
			found = append(found, e)
		}
	}
	return found, l.bad
}

// hook posts a webhook with a signature.
func (s stack) hook(body, signature string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.info.HTTP+"/agent/channels/hooks/messages", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set(channel.SignatureHeader, signature)
	return send(s.t, req)
}

func (s stack) sign(body string, at time.Time) string {
	s.t.Helper()
	signature, err := channel.Sign([]byte(cloud.LocalSecret(hooksParameter)), []byte(body), at)
	if err != nil {
		s.t.Fatal(err)
	}
	return signature
}

// TestWebhooks: a signed webhook becomes a message of the conversation that its key names, twice is once, and the sender is told of its
// delivery and of the answer, signed too. What is not signed right stores nothing. A stop word stops. While the other side does not
// answer, what it is to be told is put off.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	there := &listener{up: true, told: map[string]contract.AgentSessionEvent{}}
	server := httptest.NewServer(there)
	t.Cleanup(server.Close)
	s := start(t, cloud.Options{Parameters: map[string]string{"WebhookSecretParameter": hooksParameter, "WebhookUrl": server.URL}})
	key := "pr:" + uuid.NewString()
	body := fmt.Sprintf(`{"id":"comment-1","key":%q,"text":"say \"it works\"","files":{"diff.txt":"+1"}}`, key)
	first := s.hook(body, s.sign(body, time.Now())).is(t, 202)["deliveries"].([]any)[0].(map[string]any)
	again := s.hook(body, s.sign(body, time.Now())).is(t, 202)["deliveries"].([]any)[0].(map[string]any)
	if first["deliveryId"] != "comment-1" || first["continuationToken"] != key || again["sessionId"] != first["sessionId"] {
		t.Errorf("receipts %v and %v", first, again)
	}
	id := first["sessionId"].(string)
	eventually(t, "the answer to be told", func() bool {
		answers, bad := there.of("turn.completed")
		return bad != nil || len(answers) == 1 && strings.Contains(string(answers[0].Data), "it works") && answers[0].ContinuationToken == key
	})
	received, bad := there.of("message.received")
	if bad != nil || len(received) != 1 || !strings.Contains(string(received[0].Data), `"deliveryIds":["comment-1"]`) || received[0].SessionID != id {
		t.Errorf("told %v, %v", received, bad)
	}
	s.refusedHooks(key)
	stop := fmt.Sprintf(`{"id":"comment-2","key":%q,"text":"Stop"}`, key)
	if got := s.hook(stop, s.sign(stop, time.Now())).is(t, 202)["deliveries"].([]any)[0].(map[string]any); got["sessionId"] != id {
		t.Errorf("a stop word = %v", got)
	}
	there.mu.Lock()
	there.up = false
	there.mu.Unlock()
	s.put(t, contract.SendAgentMessageType, fmt.Sprintf(
		`{"channel":"hooks","continuationToken":%q,"message":"say \"later\"","principal":{"type":"system","id":"hooks"},"deliveryId":"app-1"}`, key), 2)
	eventually(t, "events to be put off", func() bool {
		return len(s.log.lines("a channel could not take an event", id)) >= 2 && len(s.alarms("steadfast")) >= 2
	})
	slow := fmt.Sprintf(`{"id":"comment-3","key":%q,"text":"slow 20 ms, say 50 words"}`, key)
	s.hook(slow, s.sign(slow, time.Now())).is(t, 202)
	for _, id := range []string{"comment-4", "comment-5"} { // one turn takes both; what it received is over 200 KB, so it is put off by reference
		long := fmt.Sprintf(`{"id":%q,"key":%q,"text":%q}`, id, key, strings.Repeat("much ", 24_000))
		s.hook(long, s.sign(long, time.Now())).is(t, 202)
	}
	eventually(t, "a large event to be put off", func() bool {
		return slices.ContainsFunc(s.alarms("steadfast"), func(name string) bool {
			one, err := s.alarm().GetSchedule(t.Context(), &scheduler.GetScheduleInput{GroupName: new("steadfast"), Name: &name})
			return err == nil && strings.Contains(*one.Target.Input, `"dataRef":`)
		})
	})
	if got := of[contract.MessageReceived](t, s.story(t, id)); len(got) != 4 || got[1].DeliveryIDs[0] != "app-1" || len(got[3].DeliveryIDs) != 2 {
		t.Errorf("the conversation has %v", got)
	}
}

// refusedHooks is each wrong webhook, and that it leaves nothing.
func (s stack) refusedHooks(key string) {
	s.t.Helper()
	s.quiet()
	before := s.rows(s.t)
	body := fmt.Sprintf(`{"id":"comment-9","key":%q,"text":"hi"}`, key)
	huge := `{"text":"` + strings.Repeat("x", channel.MaxBody) + `"}`
	outside := fmt.Sprintf(`{"key":%q,"text":"hi","files":{"../x":"x"}}`, key)
	for _, tt := range []struct {
		name, body, signature string
		status                int
		code                  string
	}{
		{"another body", body, s.sign(body+" ", time.Now()), 403, "bad_signature"},
		{"none", body, "", 403, "bad_signature"},
		{"an old one", body, s.sign(body, time.Now().Add(-6*time.Minute)), 403, "old_signature"},
		{"huge", huge, s.sign(huge, time.Now()), 400, "invalid"},
		{"a path that leads out", outside, s.sign(outside, time.Now()), 400, "invalid"},
	} {
		if got := s.hook(tt.body, tt.signature).is(s.t, tt.status); got["code"] != tt.code {
			s.t.Errorf("%s = %v", tt.name, got)
		}
	}
	s.unchanged(before)
}
