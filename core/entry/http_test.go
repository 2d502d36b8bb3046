package entry_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// form has a field of every kind that bodies have.
type form struct {
	Text   string            `json:"text"`
	Count  int               `json:"count"`
	Ratio  *float64          `json:"ratio"`
	Wait   bool              `json:"wait"`
	Names  []string          `json:"names"`
	Within map[string]string `json:"within"`
	Inner  struct {
		Deep int `json:"deep"`
	} `json:"inner"`
	Embedded
}

// Embedded is a struct of Go that callers know nothing of.
type Embedded struct {
	Often int `json:"often"`
}

func TestBody(t *testing.T) {
	ratio := 0.5
	tests := []struct {
		name, body string
		base64     bool
		want       form
		err        string // what it begins with; "": none
	}{
		{name: "nothing", body: ""},
		{name: "blanks", body: " \n"},
		{name: "empty object", body: "{}"},
		{name: "all of it", body: `{"text":"a","count":2,"ratio":0.5,"wait":true,"names":["x"]}`,
			want: form{Text: "a", Count: 2, Ratio: &ratio, Wait: true, Names: []string{"x"}}},
		{name: "a field that is not known", body: `{"text":"a","other":[1,2]}`, want: form{Text: "a"}},
		{name: "base64", body: base64.StdEncoding.EncodeToString([]byte(`{"text":"ä"}`)), base64: true, want: form{Text: "ä"}},
		{name: "no base64", body: "{}", base64: true, err: "body: is not valid base64"},
		{name: "no UTF-8", body: "{\"text\":\"a\xff\"}", err: "body: is not valid UTF-8"},
		{name: "no JSON", body: `text=a`, err: "body: is not valid JSON"},
		{name: "cut off", body: `{"text":"a`, err: "body: the JSON ends too early"},
		{name: "two objects", body: `{"text":"a"}{}`, err: "body: must be one JSON object"},
		{name: "a list", body: `[1]`, err: "body: must be a JSON object"},
		{name: "a string", body: `"text"`, err: "body: must be a JSON object"},
		{name: "a brace too many", body: `{"text":"x"}}`, err: "body: must be one JSON object"},
		{name: "two objects", body: `{"text":"x"}{}`, err: "body: must be one JSON object"},
		{name: "text is a number", body: `{"text":1}`, err: "text: must be a string, is a number"},
		{name: "text is an object", body: `{"text":{"a":1}}`, err: "text: must be a string, is an object"},
		{name: "count is a string", body: `{"count":"1"}`, err: "count: must be a number, is a string"},
		{name: "count is a fraction", body: `{"count":1.5}`, err: "count: must be a number, is a number 1.5"},
		{name: "ratio is a bool", body: `{"ratio":true}`, err: "ratio: must be a number, is a bool"},
		{name: "wait is a string", body: `{"wait":"yes"}`, err: "wait: must be a boolean, is a string"},
		{name: "names is a string", body: `{"names":"x"}`, err: "names: must be a list, is a string"},
		{name: "names holds a number", body: `{"names":["x",1]}`, err: "names: must be a string, is a number"},
		{name: "within is a list", body: `{"within":[]}`, err: "within: must be an object, is an array"},
		{name: "a field of a field", body: `{"inner":{"deep":"x"}}`, err: "inner.deep: must be a number, is a string"},
		{name: "a field of an embedded struct", body: `{"often":"x"}`, err: "often: must be a number, is a string"},
		{name: "as large as may be", body: `{"text":"` + strings.Repeat("a", entry.MaxBodyBytes-11) + `"}`,
			want: form{Text: strings.Repeat("a", entry.MaxBodyBytes-11)}},
		{name: "one byte more", body: `{"text":"` + strings.Repeat("a", entry.MaxBodyBytes-10) + `"}`,
			err: "body: 307201 bytes, the limit is 307200"},
		{name: "too large in base64", body: base64.StdEncoding.EncodeToString(make([]byte, entry.MaxBodyBytes+1)), base64: true,
			err: "body: 307201 bytes, the limit is 307200"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			e := fromHTTP("ada", tc.body)
			e.IsBase64Encoded = tc.base64
			var got form
			err := entry.Request{APIGatewayV2HTTPRequest: e}.Body(&got)
			if tc.err != "" {
				if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), tc.err) {
					t.Errorf("Body = %v, want the fault %q", err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("Body = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// serve runs a handler whose use-case ends with err.
func (r *rig) serve(t *testing.T, user string, err error) (status int, body string, headers map[string]string) {
	t.Helper()
	handler := entry.HTTP(r.Log, func(q entry.Request) (string, error) {
		who, err := q.Caller()
		return who.ID, err
	}, func(_ context.Context, who string) (map[string]string, error) {
		return map[string]string{"who": who}, err
	}, entry.Always[map[string]string](http.StatusAccepted))
	answer, failed := handler(t.Context(), fromHTTP(user, `{}`))
	if failed != nil {
		t.Fatalf("the handler failed: %v", failed)
	}
	return answer.StatusCode, answer.Body, answer.Headers
}

func TestStatuses(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7: refused")
	tests := []struct {
		name, user string
		err        error
		status     int
		body       string
		level      string // of the log line, "": none
	}{
		{"success", "ada", nil, 202, `{"who":"ada"}`, ""},
		{"nobody", "", nil, 403, `{"message":"no verified user","code":"denied"}`, "INFO"},
		{"invalid", "ada", fault.New(fault.Invalid, "title: 600 bytes, the limit is 512"), 400, `{"message":"title: 600 bytes, the limit is 512","code":"invalid"}`, "INFO"},
		{"not found", "ada", fault.New(fault.NotFound, "no such task"), 404, `{"message":"no such task","code":"not_found"}`, "INFO"},
		{"conflict", "ada", fault.New(fault.Conflict, "it is final").Because("final"), 409, `{"message":"it is final","code":"final"}`, "INFO"},
		{"denied", "ada", fault.New(fault.Denied, "not your session"), 403, `{"message":"not your session","code":"denied"}`, "INFO"},
		{"limit", "ada", fault.New(fault.Limit, "too many"), 429, `{"message":"too many","code":"limit"}`, "INFO"},
		{"unavailable", "ada", fault.Wrap(fault.Unavailable, secret, "the table does not answer"), 503, `{"message":"the table does not answer","code":"unavailable"}`, "WARN"},
		{"out of time", "ada", context.DeadlineExceeded, 503, `{"message":"the service is not available, try again","code":"unavailable"}`, "WARN"},
		{"internal", "ada", fault.Wrap(fault.Internal, secret, "encode row 7"), 500, `{"message":"something went wrong","code":"internal"}`, "ERROR"},
		{"without a code", "ada", secret, 500, `{"message":"something went wrong","code":"internal"}`, "ERROR"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			status, body, headers := r.serve(t, tc.user, tc.err)
			if status != tc.status || body != tc.body {
				t.Errorf("= %d %s, want %d %s", status, body, tc.status, tc.body)
			}
			if headers["content-type"] != "application/json" || headers["cache-control"] != "no-store" {
				t.Errorf("headers = %v", headers)
			}
			if log := r.logged.String(); tc.level == "" && log != "" || !strings.Contains(log, tc.level) || tc.level != "" && !strings.Contains(log, "POST /agent/things") {
				t.Errorf("logged %q, want a line of level %q that names the route", log, tc.level)
			}
		})
	}
}

func TestInternalTextIsLoggedAndNotSent(t *testing.T) {
	r := newRig()
	_, body, _ := r.serve(t, "ada", fault.Wrap(fault.Internal, errors.New("arn:aws:dynamodb:x"), "save row 7"))
	if strings.Contains(body, "row 7") || strings.Contains(body, "arn:") {
		t.Errorf("the caller reads %s", body)
	}
	if log := r.logged.String(); !strings.Contains(log, "save row 7: arn:aws:dynamodb:x") {
		t.Errorf("the log says %q, want the whole error", log)
	}
}

func TestNoContentHasNoBody(t *testing.T) {
	handler := entry.HTTP(newRig().Log, entry.Session, func(context.Context, flow.SessionOf) (struct{}, error) { return struct{}{}, nil },
		entry.Always[struct{}](http.StatusNoContent))
	answer, err := handler(t.Context(), fromHTTP("ada", ""))
	if err != nil || answer.StatusCode != 204 || answer.Body != "" {
		t.Errorf("= %+v, %v, want 204 and nothing", answer, err)
	}
}

// TestCallerIsNeverFromTheBody: who is asking stands in the verified token alone.
func TestCallerIsNeverFromTheBody(t *testing.T) {
	e := fromHTTP("ada", `{"userId":"eve","sub":"eve"}`)
	e.Headers, e.QueryStringParameters = map[string]string{"sub": "eve"}, map[string]string{"sub": "eve"}
	who, err := entry.Request{APIGatewayV2HTTPRequest: e}.Caller()
	if err != nil || who.ID != "ada" || who.Type != "user" {
		t.Errorf("Caller = %+v, %v, want the user ada", who, err)
	}
	if who, err := (entry.Request{APIGatewayV2HTTPRequest: fromHTTP("", `{"sub":"eve"}`)}).Caller(); !fault.Is(err, fault.Denied) {
		t.Errorf("Caller without a token = %+v, %v, want Denied", who, err)
	}
}

// TestCallerHasAnAccessToken: API Gateway's authorizer passes ID tokens of the app client as well.
func TestCallerHasAnAccessToken(t *testing.T) {
	tests := []struct {
		use  string
		want fault.Code
	}{{"access", ""}, {"id", fault.Denied}, {"Access", fault.Denied}, {"", ""}} // "": an authorizer that hands on no such claim
	for _, tc := range tests {
		e := fromHTTP("ada", "")
		e.RequestContext.Authorizer.JWT.Claims["token_use"] = tc.use
		who, err := entry.Request{APIGatewayV2HTTPRequest: e}.Caller()
		if fault.CodeOf(err) != tc.want || tc.want != "" && (fault.ReasonOf(err) != "token_use" || who.ID != "") {
			t.Errorf("Caller with the use %q = %+v, %v, want %q", tc.use, who, err, tc.want)
		}
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		name, query string
		want        int
		err         string
	}{
		{"absent", "", 0, ""},
		{"a number", "20", 20, ""},
		{"a fraction", "2.5", 0, "limit: must be a whole number"},
		{"words", "many", 0, "limit: must be a whole number"},
		{"beyond any int", "99999999999999999999", 0, "limit: must be a whole number"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			e := fromHTTP("ada", "")
			e.QueryStringParameters = map[string]string{"limit": tc.query}
			got, err := entry.Request{APIGatewayV2HTTPRequest: e}.Number("limit")
			if got != tc.want || tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err) {
				t.Errorf("Number = %d, %v, want %d, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestTooLongARequestChangesNothing: a text of 150 KB is one clear answer that names field and limit, before any call leaves.
func TestTooLongARequestChangesNothing(t *testing.T) {
	r := newRig()
	create := flow.CreateTask{Edges: r.Edges}
	handler := entry.HTTP(r.Log, func(q entry.Request) (in flow.CreateTaskIn, err error) {
		in.Caller = "ada"
		return in, q.Body(&in)
	}, entry.Wire(create.Do), entry.Always[taskResult](http.StatusAccepted))
	text := strings.Repeat("secret ", 150*1024/7)
	answer, err := handler(t.Context(), fromHTTP("ada", `{"request":"`+text+`"}`))
	if err != nil || answer.StatusCode != 400 || !strings.Contains(answer.Body, "request: 153594 bytes, the limit is 131072") {
		t.Errorf("= %d %.200s, %v, want 400 that names field and limit", answer.StatusCode, answer.Body, err)
	}
	if calls := r.world.Calls(); len(calls) != 0 {
		t.Errorf("calls were made: %v", calls)
	}
	if log := r.logged.String(); strings.Contains(log, "secret") || log == "" {
		t.Errorf("the log says %.200q, want the fault without the text", log)
	}
}
