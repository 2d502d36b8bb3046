package entry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

type taskResult = contract.TaskResult

// deliver runs a handler on a detail and gives what its use-case received.
func (r *rig) deliver(t *testing.T, detail string, outcome error) (got task.Request, envelope string, err error) {
	t.Helper()
	handler := entry.Event(r.Log, r.Table, func(_ context.Context, in task.Request, id string) error {
		got, envelope = in, id
		return outcome
	})
	err = handler(t.Context(), contract.RawEvent{ID: "env-1", DetailType: contract.RunAgentTask, Detail: json.RawMessage(detail)})
	return got, envelope, err
}

func TestEvent(t *testing.T) {
	r := newRig()
	got, envelope, err := r.deliver(t, `{"taskId":"t-1","request":"do it","fromTheFuture":{"a":1}}`, nil)
	if err != nil || envelope != "env-1" {
		t.Errorf("envelope %q, %v", envelope, err)
	}
	if diff := cmp.Diff(task.Request{TaskID: "t-1", Request: "do it"}, got); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
	if r.logged.Len() > 0 {
		t.Errorf("a success logged %s", r.logged)
	}
}

// TestEventThatFails: an error reaches Lambda, which delivers again, and the log names the event and not its text.
func TestEventThatFails(t *testing.T) {
	tests := []struct {
		name, detail string
		outcome      error
		want         fault.Code
		text         string
	}{
		{"the use-case", `{"request":"my secret"}`, fault.New(fault.Unavailable, "the table does not answer"), fault.Unavailable, "does not answer"},
		{"a wrong type", `{"request":["my secret"]}`, nil, fault.Invalid, "request: must be a string"},
		{"no object", `"my secret"`, nil, fault.Invalid, "detail: must be a JSON object"},
		{"no JSON", `my secret`, nil, fault.Invalid, "detail: is not valid JSON"},
		{"no detail", ``, nil, fault.Invalid, "detail: the JSON ends too early"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			_, _, err := r.deliver(t, tc.detail, tc.outcome)
			if fault.CodeOf(err) != tc.want || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("= %v, want %s with %q", err, tc.want, tc.text)
			}
			log := r.logged.String()
			if !strings.Contains(log, `"event":"env-1"`) || !strings.Contains(log, "Run Agent Task") || strings.Contains(log, "secret") {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// TestDetailByReference: what the bus of this stack sent by reference arrives whole.
func TestDetailByReference(t *testing.T) {
	r := newRig()
	want := task.Request{TaskID: "t-1", Principal: task.User("ada"), Request: strings.Repeat(`"ü" `, 60*1024)}
	if _, err := r.Bus.RequestTask(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	sent := string(r.events.Events()[0].Detail)
	if len(sent) > 1000 || !strings.Contains(sent, `"requestRef"`) || !strings.Contains(sent, `"taskId":"t-1"`) {
		t.Fatalf("the bus took %.300s (%d bytes), want a reference beside the task's id", sent, len(sent))
	}
	got, _, err := r.deliver(t, sent, nil)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got): %.500s", err, diff)
	}
}

func TestReferencesThatLeadNowhere(t *testing.T) {
	tests := []struct {
		name, detail, request string
		err                   fault.Code
	}{
		{"to nothing", `{"taskId":"t-1","requestRef":"gone"}`, "", fault.NotFound},
		{"beside the field itself", `{"taskId":"t-1","request":"here","requestRef":"gone"}`, "here", ""},
		{"that is no text", `{"taskId":"t-1","request":"here","requestRef":7}`, "here", ""},
		{"of a field that never travels so", `{"taskId":"t-1","request":"here","taskIdRef":"gone"}`, "here", ""},
		{"in the text", `{"taskId":"t-1","request":"see \"requestRef\": gone"}`, `see "requestRef": gone`, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, _, err := newRig().deliver(t, tc.detail, nil)
			if got.Request != tc.request || fault.CodeOf(err) != tc.err {
				t.Errorf("= %q, %v, want %q, %q", got.Request, err, tc.request, tc.err)
			}
		})
	}
}
