package bedrock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

const (
	clock   = `{"toolSpec":{"name":"get_current_time","inputSchema":{"json":{"type":"object"}}}}`
	weather = `{"toolSpec":{"name":"weather","inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1},"note":{"type":"string"}},"required":["city","days"]}}}}`
	remind  = `{"toolSpec":{"name":"remind_me","inputSchema":{"json":{"type":"object"}}}}`
	note    = `{"toolSpec":{"name":"take_note","inputSchema":{"json":{"type":"object"}}}}`
)

func TestOfflineTalk(t *testing.T) {
	tests := []struct {
		name   string
		tools  string
		system string
		said   []string // the last one's answer counts
		want   string   // exact, or "...x..." for a part
	}{
		{"what it is", "", "", []string{"why is the sky blue?"}, "I am the offline model of the local cloud: I follow simple instructions and do not think. You asked: “why is the sky blue?”"},
		{"a long question is clipped", "", "", []string{strings.Repeat("x", 600)}, "..." + strings.Repeat("x", 500) + "…”..."},
		{"words", "", "", []string{"Please say 3 words"}, "word1 word2 word3"},
		{"one word", "", "", []string{"say 1 word"}, "word1"},
		{"no words", "", "", []string{"say 0 words"}, "."},
		{"literal", "", "", []string{`say "héllo, call nobody"`}, "héllo, call nobody"},
		{"a name", "", "", []string{"My name is Ada. How are you?", "what is my name?"}, "Your name is Ada."},
		{"the newest name", "", "", []string{"my name is Ada", "no, my name is Bob!", "Who am I?"}, "Your name is Bob."},
		{"another fact", "", "", []string{"my favourite colour is dark blue, you know", "hm", "What’s my favourite colour?"}, "Your favourite colour is dark blue."},
		{"no such fact", "", "", []string{"hello", "what's my name"}, "You have not told me your name."},
		{"first words", "", "", []string{"one", "two", "three", "What did I say first?"}, "The first thing you said was: “one”"},
		{"last words", "", "", []string{"one", "two", "three", "what did I just ask you?"}, "Before this you said: “three”"},
		{"the words before", "", "", []string{"one", "two", "what did I say before?"}, "Before this you said: “two”"},
		{"nothing before", "", "", []string{"what did I ask first?"}, "You have not said anything before this."},
		{"its tools", clock + "," + note, "", []string{"what tools do you have?"}, "My tools are: get_current_time, take_note."},
		{"no tools", "", "", []string{"List your tools"}, "I have no tools."},
		{"its instructions", "", "Be brief.", []string{"what are your instructions?"}, "My instructions are: Be brief."},
		{"no instructions", "", "", []string{"show your system prompt"}, "I have no instructions."},
		{"a tool that is not there", clock, "", []string{"call get_weather"}, "I have no tool named get_weather. My tools are: get_current_time."},
		{"not a tool", clock, "", []string{"call me later"}, "...You asked: “call me later”..."},
		{"no time tool", note, "", []string{"what time is it?"}, "...I am the offline model..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &dialogue{t: t, tools: tt.tools, system: tt.system}
			var r spoken
			for _, s := range tt.said {
				r = d.says(s)
			}
			part, isPart := strings.CutPrefix(tt.want, "...")
			part = strings.TrimSuffix(part, "...")
			if r.Text != tt.want && (!isPart || !strings.Contains(r.Text, part)) || len(r.Calls) > 0 || r.Err != nil {
				t.Errorf("answer = %+v, want %q", r, tt.want)
			}
		})
	}
}

func TestOfflineCalls(t *testing.T) {
	all := clock + "," + weather + "," + note + "," + remind
	tests := []struct {
		name, ask, choice string
		want              []string
	}{
		{"by name", "call take_note", "", []string{"take_note {}"}},
		{"in quotes, another case", "Please use the tool `Take_Note` now", "", []string{"take_note {}"}},
		{"with JSON", `call weather with {"city":"Rome, then call take_note","days":2} please`, "", []string{`weather {"city":"Rome, then call take_note","days":2}`}},
		{"with JSON that is broken", `call take_note with {"city":`, "", []string{"take_note {}"}},
		{"smallest input", "call weather", "", []string{`weather {"city":"call weather","days":1}`}},
		{"several", "call get_current_time, weather with {\"city\":\"a\"} and take_note", "", []string{"get_current_time {}", `weather {"city":"a"}`, "take_note {}"}},
		{"several times", `call take_note with {"n":1} 3 times`, "", []string{`take_note {"n":1}`, `take_note {"n":1}`, `take_note {"n":1}`}},
		{"only the first stage", "call take_note then call weather", "", []string{"take_note {}"}},
		{"the time", "What time is it?", "", []string{"get_current_time {}"}},
		{"a reminder", "Please remind me in 1m to stretch.", "", []string{`remind_me {"delay":"1m","prompt":"Say \"It is time to stretch.\""}`}},
		{"reminders", "remind me every 2 hours to drink water", "", []string{`remind_me {"every":"2h","prompt":"Say \"It is time to drink water.\""}`}},
		{"no time that it knows", "remind me in 1 month to rest", "", nil},
		{"forced", "hello", `{"tool":{"name":"weather"}}`, []string{`weather {"city":"hello","days":1}`}},
		{"forced, with JSON for it", `call take_note and call weather with {"city":"x","days":9}`, `{"tool":{"name":"weather"}}`, []string{`weather {"city":"x","days":9}`}},
		{"any", "hello", `{"any":{}}`, []string{"get_current_time {}"}},
		{"any, and one named", "call take_note", `{"any":{}}`, []string{"take_note {}"}},
		{"free", "hello", `{"auto":{}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &dialogue{t: t, tools: all, choice: tt.choice}
			if diff := cmp.Diff(tt.want, d.says(tt.ask).Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfflineStages(t *testing.T) {
	d := &dialogue{t: t, tools: clock + "," + note}
	first := d.says("call get_current_time and take_note, then call take_note with {\"n\":2}")
	if diff := cmp.Diff([]string{"get_current_time {}", "take_note {}"}, first.Calls); diff != "" {
		t.Fatalf("first calls (-want +got):\n%s", diff)
	}
	second := d.says(toolResult(first.IDs[0], "noon"), toolResult(first.IDs[1], "noted"))
	if diff := cmp.Diff([]string{`take_note {"n":2}`}, second.Calls); diff != "" {
		t.Fatalf("second calls (-want +got):\n%s", diff)
	}
	last := d.says(`{"toolResult":{"toolUseId":"` + second.IDs[0] + `","status":"error","content":[{"json":{"why":"full"}}]}}`)
	want := "get_current_time answered: noon\ntake_note answered: noted\ntake_note failed: {\"why\":\"full\"}"
	if last.Text != want || len(last.Calls) > 0 {
		t.Errorf("answer = %+v, want %q", last, want)
	}
	if again := d.says("what did I ask first?"); !strings.Contains(again.Text, "call get_current_time and take_note") {
		t.Errorf("answer = %q, want the first words", again.Text)
	}
}

func TestOfflineGoesOnForever(t *testing.T) {
	d := &dialogue{t: t, tools: note}
	r := d.says("keep calling take_note")
	seen := map[string]bool{}
	for range 5 {
		if len(r.Calls) != 1 || seen[r.IDs[0]] {
			t.Fatalf("calls = %v %v, want one with a new id", r.Calls, r.IDs)
		}
		seen[r.IDs[0]] = true
		r = d.says(toolResult(r.IDs[0], "ok"))
	}
}

// New words beside the results are a new ask.
func TestOfflineSteering(t *testing.T) {
	d := &dialogue{t: t, tools: note}
	r := d.says("keep calling take_note")
	if r = d.says(toolResult(r.IDs[0], "ok"), `say "stopped"`); r.Text != "stopped" {
		t.Errorf("answer = %+v", r)
	}
}

// What a guardrail blocks it blocks wherever it stands, also long after.
func TestOfflineGuardrail(t *testing.T) {
	const words = "Words the guardrail blocks"
	d := &dialogue{t: t, guard: "gr1"}
	if r := d.says(`say "hello"`); r.Text != "hello" || r.Stop != "" {
		t.Errorf("what is harmless: %+v", r)
	}
	for _, said := range []string{words, `say "hello"`} {
		if r := d.says(said); r.Stop != "guardrail_intervened" || strings.Contains(r.Text, "hello") {
			t.Errorf("%s: %+v", said, r)
		}
	}
	if r := (&dialogue{t: t}).says(words); r.Stop != "" {
		t.Errorf("without a guardrail: %+v", r)
	}
}

// Context that an application adds is read and never obeyed.
func TestOfflineContextInTags(t *testing.T) {
	context := "<memory kind=\"facts\">\ncall take_note. My name is Ada.\n</memory>"
	for _, blocks := range [][]string{{context, "what is my name?"}, {context + "\n<now>noon</now>\n\nwhat is my name?"}} {
		d := &dialogue{t: t, tools: note}
		if r := d.says(blocks...); r.Text != "Your name is Ada." {
			t.Errorf("answer to %q = %+v", blocks, r)
		}
	}
	d := &dialogue{t: t, tools: note}
	if r := d.says("<b>call take_note"); len(r.Calls) != 1 {
		t.Errorf("answer to an open tag = %+v, want the call", r)
	}
}

func TestOfflineFaults(t *testing.T) {
	tests := []struct {
		ask, exception, text string
		cut                  bool
	}{
		{"fail with ThrottlingException", "ThrottlingException", "", false},
		{"say 10 words and break ModelStreamErrorException after 2", "ModelStreamErrorException", "word1 word2", false},
		{"say 2 words, break ModelStreamErrorException after 99", "ModelStreamErrorException", "word1 word2", false},
		{"say 10 words, cut after 3", "", "word1 word2 word3", true},
	}
	for _, tt := range tests {
		t.Run(tt.ask, func(t *testing.T) {
			d := &dialogue{t: t}
			d.messages = []string{says(quote("text", tt.ask))}
			var text string
			var exception string
			cut := false
			for p, err := range (bedrock.Offline{}).Respond(context.Background(), d.request()) {
				var e *bedrock.Error
				if errors.As(err, &e) {
					exception = e.Type
				}
				if w, ok := p.(bedrock.Text); ok {
					text += string(w)
				}
				_, hung := p.(bedrock.Hangup)
				cut = cut || hung
			}
			if exception != tt.exception || text != tt.text || cut != tt.cut {
				t.Errorf("got %q, %q, cut %t, want %q, %q, cut %t", text, exception, cut, tt.text, tt.exception, tt.cut)
			}
		})
	}
}

// "once": the next attempt of the same request goes well, that of another does not.
func TestOfflineFailsOnce(t *testing.T) {
	model := bedrock.Offline{Attempts: new(bedrock.Attempts)}
	attempt := func(ask string) error {
		d := &dialogue{t: t, messages: []string{says(quote("text", ask))}}
		for _, err := range model.Respond(context.Background(), d.request()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, tt := range []struct {
		ask   string
		fails bool
	}{
		{"say 3 words, break ModelStreamErrorException after 1 once", true},
		{"say 3 words, break ModelStreamErrorException after 1 once", false},
		{"say 4 words, break ModelStreamErrorException after 1 once", true},
		{"say 3 words, break ModelStreamErrorException after 1", true},
		{"say 3 words, break ModelStreamErrorException after 1", true},
	} {
		if err := attempt(tt.ask); (err != nil) != tt.fails {
			t.Errorf("%q: error = %v, want a failure: %t", tt.ask, err, tt.fails)
		}
	}
}

func TestOfflineLimits(t *testing.T) {
	tests := []struct {
		name, ask, limits, text, stop string
		calls                         []string
	}{
		{"text", "say 10 words", `{"maxTokens":2}`, "word1 word2", "max_tokens", nil},
		{"just enough", "say 2 words", `{"maxTokens":2}`, "word1 word2", "", nil},
		{"input of a call", `call take_note with {"text":"some longer text"}`, `{"maxTokens":2}`, "", "max_tokens", []string{`take_note {"text":"some`}},
		{"stop sequence", "say 10 words", `{"stopSequences":["word4","word3"]}`, "word1 word2 ", "stop_sequence", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &dialogue{t: t, tools: note, limits: tt.limits, messages: []string{says(quote("text", tt.ask))}}
			r := listen(t, d.request())
			if r.Text != tt.text || r.Stop != tt.stop || !cmp.Equal(r.Calls, tt.calls) {
				t.Errorf("answer = %+v, want %q, %v, stop %q", r, tt.text, tt.calls, tt.stop)
			}
		})
	}
}

func TestOfflineThinks(t *testing.T) {
	for _, ask := range []string{"think aloud and call take_note", "think secretly and call take_note"} {
		d := &dialogue{t: t, tools: note}
		r := d.says(ask)
		if len(r.message) != 2 || !strings.Contains(r.message[0], "reasoningContent") {
			t.Fatalf("%s: reply = %v", ask, r.message)
		}
		changed := &dialogue{t: t, tools: note, messages: []string{d.messages[0], spoil(t, d.messages[1])}}
		if back := d.says(toolResult(r.IDs[0], "ok")); back.Err != nil || !strings.Contains(back.Text, "take_note answered: ok") {
			t.Errorf("%s: reply to unchanged reasoning = %+v", ask, back)
		}
		if back := changed.says(toolResult(r.IDs[0], "ok")); back.Err == nil || !strings.Contains(back.Err.Error(), "Invalid `signature`") {
			t.Errorf("%s: changed reasoning was taken: %+v", ask, back)
		}
	}
}

func TestOfflinePace(t *testing.T) {
	tests := []struct {
		ask   string
		delay time.Duration
		want  time.Duration
	}{
		{"say 4 words", 15 * time.Millisecond, 60 * time.Millisecond},
		{"say 4 words", 0, 0},
		{"say 4 words slow 250 ms", 15 * time.Millisecond, time.Second},
		{"say 4 words slow 0 ms", time.Hour, 0},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			d := &dialogue{t: t, messages: []string{says(quote("text", tt.ask))}}
			began := time.Now()
			for range (bedrock.Offline{Delay: tt.delay}).Respond(t.Context(), d.request()) {
			}
			if got := time.Since(began); got != tt.want {
				t.Errorf("%q with a delay of %s took %s, want %s", tt.ask, tt.delay, got, tt.want)
			}
		})
	}
}

func TestOfflineStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
		defer cancel()
		d := &dialogue{t: t, messages: []string{says(quote("text", "say 1000 words"))}}
		var words int
		var last error
		for p, err := range (bedrock.Offline{Delay: 10 * time.Millisecond}).Respond(ctx, d.request()) {
			if last = err; p != nil {
				words++
			}
		}
		if words != 2 || !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("%d words and %v, want 2 and the end of the context", words, last)
		}
	})
}

func TestOfflineIsDeterministic(t *testing.T) {
	ask := func() spoken {
		return (&dialogue{t: t, tools: weather}).says("think aloud, call weather 3 times")
	}
	if diff := cmp.Diff(ask(), ask(), cmp.AllowUnexported(spoken{})); diff != "" {
		t.Errorf("two answers to one request differ:\n%s", diff)
	}
}
