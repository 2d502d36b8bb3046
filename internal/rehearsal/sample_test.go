package rehearsal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// sample is an event for a function and the answer's status and shape.
type sample struct {
	function string
	prepare  func(t *testing.T, d *dev, event map[string]any) // nil: the event is events/<function>.json as it stands
	want     string
}

// samples tell one story on one table, so their order counts: what the first ones make, the later ones find. None of the events
// is of a socket that is open.
var samples = []sample{
	{"ws-authorize", nil, `{policyDocument {Statement [{Action [string] Effect string Resource [string]}] Version string} principalId string}`},
	{"ws-authorize", withToken, `{context {sub string} policyDocument {Statement [{Action [string] Effect string Resource [string]}] Version string} principalId string}`},
	{"ws-connect", nil, `200`},
	{"create-session", nil, `201 {continuationToken string sessionId string title string}`},
	{"create-session-from-event", nil, `null`},
	{"list-sessions", nil, `200 {sessions [{createdAt string sessionId string title string}]}`},
	{"get-session", nil, `200 {continuationToken string createdAt string expiresAt string mode string pending number sessionId string status string title string}`},
	{"connect", nil, `200 {sessionId string streamUrl string wsUrl string}`},
	{"push-skill", nil, `200 {bytes number description string digest string files number name string sentAt string}`},
	{"list-skills", nil, `200 {skills [{bytes number description string digest string files number name string sentAt string}]}`},
	{"ws-message", nil, `200`},
	{"run-turn", nil, `null`},
	{"send-message", nil, `202 {deliveryId string sessionId string}`},
	{"get-session-events", whenIdle, "200 " + turn},
	{"get-session-files", nil, `200 {files [{bytes number path string}]}`},
	{"list-approvals", nil, `200 {approvals []}`}, // the agent of the samples asks nobody
	{"resolve-approval", nil, `404 {code string message string}`},
	{"resolve-approval-from-event", nil, `null`},
	{"send-message-from-event", nil, `null`},
	{"tell-channel", nil, `null`},
	{"receive-webhook", nil, `404 {code string message string}`}, // no secret is set: no webhooks are taken
	{"stream-session", nil, `401 {code string message string}`},
	{"stream-session", withBearer, "200 " + turn},
	{"call-tool", nil, `200 {durationMs number id string name string output {time string timezone string weekday string} status string}`},
	{"stop-session", nil, `202 {stopping bool}`},
	{"run-agent-task", nil, `null`},
	{"get-task", whenDone, `200 {output string status string taskId string usage {cacheReadTokens number cacheWriteTokens number costUsd number inputTokens number outputTokens number}}`},
	{"cancel-task", nil, `409 {code string message string}`},
	{"create-task", nil, `200 {output string status string taskId string usage {cacheReadTokens number cacheWriteTokens number costUsd number inputTokens number outputTokens number}}`},
	{"agency-route", nil, `[{agentId string decision string kind string}]`}, // nobody is a reviewer on a table of its own
	{"agency-task", nil, `{error string status string taskId string}`},
	{"agency-check-in", nil, `null`},
	{"schedule-event", nil, `null`},
	{"sync-schedules", withResponse, `null`},
	{"run-schedule", nil, `{scheduleId string sessionIds [string]}`},
	{"create-reminder", nil, `201 {createdAt string every string fireCount number maxFires number nextFireAt string prompt string purpose string reminderId string sessionId string status string until string}`},
	{"list-reminders", nil, `200 {reminders [{createdAt string every string fireCount number maxFires number nextFireAt string prompt string purpose string reminderId string sessionId string status string until string}]}`},
	{"cancel-reminder", nil, `200 {cancelled number}`},
	{"fire-reminder", nil, `{outcome string reminderId string sessionIds []}`},
	{"recover", nil, `{}`},
	{"remove-skill", nil, `204`},
	{"ws-disconnect", nil, `200`},
	{"delete-session", nil, `204`},
}

// turn is what happens in the session of the samples, as its stream tells it.
const turn = "session.started turn.started message.received step.started actions.requested action.result actions.completed step.completed " +
	"step.started message.appended message.completed step.completed turn.completed session.waiting"

// runner runs a function with an event and gives what it answers.
type runner interface {
	invoke(t *testing.T, f sam.Function, event string) []byte
}

// play runs the samples; every function has one.
func play(t *testing.T, d *dev, r runner) {
	functions := map[string]sam.Function{}
	for _, f := range stack(t).Functions {
		functions[f.Name] = f
	}
	silent := maps.Clone(functions)
	for i, s := range samples {
		delete(silent, s.function)
		t.Run(fmt.Sprintf("%02d %s", i+1, s.function), func(t *testing.T) {
			answer := r.invoke(t, functions[s.function], s.event(t, d))
			if got := describe(answer); got != s.want {
				t.Errorf("answer:\n %s\n %s, want\n %s", answer, got, s.want)
			}
		})
	}
	if len(silent) > 0 {
		t.Errorf("without a sample: %v", slices.Sorted(maps.Keys(silent)))
	}
}

// event is the path of a file with the event.
func (s sample) event(t *testing.T, d *dev) string {
	t.Helper()
	path := filepath.Join(project, "events", s.function+".json")
	if s.prepare == nil {
		return path
	}
	var event map[string]any
	readJSON(t, path, &event)
	s.prepare(t, d, event)
	path = filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(text(t, event)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// withResponse lets the local cloud take what the function tells CloudFormation.
func withResponse(t *testing.T, d *dev, event map[string]any) {
	event["ResponseURL"] = d.info.AWS + "/custom-resources/SyncSchedules"
}

// withToken offers a token that is good, where browsers can put one.
func withToken(t *testing.T, d *dev, event map[string]any) {
	encoded := base64.RawURLEncoding.EncodeToString([]byte(d.token(t)))
	offered := "base64UrlBearerAuthorization, base64UrlBearerAuthorization." + encoded
	event["headers"].(map[string]any)["Sec-WebSocket-Protocol"] = offered
	event["multiValueHeaders"].(map[string]any)["Sec-WebSocket-Protocol"] = []string{offered}
}

// withBearer has a token that is good.
func withBearer(t *testing.T, d *dev, event map[string]any) {
	event["headers"].(map[string]any)["authorization"] = "Bearer " + d.token(t)
	fromTheStart(event)
}

func fromTheStart(event map[string]any) {
	event["queryStringParameters"].(map[string]any)["startIndex"] = "0"
}

// whenIdle waits until the local cloud says that the session of the samples owes no answer, and asks for all of its events.
func whenIdle(t *testing.T, d *dev, event map[string]any) {
	fromTheStart(event)
	look := read(t, filepath.Join(project, "events", "get-session.json"))
	eventually(t, "the session to be idle", func() bool {
		answer := d.own(t, "get-session", look)
		return bytes.Contains(answer, []byte(`\"status\":\"waiting\"`)) && bytes.Contains(answer, []byte(`\"pending\":0`))
	})
}

// whenDone waits until the local cloud says of the task that it is done: its functions run what the sample began.
func whenDone(t *testing.T, d *dev, event map[string]any) {
	eventually(t, "the task to be done", func() bool {
		answer := d.own(t, "get-task", []byte(text(t, event)))
		return bytes.Contains(answer, []byte(`COMPLETED`))
	})
}

// describe tells an answer's status and the shape of what it says, or the error.
func describe(answer []byte) string {
	var a struct {
		StatusCode   int
		Body         string
		ErrorMessage *string
	}
	head, stream, streams := bytes.Cut(bytes.TrimSpace(answer), make([]byte, 8)) // a function URL that streams
	if err := json.Unmarshal(head, &a); err != nil && !bytes.Equal(head, []byte("null")) && !bytes.HasPrefix(head, []byte("[")) {
		return fmt.Sprintf("no JSON: %v", err)
	}
	switch {
	case a.ErrorMessage != nil:
		return "error " + *a.ErrorMessage
	case streams:
		return strings.TrimSpace(fmt.Sprintf("%d %s", a.StatusCode, shapes(string(stream))))
	case a.StatusCode > 0:
		return strings.TrimSpace(fmt.Sprintf("%d %s", a.StatusCode, shapes(a.Body)))
	}
	return shapes(string(head))
}

// shapes is what values that follow one another look like. Events of a stream are told by their types, one type in a row once.
func shapes(text string) string {
	var out []string
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			return fmt.Sprintf("no JSON: %v", err)
		}
		event, _ := v.(map[string]any)
		kind, ok := event["type"].(string)
		if !ok {
			kind = shape(v)
		}
		out = append(out, kind)
	}
	return strings.Join(slices.Compact(out), " ")
}

// shape is a value without what it says: {name string tags [string]}. A list has the shapes that occur in it.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, name+" "+shape(v[name]))
		}
		return "{" + strings.Join(fields, " ") + "}"
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, shape(e))
		}
		slices.Sort(elements)
		return "[" + strings.Join(slices.Compact(elements), " ") + "]"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	}
	return "null"
}
