package queue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

const (
	arn = "arn:aws:sqs:us-east-1:000000000000:letters"
	url = "http://127.0.0.1:1/000000000000/letters"
)

type rig struct {
	t   *testing.T
	s   *queue.Service
	url string
	now atomic.Int64 // seconds; read by the service's own goroutines
}

func start(t *testing.T, data string) *rig {
	t.Helper()
	r := &rig{t: t}
	r.now.Store(1_800_000_000)
	s, err := queue.Open(queue.Config{Data: data, Now: func() time.Time { return time.Unix(r.now.Load(), 0) },
		Queues: []sam.Queue{{LogicalID: "Letters", Name: "letters", ARN: arn, URL: url}}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { srv.Close(); s.Close() })
	r.s, r.url = s, srv.URL
	return r
}

// call speaks the wire: out may be nil. It returns the error type, empty for success.
func (r *rig) call(operation string, in, out any) string {
	r.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", queue.Target+operation)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var e struct {
			Type string `json:"__type"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
			r.t.Fatal(err)
		}
		return e.Type
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			r.t.Fatal(err)
		}
	}
	return ""
}

type message struct {
	MessageId, ReceiptHandle, Body, MD5OfBody string
	Attributes                                map[string]string
	MessageAttributes                         map[string]struct{ DataType, StringValue string }
}

func (r *rig) receive(hide int) []message {
	r.t.Helper()
	var out struct{ Messages []message }
	r.call("ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": hide,
		"MessageAttributeNames": []string{"All"}, "MessageSystemAttributeNames": []string{"ApproximateReceiveCount"}}, &out)
	return out.Messages
}

func (r *rig) count(name string) string {
	r.t.Helper()
	var out struct{ Attributes map[string]string }
	r.call("GetQueueAttributes", map[string]any{"QueueUrl": url, "AttributeNames": []string{"All"}}, &out)
	return out.Attributes[name]
}

func TestSendReceiveDelete(t *testing.T) {
	r := start(t, "")
	if _, err := r.s.Send(arn, []byte(`{"a":1}`), map[string]string{"RULE_ARN": "x"}); err != nil {
		t.Fatal(err)
	}
	got := r.receive(30)
	if len(got) != 1 || got[0].Body != `{"a":1}` || got[0].MD5OfBody != "bb6cb5c68df4652941caf652a366f2d8" ||
		got[0].MessageAttributes["RULE_ARN"].StringValue != "x" || got[0].Attributes["ApproximateReceiveCount"] != "1" {
		t.Fatalf("received %+v", got)
	}
	if again := r.receive(30); len(again) != 0 || r.count("ApproximateNumberOfMessagesNotVisible") != "1" {
		t.Errorf("a hidden message was received: %+v", again)
	}
	r.now.Add(31)
	again := r.receive(30)
	if len(again) != 1 || again[0].ReceiptHandle == got[0].ReceiptHandle || again[0].Attributes["ApproximateReceiveCount"] != "2" {
		t.Fatalf("after its timeout %+v", again)
	}
	for range 2 { // the second one finds nothing, which is no error
		if e := r.call("DeleteMessage", map[string]any{"QueueUrl": url, "ReceiptHandle": again[0].ReceiptHandle}, nil); e != "" {
			t.Error(e)
		}
	}
	if n := r.count("ApproximateNumberOfMessages"); n != "0" {
		t.Errorf("%s left", n)
	}
}

func TestErrors(t *testing.T) {
	r := start(t, "")
	tests := []struct {
		operation string
		in        map[string]any
		want      string
	}{
		{"SendMessage", map[string]any{"QueueUrl": "http://x/none", "MessageBody": "x"}, "com.amazonaws.sqs#QueueDoesNotExist"},
		{"SendMessage", map[string]any{"QueueUrl": url, "MessageBody": ""}, "com.amazonaws.sqs#InvalidParameterValue"},
		{"SendMessage", map[string]any{"QueueUrl": url, "MessageBody": strings.Repeat("x", queue.MaxMessage+1)}, "com.amazonaws.sqs#InvalidParameterValue"},
		{"ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 11}, "com.amazonaws.sqs#InvalidParameterValue"},
		{"DeleteMessage", map[string]any{"QueueUrl": url, "ReceiptHandle": "x"}, "com.amazonaws.sqs#ReceiptHandleIsInvalid"},
		{"GetQueueUrl", map[string]any{"QueueName": "none"}, "com.amazonaws.sqs#QueueDoesNotExist"},
		{"CreateQueue", nil, "com.amazonaws.sqs#UnknownOperationException"},
	}
	for _, tt := range tests {
		if got := r.call(tt.operation, tt.in, nil); got != tt.want {
			t.Errorf("%s(%.60v) = %s, want %s", tt.operation, tt.in, got, tt.want)
		}
	}
	var e *awsjson.Error
	if _, err := r.s.Send("arn:aws:sqs:us-east-1:000000000000:none", []byte("x"), nil); !errors.As(err, &e) {
		t.Errorf("Send = %v", err)
	}
}

func TestRestart(t *testing.T) {
	data := t.TempDir()
	r := start(t, data)
	for _, b := range []string{"one", "two", "three"} {
		if _, err := r.s.Send(url, []byte(b), map[string]string{"k": b}); err != nil {
			t.Fatal(err)
		}
	}
	first := r.receive(3600)[0]
	r.call("DeleteMessage", map[string]any{"QueueUrl": url, "ReceiptHandle": first.ReceiptHandle}, nil)
	r = start(t, data) // without Close, as after kill -9
	var got []string
	messages, err := r.s.Messages("letters")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		got = append(got, m.Body+" "+m.Attributes["k"])
	}
	if diff := cmp.Diff([]string{"two two", "three three"}, got); diff != "" {
		t.Error(diff)
	}
	if len(r.receive(30)) != 2 {
		t.Error("messages received before the restart are still hidden")
	}
	r.call("PurgeQueue", map[string]any{"QueueUrl": url}, nil)
	if messages, err := start(t, data).s.Messages(arn); err != nil || len(messages) != 0 {
		t.Errorf("after a purge %v, %v", messages, err)
	}
}

func TestLongPollEndsWithAMessage(t *testing.T) {
	r := start(t, "")
	done := make(chan []message)
	go func() {
		var out struct{ Messages []message }
		r.call("ReceiveMessage", map[string]any{"QueueUrl": url, "WaitTimeSeconds": 20}, &out)
		done <- out.Messages
	}()
	if _, err := r.s.Send(url, []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if got := <-done; len(got) != 1 {
		t.Errorf("received %v", got)
	}
	var out struct{ QueueUrls []string }
	r.call("ListQueues", map[string]any{}, &out)
	if diff := cmp.Diff([]string{url}, out.QueueUrls); diff != "" {
		t.Error(diff)
	}
}
