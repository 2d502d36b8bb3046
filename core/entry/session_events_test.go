package entry_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/task"
)

func TestEvents(t *testing.T) {
	tests := []struct {
		name    string
		query   map[string]string
		more    bool
		want    flow.ReadEventsIn
		status  int
		headers map[string]string
		body    string
	}{
		{"all", nil, false, flow.ReadEventsIn{}, 200, map[string]string{}, "{}\n"},
		{"a page", map[string]string{"startIndex": "7", "limit": "2"}, true, flow.ReadEventsIn{From: 7, Limit: 2}, 200, map[string]string{"X-Next-Index": "9"}, "{}\n"},
		{"no number", map[string]string{"startIndex": "x"}, false, flow.ReadEventsIn{}, 400, nil, "startIndex: must be a whole number from 0 on"},
		{"below 0", map[string]string{"startIndex": "-1"}, false, flow.ReadEventsIn{}, 400, nil, "startIndex: must be a whole number from 0 on"},
		{"no number as limit", map[string]string{"limit": "x"}, false, flow.ReadEventsIn{}, 400, nil, "limit: must be a whole number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.SessionOf = flow.SessionOf{SessionID: "s-1", Caller: task.User("ada")}
			handler := entry.Events(newRig().Log, func(_ context.Context, in flow.ReadEventsIn) (flow.ReadEventsOut, error) {
				if diff := cmp.Diff(tt.want, in); diff != "" {
					t.Errorf("input (-want +got):\n%s", diff)
				}
				return flow.ReadEventsOut{Lines: []byte("{}\n"), Next: 9, More: tt.more}, nil
			})
			e := fromHTTP("ada", "")
			e.PathParameters, e.QueryStringParameters = map[string]string{"sessionId": "s-1"}, tt.query
			got, err := handler(t.Context(), e)
			if err != nil || got.StatusCode != tt.status || !strings.Contains(got.Body, tt.body) {
				t.Errorf("answer = %+v, %v", got, err)
			}
			if tt.status != 200 {
				return
			}
			tt.headers["content-type"], tt.headers["cache-control"] = "application/x-ndjson", "no-store"
			if diff := cmp.Diff(tt.headers, got.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsOfOthers(t *testing.T) {
	r := newRig()
	handler := entry.Events(r.Log, flow.ReadEvents{Edges: r.Edges}.Do)
	r.say(t, "ada", `{"request":"hello","session_id":"s-1"}`)
	for user, want := range map[string]int{"ada": 200, "eve": 403, "": 403} {
		e := fromHTTP(user, "")
		e.PathParameters = map[string]string{"sessionId": "s-1"}
		if got, err := handler(t.Context(), e); err != nil || got.StatusCode != want || want == 200 != strings.Contains(got.Body, "session.started") {
			t.Errorf("%q reads %+v, %v, want %d", user, got, err, want)
		}
	}
	var e events.APIGatewayV2HTTPRequest
	sample(t, "get-session-events", &e)
	if got, err := handler(t.Context(), e); err != nil || got.StatusCode != 404 || e.RouteKey != "GET /agent/sessions/{sessionId}/events" {
		t.Errorf("the sample %s = %+v, %v", e.RouteKey, got, err)
	}
}
