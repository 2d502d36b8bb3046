package bedrock_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// client gives an SDK client of a server, which tries each call once.
func client(t *testing.T, handler http.Handler) *bedrockruntime.Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return bedrockruntime.New(bedrockruntime.Options{
		Region: bedrock.DefaultRegion, BaseEndpoint: &srv.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
}

// scripted gives a model that answers with replies, and the script, which keeps the requests.
func scripted(t *testing.T, replies ...wire.Reply) (bedrock.Model, *wire.Script) {
	t.Helper()
	script := &wire.Script{Replies: replies}
	return bedrock.Model{Client: client(t, &wire.Server{Model: script})}, script
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{model.Text(model.User, "hello")}}
}

// drain reads a whole stream.
func drain(m bedrock.Model, req model.Request) (events []model.Event, err error) {
	for e, err := range m.Stream(context.Background(), req) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// wantFault compares code and reason of err.
func wantFault(t *testing.T, err error, code fault.Code, reason string) {
	t.Helper()
	if fault.CodeOf(err) != code || fault.ReasonOf(err) != reason {
		t.Errorf("error = %v: %s %q, want %s %q", err, fault.CodeOf(err), fault.ReasonOf(err), code, reason)
	}
}

func TestStreamEvents(t *testing.T) {
	usage := wire.Usage{Input: 10, Output: 4, CacheRead: 100, CacheWrite: 20}
	report := model.UsageReport{Usage: model.Usage{InputTokens: 10, OutputTokens: 4, CacheReadTokens: 100, CacheWriteTokens: 20}}
	tests := []struct {
		name  string
		reply wire.Reply
		want  []model.Event
	}{
		{"text in pieces", wire.Say("Hel", "lo"), []model.Event{
			model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"}, model.BlockStop{}, model.Stop{Reason: model.EndTurn},
		}},
		{"text, then two calls, one without input", wire.Say("hm").And(wire.Calling("a", "x", `{"n":1}`), wire.Reply{wire.ToolCall{ID: "b", Name: "y"}}), []model.Event{
			model.TextDelta{Text: "hm"}, model.BlockStop{},
			model.ToolStart{Block: 1, ID: "a", Name: "x"}, model.ToolInput{Block: 1, JSON: `{"n`}, model.ToolInput{Block: 1, JSON: `":1}`}, model.BlockStop{Block: 1},
			model.ToolStart{Block: 2, ID: "b", Name: "y"}, model.BlockStop{Block: 2}, model.Stop{Reason: model.StopToolUse},
		}},
		{"reasoning", wire.Reply{wire.Reasoning{Text: "a"}, wire.Reasoning{Text: "b"}, wire.Reasoning{Signature: "s"}, wire.Text("x"), wire.Reasoning{Redacted: []byte{0, 255}}}, []model.Event{
			model.ReasoningDelta{Text: "a"}, model.ReasoningDelta{Text: "b"}, model.ReasoningDelta{Signature: "s"}, model.BlockStop{},
			model.TextDelta{Block: 1, Text: "x"}, model.BlockStop{Block: 1}, model.ReasoningDelta{Block: 2, Redacted: []byte{0, 255}}, model.BlockStop{Block: 2}, model.Stop{Reason: model.EndTurn},
		}},
		{"empty pieces", wire.Say("", "x", ""), []model.Event{model.TextDelta{Text: "x"}, model.BlockStop{}, model.Stop{Reason: model.EndTurn}}},
		{"nothing said", wire.Reply{}, []model.Event{model.Stop{Reason: model.EndTurn}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := scripted(t, tt.reply.And(wire.Reply{usage}))
			got, err := drain(m, hello())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(tt.want, report), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryGoodStopReason(t *testing.T) {
	for _, reason := range []model.StopReason{model.EndTurn, model.StopToolUse, model.StopMaxTokens, model.StopSequence, model.StopGuardrail, model.StopFiltered, model.StopContextFull} {
		for _, whole := range []bool{false, true} {
			m, _ := scripted(t, wire.Say("x").And(wire.Reply{wire.Stop(string(reason))}))
			m.Whole = whole
			reply, err := model.Collect(m.Stream(context.Background(), hello()))
			if err != nil || reply.Stop != reason {
				t.Errorf("whole %t: stop = %q, %v, want %q", whole, reply.Stop, err, reason)
			}
		}
	}
}

// A failed end is still counted and paid for.
func TestBadStopReason(t *testing.T) {
	tests := []struct {
		stop   string
		code   fault.Code
		reason string
	}{
		{"malformed_model_output", fault.Unavailable, "malformed_output"},
		{"malformed_tool_use", fault.Unavailable, "malformed_output"},
		{"tired", fault.Internal, "unknown_stop"},
	}
	for _, tt := range tests {
		t.Run(tt.stop, func(t *testing.T) {
			for _, whole := range []bool{false, true} {
				m, _ := scripted(t, wire.Reply{wire.Text("x"), wire.Stop(tt.stop), wire.Usage{Input: 3, Output: 2}})
				m.Whole = whole
				got, err := drain(m, hello())
				wantFault(t, err, tt.code, tt.reason)
				want := []model.Event{model.TextDelta{Text: "x"}, model.BlockStop{}, model.UsageReport{Usage: model.Usage{InputTokens: 3, OutputTokens: 2}}}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestUnknownEventsAreLoggedAndIgnored(t *testing.T) {
	raw := func(event, json string) wire.Reply { return wire.Reply{wire.Raw{Event: event, JSON: []byte(json)}} }
	reply := raw("weather", `{"rain":true}`).And(
		raw("contentBlockStart", `{"contentBlockIndex":0,"start":{"hologram":{}}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"part of the hologram"}}`),
		raw("contentBlockStop", `{"contentBlockIndex":0}`),
		raw("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"s","name":"search","type":"server_tool_use"}}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"never began"}}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":3,"delta":{"smell":"roses"}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":3,"delta":{"reasoningContent":{"mood":"good"}}}`),
		raw("contentBlockDelta", `{"contentBlockIndex":4,"delta":{"text":"x","p":"padding"}}`),
		raw("messageStop", `{"stopReason":"end_turn"}`),
		raw("contentBlockDelta", `{"contentBlockIndex":4,"delta":{"text":"after the end"}}`),
		raw("messageStop", `{"stopReason":"max_tokens"}`),
	)
	var log bytes.Buffer
	m, _ := scripted(t, reply)
	m.Log = slog.New(slog.NewTextHandler(&log, nil))
	got, err := drain(m, hello())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Event{model.TextDelta{Text: "x"}, model.Stop{Reason: model.EndTurn}}, got[:2]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := bytes.Count(log.Bytes(), []byte("\n")); n != 6 || !bytes.Contains(log.Bytes(), []byte("weather")) {
		t.Errorf("log has %d lines, want 6:\n%s", n, log.String())
	}
}

func TestBreakingOffEndsTheCall(t *testing.T) {
	m, _ := scripted(t, wire.Say("a", "b", "c"))
	var got []model.Event
	for e, err := range m.Stream(context.Background(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
		break
	}
	if diff := cmp.Diff([]model.Event{model.TextDelta{Text: "a"}}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestModelID(t *testing.T) {
	tests := []struct {
		name, request, own, env, want string
	}{
		{"the request's", "a", "b", "c", "a"},
		{"the model's", "", "b", "c", "b"},
		{"the environment's", "", "", "c", "c"},
		{"the default", "", "", "", bedrock.DefaultModelID},
		{"an ARN", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", "", "", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("BEDROCK_MODEL_ID", tt.env)
			m, script := scripted(t, wire.Say("x"))
			m.ID = tt.own
			req := hello()
			req.ModelID = tt.request
			if _, err := drain(m, req); err != nil {
				t.Fatal(err)
			}
			if got := script.Requests()[0].ModelID; got != tt.want {
				t.Errorf("asked %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDefaults: a run's model keeps the settings that it was made with.
func TestDefaults(t *testing.T) {
	m, script := scripted(t, wire.Say("yes"))
	m.MaxTokens, m.Temperature = 9000, aws.Float64(0.25)
	if _, err := loop.Run(context.Background(), loop.Once{Model: loop.Meter{Model: m}, Input: "well?"}); err != nil {
		t.Fatal(err)
	}
	if got := script.Requests()[0].Inference; got.MaxTokens == nil || *got.MaxTokens != 9000 || got.Temperature == nil || *got.Temperature != 0.25 {
		t.Errorf("asked with %+v", got)
	}
}

func TestNoClient(t *testing.T) {
	_, err := drain(bedrock.Model{}, hello())
	wantFault(t, err, fault.Internal, "")
}

func TestOfflineModelThroughTheSDK(t *testing.T) {
	m := bedrock.Model{Client: client(t, &wire.Server{Model: wire.Offline{}})}
	reply, err := m.Complete(context.Background(), model.Request{Messages: []model.Message{model.Text(model.User, `say "it works"`)}, Temperature: aws.Float64(0)})
	if err != nil || reply.Message.PlainText() != "it works" || reply.Usage.OutputTokens == 0 {
		t.Errorf("reply = %+v, %v", reply, err)
	}
}
