package bedrock_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

func TestExceptionBeforeTheAnswer(t *testing.T) {
	tests := []struct {
		name, message string
		code          fault.Code
		reason        string
	}{
		{"ThrottlingException", "Too many tokens, please wait", fault.Unavailable, "throttled"},
		{"ModelNotReadyException", "", fault.Unavailable, "model_not_ready"},
		{"ModelTimeoutException", "", fault.Unavailable, "model_timeout"},
		{"ModelErrorException", "", fault.Unavailable, "model_error"},
		{"ServiceUnavailableException", "", fault.Unavailable, "service_error"},
		{"InternalServerException", "", fault.Unavailable, "service_error"},
		{"ValidationException", "The text field is blank", fault.Invalid, ""},
		{"ValidationException", "The maximum tokens you requested exceeds the model limit of 5000.", fault.Invalid, ""},
		{"ValidationException", "Input is too long for requested model.", fault.Invalid, "context_full"},
		{"ValidationException", "prompt is too long: 208310 tokens > 200000 maximum", fault.Invalid, "context_full"},
		{"AccessDeniedException", "", fault.Denied, ""},
		{"UnrecognizedClientException", "", fault.Denied, ""},
		{"ResourceNotFoundException", "", fault.NotFound, ""},
		{"ServiceQuotaExceededException", "", fault.Limit, "quota"},
		{"SomethingNewException", "", fault.Invalid, ""}, // status 400
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.message, func(t *testing.T) {
			for _, whole := range []bool{false, true} {
				m, _ := scripted(t, wire.Reply{&wire.Error{Type: tt.name, Message: tt.message}})
				m.Whole = whole
				got, err := drain(m, hello())
				wantFault(t, err, tt.code, tt.reason)
				if len(got) > 0 {
					t.Errorf("events before the error: %v", got)
				}
				if !strings.Contains(err.Error(), tt.name) || strings.Contains(fault.Public(err), tt.name) {
					t.Errorf("error = %q, public %q: the exception belongs in the log only", err, fault.Public(err))
				}
			}
		})
	}
}

func TestExceptionInTheMiddle(t *testing.T) {
	tests := []struct {
		name   string
		code   fault.Code
		reason string
	}{
		{"ThrottlingException", fault.Unavailable, "throttled"},
		{"ModelStreamErrorException", fault.Unavailable, "model_error"},
		{"InternalServerException", fault.Unavailable, "service_error"},
		{"ServiceUnavailableException", fault.Unavailable, "service_error"},
		{"ValidationException", fault.Invalid, ""},
		{"SomethingNewException", fault.Unavailable, "service_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, script := scripted(t, wire.Reply{wire.Text("Hel"), wire.Text("lo"), &wire.Error{Type: tt.name, Message: "no more"}})
			got, err := drain(m, hello())
			wantFault(t, err, tt.code, tt.reason)
			if diff := cmp.Diff([]model.Event{model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"}}, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if n := len(script.Requests()); n != 1 {
				t.Errorf("%d requests, want 1: shown text is never asked for again here", n)
			}
		})
	}
}

// An answer without its end is never an answer.
func TestP05SilentEnd(t *testing.T) {
	tests := []struct {
		name  string
		reply wire.Reply
	}{
		{"before any content", wire.Reply{wire.Hangup{}}},
		{"after text", wire.Reply{wire.Text("x"), wire.Hangup{}}},
		{"inside a call", wire.Reply{wire.ToolCall{ID: "a", Name: "x"}, wire.ToolInput(`{}`), wire.Hangup{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := scripted(t, tt.reply)
			_, err := drain(m, hello())
			wantFault(t, err, fault.Unavailable, "stream_cut")
		})
	}
}

func TestBrokenConnection(t *testing.T) {
	for _, whole := range []bool{false, true} {
		m, _ := scripted(t, wire.Reply{wire.Text("x"), wire.Hangup{Reset: true}})
		m.Whole = whole
		_, err := drain(m, hello())
		if !fault.Retryable(err) {
			t.Errorf("whole %t: error = %v, want one worth a retry", whole, err)
		}
	}
}

// Once the end was seen, what happens to the stream does not matter: the answer is whole.
func TestFailureAfterTheEnd(t *testing.T) {
	for _, last := range []wire.Part{wire.Hangup{}, wire.Hangup{Reset: true}, &wire.Error{Type: "InternalServerException", Message: "late"}} {
		m, _ := scripted(t, wire.Reply{wire.Text("x"), wire.Stop("end_turn"), last})
		got, err := drain(m, hello())
		if want := []model.Event{model.TextDelta{Text: "x"}, model.BlockStop{}, model.Stop{Reason: model.EndTurn}}; err != nil || !cmp.Equal(want, got) {
			t.Errorf("after %T: events = %v, %v, want %v", last, got, err, want)
		}
	}
}

func TestStall(t *testing.T) {
	for want, reply := range map[int]wire.Reply{0: {wire.Wait(time.Hour)}, 1: {wire.Text("x"), wire.Wait(time.Hour)}} {
		m, _ := scripted(t, reply)
		m.Stall = 100 * time.Millisecond
		got, err := drain(m, hello())
		wantFault(t, err, fault.Unavailable, "stream_stalled")
		if len(got) != want {
			t.Errorf("events = %v, want the %d that came", got, want)
		}
	}
}

func TestEndOfContext(t *testing.T) {
	stopped := errors.New("the user pressed stop")
	for _, whole := range []bool{false, true} {
		m, _ := scripted(t, wire.Reply{wire.Text("x"), wire.Wait(time.Hour)})
		m.Whole = whole
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Millisecond, func() { cancel(stopped) })
		var last error
		for _, err := range m.Stream(ctx, hello()) {
			last = err
		}
		if !errors.Is(last, stopped) || !errors.Is(last, context.Canceled) || !fault.Is(last, fault.Unavailable) {
			t.Errorf("whole %t: error = %v, want the cause of the end", whole, last)
		}
	}
}

func TestUnreachable(t *testing.T) {
	m := bedrock.Model{Client: bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:1"), RetryMaxAttempts: 1, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	})}
	_, err := drain(m, hello())
	wantFault(t, err, fault.Unavailable, "unreachable")
}

// An answer of something that is not the service, as a proxy.
func TestForeignAnswer(t *testing.T) {
	tests := []struct {
		status int
		code   fault.Code
	}{{502, fault.Unavailable}, {429, fault.Unavailable}, {403, fault.Denied}, {404, fault.NotFound}, {413, fault.Invalid}}
	for _, tt := range tests {
		m := bedrock.Model{Client: client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte("<html>"))
		}))}
		_, err := drain(m, hello())
		if fault.CodeOf(err) != tt.code {
			t.Errorf("status %d: error = %v (%s), want %s", tt.status, err, fault.CodeOf(err), tt.code)
		}
	}
}

// The SDK's own retries, before an answer has begun, are left as they are.
func TestSDKRetries(t *testing.T) {
	tests := []struct {
		exception string
		want      int
	}{{"ThrottlingException", 2}, {"InternalServerException", 2}, {"ServiceUnavailableException", 2}, {"ModelNotReadyException", 1}, {"ModelTimeoutException", 1}, {"ModelErrorException", 1}, {"ValidationException", 1}}
	for _, tt := range tests {
		t.Run(tt.exception, func(t *testing.T) {
			script := &wire.Script{Replies: []wire.Reply{{&wire.Error{Type: tt.exception}}, wire.Say("x")}}
			c := bedrockruntime.New(client(t, &wire.Server{Model: script}).Options(), func(o *bedrockruntime.Options) {
				o.RetryMaxAttempts = 3
				o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
					o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
				})
			})
			_, err := drain(bedrock.Model{Client: c}, hello())
			if n := len(script.Requests()); n != tt.want || (err == nil) != (tt.want == 2) {
				t.Errorf("%d requests, error %v, want %d requests", n, err, tt.want)
			}
		})
	}
}
