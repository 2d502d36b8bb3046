package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReminders: what each command asks, and what it prints.
func TestReminders(t *testing.T) {
	const one = `{"reminderId":"rem_1","sessionId":"s 1","purpose":"ci","status":"active","nextFireAt":"2026-01-01T00:20:00.000Z","fireCount":2,"createdAt":"2026-01-01T00:00:00.000Z"}`
	const lost = `{"reminderId":"rem_2","sessionId":"s 1","purpose":"x","status":"lost","reason":"handler_lost","fireCount":0,"createdAt":"2026-01-01T00:00:00.000Z"}`
	table := "REMINDER  PURPOSE  STATUS               NEXT                      FIRED  SESSION\n" +
		"rem_1     ci       active               2026-01-01T00:20:00.000Z  2      s 1\n" +
		"rem_2     x        lost (handler_lost)  -                         0      s 1\n"
	tests := []struct {
		name, args string
		code       int
		answer     string
		asked      string // "": nothing
		status     int
		want       string // of stdout, or of stderr when it fails
	}{
		{"list", "list|s 1|--purpose|a b", 200, `{"reminders":[` + one + `,` + lost + `]}`, "GET /agent/sessions/s%201/reminders?purpose=a+b ", 0, table},
		{"list all", "list", 200, `{"reminders":[]}`, "GET /dev/reminders ", 0, ""},
		{"list a purpose of all", "list|--purpose|x", 200, ``, "", 1, "steadfast: a session is due: only steadfast dev lists all reminders\n"},
		{"create", "create|s 1|Look at CI.|--every|30m|--purpose|ci|--until|green|--max-fires|3|--key|k", 201, one,
			`POST /agent/sessions/s%201/reminders {"purpose":"ci","every":"30m","prompt":"Look at CI.","until":"green","maxFires":3,"key":"k"}`, 0,
			"reminder rem_1: next at 2026-01-01T00:20:00.000Z\n"},
		{"create with a handler", "create|s|--run|thrice|--cron|0 9 * * *|--timezone|Europe/Berlin", 201, one,
			`POST /agent/sessions/s/reminders {"purpose":"user_follow_up","cron":"0 9 * * *","timezone":"Europe/Berlin","run":"thrice"}`, 0,
			"reminder rem_1: next at 2026-01-01T00:20:00.000Z\n"},
		{"create, refused", "create|s|x|--delay|1h", 409, `{"message":"a task session cannot receive follow-ups","code":"task_session"}`,
			`POST /agent/sessions/s/reminders {"purpose":"user_follow_up","delay":"1h","prompt":"x"}`, 1, "steadfast: a task session cannot receive follow-ups\n"},
		{"cancel one", "cancel|s|rem_1", 204, "", "DELETE /agent/sessions/s/reminders/rem_1 ", 0, "reminder rem_1 is cancelled\n"},
		{"cancel a purpose", "cancel|s|--purpose|ci", 200, `{"cancelled":2}`, "DELETE /agent/sessions/s/reminders?purpose=ci ", 0, "reminders cancelled: 2\n"},
		{"cancel all", "cancel|s|--all", 200, `{"cancelled":3}`, "DELETE /agent/sessions/s/reminders ", 0, "reminders cancelled: 3\n"},
		{"cancel what?", "cancel|s", 200, ``, "", 1, "steadfast: exactly one of a reminder's id, --purpose and --all is due\n"},
		{"fire", "fire|rem_1", 200, `{"reminderId":"rem_1","sessionIds":["s"],"outcome":"fired","action":"delivered"}`, "POST /dev/reminders/rem_1 ", 0,
			"reminder rem_1: fired, delivered, in session s\n"},
		{"fire, and it fails", "fire|rem_1", 200, `{"reminderId":"rem_1","sessionIds":[],"outcome":"fired","error":"boom"}`, "POST /dev/reminders/rem_1 ", 1,
			"steadfast: it failed: boom\n"},
	}
	start := at(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			asked := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				asked = r.Method + " " + r.URL.String() + " " + strings.TrimSpace(string(body))
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			r := start("")
			args := append([]string{"--url", server.URL, "--token", "a.b.c", "reminders"}, strings.Split(tc.args, "|")...)
			r.run(t, tc.status, args...)
			same(t, "asked", asked, tc.asked)
			if got := r.out.String(); tc.status == 0 {
				same(t, "printed", got, tc.want)
			} else {
				same(t, "the error", r.err.String(), tc.want)
			}
		})
	}
	r := start("")
	r.run(t, 1, "--url", "https://example.com", "reminders", "fire", "rem_1")
	if !strings.Contains(r.err.String(), "not on this machine") {
		t.Errorf("fired far away: %s", r.err.String())
	}
}
