package entry_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// TestAsked: the use-case gets the envelope's id and time, and the log tells what became of it and not what it is about.
func TestAsked(t *testing.T) {
	var e contract.RawEvent
	sample(t, "schedule-event", &e, "version", "account", "region", "resources")
	r := newRig()
	var got flow.Asked[contract.ScheduleEvent]
	err := entry.Asked(r.Log, func(_ context.Context, in flow.Asked[contract.ScheduleEvent]) (flow.Outcome, error) {
		got = in
		return flow.Skipped, nil
	})(t.Context(), e)
	if err != nil || got.EventID != e.ID || !got.Time.Equal(e.Time) || got.Detail.Name != "digest-of-monday" || got.Detail.TimeZone != "Europe/Lisbon" {
		t.Errorf("got %+v, %v", got, err)
	}
	if log := r.logged.String(); !strings.Contains(log, `"outcome":"skipped"`) || strings.Contains(log, "digest") {
		t.Errorf("logged %s", log)
	}
	failing := entry.Asked(r.Log, func(context.Context, flow.Asked[contract.ScheduleEvent]) (flow.Outcome, error) {
		return "", fault.New(fault.Unavailable, "later")
	})
	if err := failing(t.Context(), e); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a failure = %v, want that it is delivered again", err)
	}
}

func TestSchedule(t *testing.T) {
	var e contract.RawEvent
	sample(t, "run-schedule", &e, "version", "account", "region", "resources")
	manual := e
	manual.Detail = json.RawMessage(`{"scheduleId":"x","at":"2026-01-05T09:00:00Z","manual":true}`)
	gone := fault.New(fault.NotFound, "there is no schedule")
	tests := []struct {
		name  string
		event contract.RawEvent
		err   error
		want  contract.ScheduleRan
		code  fault.Code
	}{
		{"by the clock", e, nil, contract.ScheduleRan{ScheduleID: "weekly-review", SessionIDs: []string{"s"}}, ""},
		{"by the clock, refused", e, gone, contract.ScheduleRan{ScheduleID: "weekly-review", SessionIDs: []string{"s"}}, fault.NotFound},
		{"by hand, refused", manual, gone, contract.ScheduleRan{ScheduleID: "x", SessionIDs: []string{"s"}, Error: "there is no schedule", Code: "not_found"}, ""},
		{"by hand, later", manual, fault.New(fault.Unavailable, "later"), contract.ScheduleRan{ScheduleID: "x", SessionIDs: []string{"s"}}, fault.Unavailable},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := entry.Schedule(newRig().Log, func(_ context.Context, in contract.RunSchedule) (contract.ScheduleRan, error) {
				return contract.ScheduleRan{ScheduleID: in.ScheduleID, SessionIDs: []string{"s"}}, tc.err
			})(t.Context(), tc.event)
			if diff := cmp.Diff(tc.want, got); diff != "" || fault.CodeOf(err) != tc.code {
				t.Errorf("%v, answer (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestResource: CloudFormation is told how it ended, under one id, and a deletion is known as such.
func TestResource(t *testing.T) {
	var e cfn.Event
	sample(t, "sync-schedules", &e)
	var told cfn.Response
	cloudFormation := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		told = cfn.Response{}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &told) != nil || r.Method != http.MethodPut {
			t.Errorf("%s %s, %v", r.Method, body, err)
		}
	}))
	defer cloudFormation.Close()
	e.ResponseURL = cloudFormation.URL
	tests := []struct {
		request cfn.RequestType
		fails   error
		gone    bool
		want    cfn.StatusType
	}{
		{cfn.RequestCreate, nil, false, cfn.StatusSuccess}, {cfn.RequestUpdate, nil, false, cfn.StatusSuccess}, {cfn.RequestDelete, nil, true, cfn.StatusSuccess},
		{cfn.RequestUpdate, fault.New(fault.Unavailable, "the scheduler does not answer"), false, cfn.StatusFailed},
		{cfn.RequestUpdate, fault.New(fault.Invalid, "%s", strings.Repeat("ä wrong file; ", 1000)), false, cfn.StatusFailed},
	}
	for _, tc := range tests {
		e.RequestType = tc.request
		gone := !tc.gone
		err := entry.Resource("schedules", func(_ context.Context, g bool) error {
			gone = g
			return tc.fails
		})(t.Context(), e)
		if len(told.Reason) > 3000 || tc.fails != nil && told.Reason == "" {
			t.Errorf("the reason has %d bytes", len(told.Reason))
		}
		if err != nil || told.Status != tc.want || told.PhysicalResourceID != "schedules" || told.RequestID != e.RequestID || gone != tc.gone {
			t.Errorf("%s: told %+v, gone %t, %v", tc.request, told, gone, err)
		}
	}
}

// TestRemindersOfAPurpose: an empty one is a mistake, and not all of the conversation.
func TestRemindersOfAPurpose(t *testing.T) {
	for _, tt := range []struct {
		name  string
		query map[string]string
		want  string
		code  fault.Code
	}{
		{"none", nil, "", ""},
		{"one", map[string]string{"purpose": "ci"}, "ci", ""},
		{"empty", map[string]string{"purpose": ""}, "", fault.Invalid},
	} {
		e := fromHTTP("ada", "")
		e.PathParameters, e.QueryStringParameters = map[string]string{"sessionId": "s"}, tt.query
		got, err := entry.Reminders(entry.Request{APIGatewayV2HTTPRequest: e})
		if fault.CodeOf(err) != tt.code || got.Purpose != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}
