package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
)

// post sends a message over HTTP.
func (s stack) post(user, sessionID string, m contract.SendMessage) answer {
	s.t.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.as(user, "POST", "/agent/sessions/"+sessionID+"/messages", string(body))
}

// waits gives a session once nothing runs in it.
func (s stack) waits(user, sessionID string) map[string]any {
	s.t.Helper()
	var got map[string]any
	eventually(s.t, "the session to wait", func() bool {
		got = s.as(user, "GET", "/agent/sessions/"+sessionID, "").is(s.t, 200)
		return got["status"] == "waiting"
	})
	return got
}

// TestMessagesOverHTTP: the token says where the conversation stands. Each follow-up turns it over; a retry is known by its
// delivery, whatever token it carries.
func TestMessagesOverHTTP(t *testing.T) {
	t.Parallel()
	s := shared(t)
	made := s.as("ada", "POST", "/agent/sessions", "").is(t, 201)
	id, first := made["sessionId"].(string), made["continuationToken"].(string)
	m := contract.SendMessage{Message: "my name is Ada", ContinuationToken: first, DeliveryID: "d-1"}
	taken := s.post("ada", id, m).is(t, 202)
	second, _ := taken["continuationToken"].(string)
	if taken["deliveryId"] != "d-1" || second == "" || second == first {
		t.Fatalf("answer = %v", taken)
	}
	if diff := cmp.Diff(taken, s.post("ada", id, m).is(t, 202)); diff != "" {
		t.Errorf("answer to a retry (-first +second):\n%s", diff)
	}
	m.DeliveryID = "d-2"
	if got := s.post("ada", id, m).is(t, 409); got["code"] != "stale_token" {
		t.Errorf("a token that was used = %v", got)
	}
	if got := s.waits("ada", id); got["continuationToken"] != second {
		t.Errorf("the session's token is %v, want %s", got["continuationToken"], second)
	}
	if got := s.post("bob", id, contract.SendMessage{Message: "hello", ContinuationToken: second}); got.status != 403 {
		t.Errorf("somebody else = %+v", got)
	}
	third := s.post("ada", id, contract.SendMessage{Message: "what is my name?", ContinuationToken: second}).is(t, 202)["continuationToken"].(string)
	s.waits("ada", id)
	received, done := of[contract.MessageReceived](t, s.story(t, id)), of[contract.TurnCompleted](t, s.story(t, id))
	if len(received) != 2 || len(done) != 2 || done[1].Result != "Your name is Ada." {
		t.Errorf("received %+v, completed %+v", received, done)
	}
	p := s.connect("ada", "")
	p.ask(id, `say "over the socket"`) // does not turn the token over
	s.post("ada", id, contract.SendMessage{Message: `say "again"`, ContinuationToken: third}).is(t, 202)
	if h := p.turn(); h.text != "again" {
		t.Errorf("who follows the session heard %+v", h)
	}
}

// TestTheFirstMessageOverHTTP begins a session of an id that the client made, and may be longer than a frame of the socket.
func TestTheFirstMessageOverHTTP(t *testing.T) {
	t.Parallel()
	s := shared(t)
	id := uuid.NewString()
	first := contract.SendMessage{Message: `say "well" ` + strings.Repeat("x", 120_000), DeliveryID: "d-1"}
	taken := s.post("ada", id, first).is(t, 202)
	if diff := cmp.Diff(taken, s.post("ada", id, first).is(t, 202)); diff != "" {
		t.Errorf("answer to a retry (-first +second):\n%s", diff)
	}
	if got := s.post("ada", id, contract.SendMessage{Message: "more"}); got.status != 400 || !strings.Contains(got.body, "continuationToken") {
		t.Errorf("another message without a token = %+v", got)
	}
	if got := s.post("bob", id, contract.SendMessage{Message: "mine"}); got.status != 403 {
		t.Errorf("somebody else = %+v", got)
	}
	if got := s.waits("ada", id); got["continuationToken"] != taken["continuationToken"] {
		t.Errorf("the session's token is %v, want that of %v", got["continuationToken"], taken)
	}
	if done := of[contract.TurnCompleted](t, s.story(t, id)); len(done) != 1 || done[0].Result != "well" {
		t.Errorf("completed %+v", done)
	}
}

// TestBusySession: a message may ask to be refused while a turn runs; a stop ends the turn, and may end what waits with it.
func TestBusySession(t *testing.T) {
	t.Parallel()
	s := shared(t)
	made := s.as("ada", "POST", "/agent/sessions", "").is(t, 201)
	id, token := made["sessionId"].(string), made["continuationToken"].(string)
	long := contract.SendMessage{Message: "say 2000 words slow 20 ms", ContinuationToken: token}
	token = s.post("ada", id, long).is(t, 202)["continuationToken"].(string)
	eventually(t, "the turn to say something", func() bool { return len(of[contract.MessageAppended](t, s.story(t, id))) > 0 })
	busy := contract.SendMessage{Message: "hello", ContinuationToken: token, Admission: contract.Reject}
	if got := s.post("ada", id, busy).is(t, 409); got["code"] != "session_busy" {
		t.Errorf("a message to a busy session = %v", got)
	}
	queued := contract.SendMessage{Message: `say "never"`, ContinuationToken: token, Admission: contract.Coalesce}
	token = s.post("ada", id, queued).is(t, 202)["continuationToken"].(string)
	if got := s.as("bob", "POST", "/agent/sessions/"+id+"/stop", ""); got.status != 403 {
		t.Errorf("a stop by somebody else = %+v", got)
	}
	s.as("ada", "POST", "/agent/sessions/"+id+"/stop", `{"clear":true}`).is(t, 202)
	s.waits("ada", id)
	story := s.story(t, id)
	if failed := of[contract.TurnFailed](t, story); len(failed) != 2 || failed[0].Status != "cancelled" || failed[1].Status != "cancelled" {
		t.Errorf("failed turns = %+v, want the running and the waiting one, cancelled", failed)
	}
	s.as("ada", "POST", "/agent/sessions/"+id+"/stop", "").is(t, 202) // nothing to stop is no error
	s.post("ada", id, contract.SendMessage{Message: `say "fine"`, ContinuationToken: token}).is(t, 202)
	s.waits("ada", id)
	if done := of[contract.TurnCompleted](t, s.story(t, id)); len(done) != 1 || done[0].Result != "fine" {
		t.Errorf("completed turns = %+v", done)
	}
}

// TestTaskSessionTakesNoMessages, as it belongs to its task.
func TestTaskSessionTakesNoMessages(t *testing.T) {
	t.Parallel()
	s := shared(t)
	id := s.as("ada", "POST", "/agent/tasks", `{"request":"say \"done\"","wait":true}`).is(t, 200)["taskId"].(string)
	got := s.post("ada", contract.TaskSessionPrefix+id, contract.SendMessage{Message: "hello", ContinuationToken: "any"}).is(t, 409)
	if got["code"] != "task_session" {
		t.Errorf("answer = %v", got)
	}
}

// TestTokensOfSessionsThatHaveNone: of one that has expired, and of one that the TypeScript package made. Both tell to read
// the session, and the token that is read there is good.
func TestTokensOfSessionsThatHaveNone(t *testing.T) {
	t.Parallel()
	s := shared(t)
	made := s.as("ada", "POST", "/agent/sessions", "").is(t, 201)
	expired, token := made["sessionId"].(string), made["continuationToken"].(string)
	s.set(t, key.State(expired), "attribute_exists(pk)", map[string]any{"expiresAt": 1_000_000_000})
	packaged := uuid.NewString()
	s.insert(t, map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key.SessionPK(packaged)}, "sk": &types.AttributeValueMemberS{Value: key.ConfigSK},
		"entity": &types.AttributeValueMemberS{Value: "SessionConfig"}, "sessionId": &types.AttributeValueMemberS{Value: packaged},
		"userId": &types.AttributeValueMemberS{Value: sub("ada")}, "expiresAt": &types.AttributeValueMemberN{Value: "4102444800"},
	})
	for what, id := range map[string]string{"expired": expired, "of the package": packaged} {
		if got := s.post("ada", id, contract.SendMessage{Message: `say "hello"`, ContinuationToken: token}); got.status != 409 {
			t.Errorf("%s: %+v", what, got)
			continue
		}
		now, _ := s.as("ada", "GET", "/agent/sessions/"+id, "").is(t, 200)["continuationToken"].(string)
		s.post("ada", id, contract.SendMessage{Message: `say "hello"`, ContinuationToken: now}).is(t, 202)
		s.waits("ada", id)
	}
	if got := s.post("ada", uuid.NewString(), contract.SendMessage{Message: "hello", ContinuationToken: token}); got.status != 404 {
		t.Errorf("of no session: %+v", got)
	}
}

// TestEventsOverHTTP: the stream page by page is the stream, without a gap.
func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	s, id := shared(t), uuid.NewString()
	p := s.connect("ada", "")
	p.ask(id, "What time is it?")
	p.ask(id, "say 200 words")
	var all []contract.SessionEvent
	for from := "0"; from != ""; {
		page, next := s.page("ada", id, "?limit=7&startIndex="+from)
		if len(page) > 7 {
			t.Errorf("a page of %d events", len(page))
		}
		all, from = append(all, page...), next
	}
	if diff := cmp.Diff([]contract.SessionEvent(s.story(t, id)), all); diff != "" {
		t.Errorf("events (-stored +read):\n%s", diff)
	}
	if rest, _ := s.page("ada", id, fmt.Sprintf("?startIndex=%d", len(all)-2)); len(rest) != 2 {
		t.Errorf("the last two events are %d", len(rest))
	}
	if got := s.as("bob", "GET", "/agent/sessions/"+id+"/events", ""); got.status != 403 {
		t.Errorf("for somebody else = %+v", got)
	}
	for query, says := range map[string]string{"?startIndex=-1": "startIndex: ", "?startIndex=x": "startIndex: ", "?limit=0x": "limit: "} {
		if got := s.as("ada", "GET", "/agent/sessions/"+id+"/events"+query, ""); got.status != 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s = %+v", query, got)
		}
	}
}

// page reads a page of a session's stream, and where the next one begins.
func (s stack) page(user, id, query string) (events []contract.SessionEvent, next string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.info.HTTP+"/agent/sessions/"+id+"/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token(user))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		s.t.Fatalf("events%s: %s, %s", query, resp.Status, resp.Header.Get("Content-Type"))
	}
	for lines := json.NewDecoder(resp.Body); lines.More(); {
		var e contract.SessionEvent
		if err := lines.Decode(&e); err != nil {
			s.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events, resp.Header.Get("X-Next-Index")
}
